import { sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { invalid, notFound } from '../model/error.ts'
import { formatId, parseId } from '../model/id.ts'
import { fold, nearest } from '../model/suggest.ts'
import { type ReadTx, readQuery } from './handle.ts'

/** Somebody who can be named: a person or an agent of the account. */
export interface Party {
  id: ActorId
  name: string
  kind: 'person' | 'agent'
}

const peopleThenAgents = readQuery((db, p: { account: number }) =>
  db
    .selectFrom('people')
    .select(['id', 'name', sql<Party['kind']>`'person'`.as('kind'), 'left_at'])
    .where('account', '=', p.account)
    .unionAll(
      db
        .selectFrom('agents')
        .select(['id', 'name', sql<Party['kind']>`'agent'`.as('kind')])
        .select(sql<number | null>`CAST(NULL AS BIGINT)`.as('left_at'))
        .where('account', '=', p.account),
    )
    .orderBy('kind', 'desc')
    .orderBy('id'),
)

/** Everybody of the account, people first. Accounts are teams, so the list is short. */
export async function parties(tx: ReadTx): Promise<Party[]> {
  return (await everybodyEver(tx)).filter(({ left }) => !left)
}

/** With those who have left: what they did still names them. */
async function everybodyEver(tx: ReadTx): Promise<(Party & { left: boolean })[]> {
  const rows = await peopleThenAgents(tx, { account: tx.account })
  return rows.map(({ id, name, kind, left_at }) => ({
    id: formatId(kind, id) as ActorId,
    name,
    kind,
    left: left_at !== null,
  }))
}

/**
 * Reads who is meant: an id, a name, `me`, `owner`, or `nobody` (null). An unknown name is `not_found` with the nearest
 * three; a name that two carry is `invalid_value` with both ids.
 */
export async function partyNamed(tx: ReadTx, text: string): Promise<ActorId | null> {
  const word = text.trim().toLowerCase()
  if (word === 'nobody' || word === 'none' || word === 'unassigned') return null
  if (word === 'me' && tx.actor.kind !== 'system') return tx.actor.id
  if (word === 'owner') return tx.actor.owner
  const everybody = await parties(tx)
  const byName = everybody.filter((party) => fold(party.name) === fold(text.trim()))
  if (byName.length === 1) return byName[0]!.id
  if (byName.length > 1) {
    throw invalid(`"${text}" is the name of ${byName.length}.`, {
      allowed: byName.map((party) => `${party.id} ${party.name}`),
      next: 'Give the id.',
    })
  }
  const id = /^\s*[UuGg]\d+/.test(text) ? idOf(text) : undefined
  if (id && everybody.some((party) => party.id === id)) return id
  throw notFound(`Nobody here is called "${text.slice(0, 80)}".`, {
    allowed: [
      ...nearest(
        text,
        everybody.map((party) => party.name),
      ).map((name) => {
        const party = everybody.find((each) => each.name === name)!
        return `${party.id} ${party.name}`
      }),
      'me',
      'owner',
      'nobody',
    ],
    next: 'list_members names everybody.',
  })
}

/**
 * Names by id, for answers. Where `ids` is given, only those will be asked for; of nobody nothing is looked up.
 */
export async function partyNames(
  tx: ReadTx,
  ids?: readonly (ActorId | string | null | undefined)[],
): Promise<(id: ActorId | string | null | undefined) => string | undefined> {
  if (ids?.every((id) => id == null)) return (id) => id ?? undefined
  const names = new Map(
    (await everybodyEver(tx)).map((party) => [party.id as string, `${party.id} ${party.name}`]),
  )
  return (id) => (id == null ? undefined : (names.get(id) ?? id))
}

const ownerOfAgent = readQuery((db, p: { account: number; agent: number }) =>
  db.selectFrom('agents').select('owner').where('account', '=', p.account).where('id', '=', p.agent),
)

/** The person behind an agent; a person is their own. */
export async function ownerOf(tx: ReadTx, id: ActorId): Promise<ActorId> {
  if (id.startsWith('U')) return id
  const [agent] = await ownerOfAgent(tx, { account: tx.account, agent: Number(id.slice(1)) })
  return formatId('person', agent!.owner) as ActorId
}

function idOf(text: string): ActorId {
  const { kind, number } = parseId(text, 'person', 'agent')
  return formatId(kind, number) as ActorId
}
