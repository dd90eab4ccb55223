import { sql } from 'kysely'
import { partsOf, wordsOf } from '../model/search.ts'
import { sqlOf, type WriteTx } from './handle.ts'

export type SearchKind = 'task' | 'step' | 'comment' | 'project' | 'run' | 'artifact'

/** Where a found text belongs, so that a search can be narrowed without opening every hit. */
export interface SearchPlace {
  task?: number | null
  project?: number | null
}

/** Puts the words of a thing into the index, in place of what stood there for it. */
export async function indexText(
  tx: WriteTx,
  kind: SearchKind,
  object: number,
  place: SearchPlace,
  texts: readonly (string | null | undefined)[],
): Promise<void> {
  const db = sqlOf(tx)
  const text = texts.filter(Boolean).join('\n')
  const found = await db
    .selectFrom('search_docs')
    .select('doc')
    .where('account', '=', tx.account)
    .where('kind', '=', kind)
    .where('object', '=', object)
    .executeTakeFirst()
  const row = { task: place.task ?? null, project: place.project ?? null, at: tx.now }
  const doc =
    found?.doc ??
    (
      await db
        .insertInto('search_docs')
        .values({ account: tx.account, kind, object, ...row })
        .returning('doc')
        .executeTakeFirstOrThrow()
    ).doc
  if (found) {
    await db.updateTable('search_docs').set(row).where('doc', '=', doc).execute()
    await sql`DELETE FROM search_words WHERE rowid = ${doc}`.execute(db)
    await sql`DELETE FROM search_parts WHERE rowid = ${doc}`.execute(db)
  }
  await sql`INSERT INTO search_words (rowid, text) VALUES (${doc}, ${wordsOf(text)})`.execute(db)
  await sql`INSERT INTO search_parts (rowid, text) VALUES (${doc}, ${partsOf(text)})`.execute(db)
}
