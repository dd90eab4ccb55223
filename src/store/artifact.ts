import { createHash } from 'node:crypto'
import type { ActorId } from '../model/actor.ts'
import type { File } from '../model/artifact.ts'
import { invalid, notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { LIMITS } from '../model/task.ts'
import { guardMeaning, meaningChanged, type Stale } from './content.ts'
import { type DestroyTx, emit, nextNumber, type ReadTx, readQuery, sqlOf, type WriteTx } from './handle.ts'
import { insertRow, updateById } from './row.ts'
import { indexText } from './search-index.ts'
import type { Row } from './tables.ts'
import { checkLength } from './task.ts'
import { newTrashEntry, seesTask } from './trash.ts'

const onTask = readQuery((db, p: { account: number; task: number }) =>
  db
    .selectFrom('artifacts')
    .selectAll()
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('trash', 'is', null)
    .orderBy('id'),
)

/** A task's evidence, oldest first; without the bytes of files. */
export function artifactsOf(tx: ReadTx, task: number): Promise<Row<'artifacts'>[]> {
  return onTask(tx, { account: tx.account, task })
}

/** One artifact, by number, also where it lies in the Trash; `not_found` where the caller can't see its task. */
export async function artifactById(tx: ReadTx, id: number): Promise<Row<'artifacts'>> {
  const artifact = await sqlOf(tx)
    .selectFrom('artifacts')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
  if (artifact && (await seesTask(tx, artifact.task))) return artifact
  throw notFound(`There is no artifact ${formatId('artifact', id)}.`, {
    next: 'get_task shows a task’s artifacts.',
  })
}

/** The artifacts of one run, oldest first. */
export function artifactsOfRun(tx: ReadTx, run: Row<'runs'>): Promise<Row<'artifacts'>[]> {
  return sqlOf(tx)
    .selectFrom('artifacts')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', run.task)
    .where('run', '=', run.id)
    .where('trash', 'is', null)
    .orderBy('id')
    .limit(50)
    .execute()
}

/** What is attached: exactly one of a link, a text and a file. */
export type Content = { url: string } | { text: string } | { file: File }

const sameEvidence = readQuery((db, p: { account: number; task: number; sha256: string; title: string }) =>
  db
    .selectFrom('artifacts')
    .select('id')
    .where('account', '=', p.account)
    .where('task', '=', p.task)
    .where('sha256', '=', p.sha256)
    .where('title', '=', p.title)
    .where('trash', 'is', null)
    .orderBy('id')
    .limit(1),
)

/** Adds evidence to a task, which is part of its meaning: a sign-off is bound to the bytes, or to the address of a link. */
export async function attachArtifact(
  tx: WriteTx,
  task: Row<'tasks'>,
  fields: { title: string; run: number | null; content: Content },
): Promise<{ artifact: Row<'artifacts'>; twin: number | undefined; stale: Stale[] }> {
  const { title, content } = fields
  if (title.trim() === '') throw invalid('The title is empty.', { next: 'Say in a few words what it shows.' })
  checkLength('title', title, LIMITS.title)
  await guardMeaning(tx, task)
  const file = 'file' in content ? content.file : undefined
  const text = 'text' in content ? content.text : null
  const url = 'url' in content ? content.url : null
  const bytes = file?.bytes ?? Buffer.from(text ?? url ?? '')
  const artifact: Row<'artifacts'> = {
    account: tx.account,
    id: await nextNumber(tx, 'artifact'),
    task: task.id,
    run: fields.run,
    title,
    kind: file ? 'file' : url === null ? 'text' : 'link',
    url,
    text,
    file_name: file?.name ?? null,
    media_type: file?.media_type ?? null,
    size: url === null ? bytes.length : 0,
    sha256: createHash('sha256').update(bytes).digest('hex'),
    origin: null,
    trash: null,
    created_at: tx.now,
    created_by: tx.actor.id as ActorId,
  }
  const [twin] = await sameEvidence(tx, {
    account: tx.account,
    task: task.id,
    sha256: artifact.sha256,
    title,
  })
  await insertRow(tx, 'artifacts', artifact)
  if (file)
    await insertRow(tx, 'artifact_bytes', { account: tx.account, artifact: artifact.id, bytes: file.bytes })
  await indexText(tx, 'artifact', artifact.id, { task: task.id, project: task.project }, [
    title,
    url,
    artifact.file_name,
    text,
  ])
  await emit(tx, {
    kind: 'artifact_attached',
    task: task.id,
    project: task.project,
    object: formatId('artifact', artifact.id),
    data: { title, kind: artifact.kind },
  })
  const { stale } = await meaningChanged(tx, task)
  return { artifact, twin: twin?.id, stale }
}

/** Moves wrong evidence to the Trash; its bytes stay there with it. */
export async function trashArtifact(
  tx: DestroyTx,
  artifact: Row<'artifacts'>,
  task: Row<'tasks'>,
): Promise<{ entry: number; stale: Stale[] }> {
  await guardMeaning(tx, task)
  const entry = await newTrashEntry(tx, {
    kind: 'artifact',
    object: formatId('artifact', artifact.id),
    title: artifact.title,
    task: task.id,
    project: task.project,
    concerns: [artifact.created_by],
  })
  await updateById(tx, 'artifacts', artifact.id, { trash: entry })
  const { stale } = await meaningChanged(tx, task)
  return { entry, stale }
}
