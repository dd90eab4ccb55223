import { z } from 'zod'
import type { ActorId } from '../model/actor.ts'
import { readFile, readLink } from '../model/artifact.ts'
import { invalid } from '../model/error.ts'
import { formatId, formatIdOr } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { artifactById, attachArtifact, type Content, trashArtifact } from '../store/artifact.ts'
import type { ReadTx } from '../store/handle.ts'
import { openRunOf, runById } from '../store/run.ts'
import type { Row } from '../store/tables.ts'
import { taskById } from '../store/task.ts'
import { idempotencyKey, idOf, line, taskId, text } from './fields.ts'
import { staleNotes } from './task-answer.ts'
import { destroy, write } from './tool.ts'
import { sparse, start } from './view.ts'

const file = z.strictObject({ name: z.string(), media_type: z.string(), base64: z.string() })

export const artifactTools = {
  attach_artifact: write({
    title: 'Attach evidence',
    does: 'Evidence on a task: one of url, text or file (10 MiB). Before complete_task: later it voids the request.',
    toolset: 'runs',
    noun: 'task',
    input: z.strictObject({
      task_id: taskId,
      run_id: idOf('run').optional(),
      title: line(LIMITS.title),
      url: text(2000).optional(),
      text: text(LIMITS.artifactText).optional(),
      file: file.optional(),
      idempotency_key: idempotencyKey,
    }),
    output: z.looseObject({ id: z.string(), task: z.string(), kind: z.string() }),
    http: 'POST /tasks/:task_id/artifacts',
    example: { task_id: 'T1', title: 'Test report', url: 'https://ci.example.org/runs/512' },
    run: async (tx, { task_id, run_id, title, idempotency_key, ...content }) => {
      const task = await taskById(tx, task_id)
      const run = await runOf(tx, task, run_id)
      const fields = { title, run, content: readContent(content) }
      const { artifact, twin, stale } = await attachArtifact(tx, task, fields)
      return {
        ...artifactEcho(artifact),
        ...(twin === undefined ? {} : { likely_duplicate_of: formatId('artifact', twin) }),
        ...staleNotes(stale),
      }
    },
  }),

  delete_artifact: destroy({
    title: 'Delete evidence',
    does: 'Move wrong evidence to the Trash, restorable. Voids a pending request.',
    toolset: 'runs',
    noun: 'artifact',
    convergent: true,
    input: z.strictObject({ id: idOf('artifact') }),
    output: z.looseObject({ id: z.string(), trash: z.string() }),
    http: 'DELETE /artifacts/:id',
    example: { id: 'F1' },
    run: async (tx, { id }) => {
      const artifact = await artifactById(tx, id)
      const answer = {
        id: formatId('artifact', id),
        task: formatId('task', artifact.task),
        title: artifact.title,
      }
      if (artifact.trash !== null)
        return { ...answer, trash: formatId('trash', artifact.trash), already: true }
      const { entry, stale } = await trashArtifact(tx, artifact, await taskById(tx, artifact.task))
      const trash = formatId('trash', entry)
      return {
        ...answer,
        trash,
        next: `restore_from_trash {"ids":["${trash}"]} brings it back.`,
        ...staleNotes(stale),
      }
    },
  }),
}

/** The run that the evidence comes from: the one named, or the caller's own open one on the task. */
async function runOf(tx: ReadTx, task: Row<'tasks'>, named: number | undefined): Promise<number | null> {
  if (named === undefined) return (await openRunOf(tx, task.id, tx.actor.id as ActorId))?.id ?? null
  const { run } = await runById(tx, named)
  if (run.task === task.id) return run.id
  throw invalid(`${formatId('run', named)} is a run on ${formatId('task', run.task)}.`, {
    next: 'Give a run of the same task, or leave run_id out.',
  })
}

/** Exactly one of the three, checked and decoded. */
function readContent(given: {
  url?: string | undefined
  text?: string | undefined
  file?: z.output<typeof file> | undefined
}): Content {
  const names = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  if (names.length !== 1) {
    throw invalid(
      `attach_artifact takes one of url, text and file; ${names.length === 0 ? 'none' : names.join(' and ')} was given.`,
      { next: names.length === 0 ? 'Give one of them.' : 'Attach them one by one.' },
    )
  }
  if (given.url !== undefined) return { url: readLink(given.url) }
  if (given.file !== undefined) return { file: readFile(given.file) }
  if (given.text!.trim() === '') throw invalid('The text is empty.')
  return { text: given.text! }
}

function artifactEcho(artifact: Row<'artifacts'>): Record<string, unknown> {
  const shown = artifact.text === null ? undefined : start(artifact.text, 300)
  return sparse({
    id: formatId('artifact', artifact.id),
    task: formatId('task', artifact.task),
    run: formatIdOr('run', artifact.run),
    title: artifact.title,
    kind: artifact.kind,
    url: artifact.url,
    text: shown?.text,
    text_length: shown?.total,
    file: artifact.file_name,
    media_type: artifact.media_type,
    size: artifact.size,
    sha256: artifact.kind === 'link' ? undefined : artifact.sha256,
  })
}
