import { notFound } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { artifactById } from './artifact.ts'
import { type ReadTx, sqlOf } from './handle.ts'
import type { Row } from './tables.ts'
import { taskById } from './task.ts'
import { trashed } from './trash.ts'

/** An artifact with its bytes: those of a file, or of a text in UTF-8. A link has none of its own. */
export async function fileById(
  tx: ReadTx,
  id: number,
): Promise<{ artifact: Row<'artifacts'>; bytes: Uint8Array }> {
  const artifact = await artifactById(tx, id)
  const name = formatId('artifact', id)
  await taskById(tx, artifact.task)
  if (artifact.trash !== null) throw trashed(name, artifact.trash)
  if (artifact.text !== null) return { artifact, bytes: Buffer.from(artifact.text) }
  const stored = await sqlOf(tx)
    .selectFrom('artifact_bytes')
    .select('bytes')
    .where('account', '=', tx.account)
    .where('artifact', '=', id)
    .executeTakeFirst()
  if (!stored) throw notFound(`${name} is a link; Done keeps no bytes of it.`)
  return { artifact, bytes: stored.bytes }
}
