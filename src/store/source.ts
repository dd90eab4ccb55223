import type { ActorId } from '../model/actor.ts'
import { conflict, notFound } from '../model/error.ts'
import { fold, nearest } from '../model/suggest.ts'
import { type DestroyTx, emit, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import type { Row } from './tables.ts'

/** A source that a person connects. */
export interface NewSource {
  name: string
  kind: string
  config: Record<string, unknown>
  may_save: boolean
}

/** Connects an outside source. The same again changes nothing; the name with other details is a conflict. */
export async function addSource(tx: WriteTx, source: NewSource): Promise<{ already: boolean }> {
  const config = JSON.stringify(source.config)
  const may_save = source.may_save ? 1 : 0
  const found = await sourceNamed(tx, source.name)
  if (found) {
    if (found.kind === source.kind && found.config === config && found.may_save === may_save) {
      return { already: true }
    }
    throw conflict(`A source is already called "${found.name}".`, {
      next: 'Remove it first, or give another name.',
    })
  }
  await sqlOf(tx)
    .insertInto('connectors')
    .values({
      account: tx.account,
      name_key: fold(source.name),
      name: source.name,
      kind: source.kind,
      config,
      may_save,
      removed_at: null,
      created_at: tx.now,
      created_by: tx.actor.id as ActorId,
    })
    .execute()
  await emit(tx, {
    kind: 'source_changed',
    object: source.name,
    data: { change: 'added', kind: source.kind },
  })
  return { already: false }
}

/**
 * Disconnects a source. Its row goes at once and for good, since it may hold what opens the source; what was read from it
 * into tasks stays. One that was removed before changes nothing.
 */
export async function removeSource(tx: DestroyTx, name: string): Promise<{ name: string; already: boolean }> {
  const found = await sourceNamed(tx, name)
  if (!found) {
    const gone = (await removedSources(tx)).find((each) => fold(each) === fold(name))
    if (gone) return { name: gone, already: true }
    const all = await sqlOf(tx)
      .selectFrom('connectors')
      .select('name')
      .where('account', '=', tx.account)
      .execute()
    throw notFound(`No source is called "${name.slice(0, 80)}".`, {
      allowed: nearest(
        name,
        all.map((each) => each.name),
      ),
      next: 'list_connectors shows them all.',
    })
  }
  await sqlOf(tx)
    .deleteFrom('connectors')
    .where('account', '=', tx.account)
    .where('name_key', '=', found.name_key)
    .execute()
  await emit(tx, {
    kind: 'source_changed',
    object: found.name,
    data: { change: 'removed', kind: found.kind },
  })
  return { name: found.name, already: false }
}

/** Every connected source, by name. They belong to no project, so a credential that is narrowed to projects sees none. */
export async function sourcesOf(tx: ReadTx): Promise<Row<'connectors'>[]> {
  if (tx.actor.projects !== undefined) return []
  return sqlOf(tx)
    .selectFrom('connectors')
    .selectAll()
    .where('account', '=', tx.account)
    .where('removed_at', 'is', null)
    .orderBy('name_key')
    .execute()
}

function sourceNamed(tx: ReadTx, name: string): Promise<Row<'connectors'> | undefined> {
  return sqlOf(tx)
    .selectFrom('connectors')
    .selectAll()
    .where('account', '=', tx.account)
    .where('name_key', '=', fold(name))
    .executeTakeFirst()
}

async function removedSources(tx: ReadTx): Promise<string[]> {
  const events = await sqlOf(tx)
    .selectFrom('events')
    .select('object')
    .where('account', '=', tx.account)
    .where('kind', '=', 'source_changed')
    .orderBy('id', 'desc')
    .limit(200)
    .execute()
  return events.flatMap((each) => each.object ?? [])
}
