import { invalid } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { artifactById } from './artifact.ts'
import { storedComment } from './comment.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import { runById } from './run.ts'
import type { Row } from './tables.ts'
import { taskById } from './task.ts'
import { trashed } from './trash.ts'

/** A text that somebody wrote, whole. */
export interface FullText {
  title?: string
  text: string
  task: number
  author: string
  origin?: string | null
  at: number
}

/** The text of a comment of a task that the caller can see. */
export async function commentText(tx: ReadTx, id: number): Promise<FullText> {
  const comment = await storedComment(tx, id)
  await taskById(tx, comment.task)
  if (comment.trash !== null) throw trashed(formatId('comment', id), comment.trash)
  return { ...comment, at: comment.created_at }
}

/** The text of an artifact: as attached, or what a text file holds. A link has none; other files are bytes. */
export async function artifactText(tx: ReadTx, id: number): Promise<FullText> {
  const artifact = await artifactById(tx, id)
  await taskById(tx, artifact.task)
  if (artifact.trash !== null) throw trashed(formatId('artifact', id), artifact.trash)
  const text = artifact.text ?? artifact.url ?? (await fileText(tx, artifact))
  const { title, task, origin, created_by, created_at } = artifact
  return { title, text, task, origin, author: created_by, at: created_at }
}

/** What a run set out to do and what its agent said at the end. */
export async function runText(tx: ReadTx, id: number): Promise<FullText> {
  const { run } = await runById(tx, id)
  const summary = await sqlOf(tx)
    .selectFrom('notes')
    .select('text')
    .where('account', '=', tx.account)
    .where('run', '=', id)
    .where('kind', '=', 'summary')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const text = [run.goal, summary?.text].filter(Boolean).join('\n\n')
  return { text, task: run.task, author: run.agent, at: run.ended_at ?? run.started_at }
}

async function fileText(tx: ReadTx, artifact: Row<'artifacts'>): Promise<string> {
  const file = await sqlOf(tx)
    .selectFrom('artifact_bytes')
    .select('bytes')
    .where('account', '=', tx.account)
    .where('artifact', '=', artifact.id)
    .executeTakeFirst()
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(file?.bytes ?? new Uint8Array())
  } catch {
    throw invalid(
      `${formatId('artifact', artifact.id)} is a file that is not text (${artifact.media_type}).`,
      {
        next: 'A person can open it on the task’s page.',
      },
    )
  }
}
