import { sql } from 'kysely'
import { amendmentsOf } from './amendment.ts'
import { dialectOf, inNumbers, logSealOf, type ReadTx, sqlOf, type WriteTx } from './handle.ts'
import { digestOf, textOfEvent, textOfRequest, textOfSeal } from './log.ts'
import type { Row } from './tables.ts'

type Event = Row<'events'>
type Seal = Row<'seals'>

/** Events that one seal covers at most. */
const PART = 500

/** What seals cover beside the events: the newest seal that speaks of a thing says how it must look. */
type StateKind = 'request' | 'sign_off' | 'passkeys'
export type State = readonly [kind: StateKind, number: number, digest: string]

/** The digest of what was not there when the seal that speaks of it was made. */
export const ABSENT = 'absent'

/** Accounts with events that no seal covers yet. Returns numbers of accounts and nothing of theirs. */
export async function accountsToSeal(tx: ReadTx, limit: number): Promise<number[]> {
  if (dialectOf(tx).engine === 'postgres') {
    // Row-level security hides other accounts, so a function of the schema's looks for us.
    const { rows } = await sql<{
      account: number
    }>`SELECT account FROM done_unsealed(${limit}) AS account`.execute(sqlOf(tx))
    return rows.map((row) => row.account)
  }
  const { rows } = await sql<{ account: number }>`SELECT c.account FROM counters AS c WHERE c.kind = 'event'
    AND c.last > COALESCE((SELECT last FROM seals AS s WHERE s.account = c.account ORDER BY s.id DESC LIMIT 1), 0)
    LIMIT ${limit}`.execute(sqlOf(tx))
  return rows.map((row) => row.account)
}

/** The newest seal of the account; undefined where there is none yet. */
export function newestSeal(tx: ReadTx): Promise<Seal | undefined> {
  return sqlOf(tx)
    .selectFrom('seals')
    .selectAll()
    .where('account', '=', tx.account)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
}

/** The newest seal that is known from elsewhere: what lies beside the database can't be wound back with it. */
export interface Head {
  id: number
  /** The last event that it covers. */
  last: number
  seal: string
}

/** That a part of the log which was seen before is gone. */
export const cutOff = ({ id, last }: Head): string =>
  `the newest part of the log is missing: seal ${id}, up to event ${last}, was seen on this machine. Somebody cut it off, or an older backup was put back`

/**
 * Whether the log still holds what was seen of it, and the newest seal is one of ours. Quick, for every start; the rest is for
 * `donectl verify`. Gives what is wrong in words.
 */
export async function checkHead(tx: ReadTx, head: Head | undefined): Promise<string | undefined> {
  if (head && (await sealNumbered(tx, head.id))?.seal !== head.seal) return cutOff(head)
  const newest = await newestSeal(tx)
  if (!newest) return undefined
  const before = newest.id === 1 ? '' : (await sealNumbered(tx, newest.id - 1))?.seal
  if (before !== undefined && sealOfPart(tx, newest, before) === newest.seal) return undefined
  return `seal ${newest.id} of the log was altered, or the one before it`
}

function sealNumbered(tx: ReadTx, id: number): Promise<Seal | undefined> {
  return sqlOf(tx)
    .selectFrom('seals')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '=', id)
    .executeTakeFirst()
}

/** The seal over the next events that have none, for {@link putSeal}; undefined where every event has one. */
export async function nextSeal(tx: ReadTx): Promise<Seal | undefined> {
  const before = await newestSeal(tx)
  const events = await eventsFrom(tx, (before?.last ?? 0) + 1, PART)
  if (events.length === 0) return undefined
  const part = {
    account: tx.account,
    id: (before?.id ?? 0) + 1,
    first: events[0]!.id,
    last: events.at(-1)!.id,
    digest: await digestOfPart(tx, events),
    states: JSON.stringify(await statesOf(tx, events)),
    at: tx.now,
  }
  return { ...part, seal: sealOfPart(tx, part, before?.seal ?? '') }
}

/**
 * Adds a seal to the chain. False where another process has sealed these events meanwhile; then what it wrote stands and this
 * is forgotten.
 */
export async function putSeal(tx: WriteTx, seal: Seal): Promise<boolean> {
  const { numInsertedOrUpdatedRows } = await sqlOf(tx)
    .insertInto('seals')
    .values(seal)
    .onConflict((oc) => oc.doNothing())
    .executeTakeFirstOrThrow()
  return Number(numInsertedOrUpdatedRows) > 0
}

/** Events in the order of their numbers. */
export function eventsFrom(tx: ReadTx, first: number, limit: number): Promise<Event[]> {
  return sqlOf(tx)
    .selectFrom('events')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', '>=', first)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** Over the digests of events as they were written, whatever was taken out of them since. */
export async function digestOfPart(tx: ReadTx, events: readonly Event[]): Promise<string> {
  const amended = await amendmentsOf(tx, 'event', events[0]!.id, events.at(-1)!.id)
  return digestOf(
    events.map((event) => amended.get(event.id)?.[0]?.was ?? digestOf(textOfEvent(event))).join(),
  )
}

export function sealOfPart(tx: ReadTx, part: Omit<Seal, 'seal'>, before: string): string {
  return logSealOf(tx, 'seal', textOfSeal(part, before))
}

/** What tells of a request. Other events may name things by words of people's, which can look like a number. */
const OF_REQUESTS = new Set([
  'approval_requested',
  'approved',
  'rejected',
  'closed',
  'request_stale',
  'request_withdrawn',
])
const OF_CLOSINGS = new Set(['approved', 'closed'])
const OF_PEOPLE = new Set(['member_changed'])

/** The requests, sign-offs and people of which these events tell that something of theirs has changed. */
export function touchedBy(events: readonly Event[]): {
  requests: number[]
  closed: number[]
  since: number
  people: number[]
} {
  const numbers = (kinds: ReadonlySet<string>, id: RegExp) =>
    events.flatMap(({ kind, object }) => {
      const match = kinds.has(kind) ? id.exec(object ?? '') : null
      return match ? [Number(match[1])] : []
    })
  const closings = events.filter(({ kind }) => OF_CLOSINGS.has(kind))
  return {
    requests: [...new Set(numbers(OF_REQUESTS, /^A(\d+)$/))],
    closed: [...new Set(closings.flatMap(({ task }) => task ?? []))],
    since: Math.min(...closings.map(({ at }) => at)),
    people: [...new Set(numbers(OF_PEOPLE, /^U(\d+)$/))],
  }
}

/** How what these events tell of stands in this snapshot. Later events may have changed it again; a later seal says so. */
async function statesOf(tx: ReadTx, events: readonly Event[]): Promise<State[]> {
  const touched = touchedBy(events)
  const requests = new Map((await requestsNumbered(tx, touched.requests)).map((each) => [each.id, each]))
  const states: State[] = []
  for (const id of touched.requests) {
    const [first] = (await amendmentsOf(tx, 'request', id, id)).get(id) ?? []
    const request = requests.get(id)
    states.push(['request', id, first?.was ?? (request ? digestOf(textOfRequest(request)) : ABSENT)])
  }
  for (const signOff of await signOffsOf(tx, touched.closed, touched.since))
    states.push(['sign_off', signOff.id, digestOf(signOff.seal)])
  const passkeys = await passkeysByPerson(tx, touched.people)
  for (const person of touched.people) states.push(['passkeys', person, passkeys.get(person) ?? digestOf('')])
  return states
}

async function requestsNumbered(tx: ReadTx, numbers: readonly number[]): Promise<Row<'requests'>[]> {
  if (numbers.length === 0) return []
  return sqlOf(tx)
    .selectFrom('requests')
    .selectAll()
    .where('account', '=', tx.account)
    .where('id', 'in', inNumbers(tx, numbers))
    .execute()
}

/** The sign-offs of these tasks since a moment. */
async function signOffsOf(
  tx: ReadTx,
  tasks: readonly number[],
  since: number,
): Promise<Pick<Row<'sign_offs'>, 'id' | 'seal'>[]> {
  if (tasks.length === 0) return []
  return sqlOf(tx)
    .selectFrom('sign_offs')
    .select(['id', 'seal'])
    .where('account', '=', tx.account)
    .where('task', 'in', inNumbers(tx, tasks))
    .where('at', '>=', since)
    .orderBy('id')
    .execute()
}

/**
 * A digest over each person's passkeys, of all people where none are named. Sign-offs are checked by them, so everything counts
 * but what they are called and how often they were used.
 */
export async function passkeysByPerson(tx: ReadTx, people?: readonly number[]): Promise<Map<number, string>> {
  if (people?.length === 0) return new Map()
  const rows = await sqlOf(tx)
    .selectFrom('passkeys')
    .selectAll()
    .where('account', '=', tx.account)
    .$if(people !== undefined, (query) => query.where('person', 'in', inNumbers(tx, people!)))
    .orderBy('id')
    .execute()
  const texts = new Map<number, string>()
  for (const { id, person, credential, public_key, name_of_site, removed_at, created_at } of rows) {
    const text = JSON.stringify([id, credential, public_key, name_of_site, removed_at, created_at])
    texts.set(person, `${texts.get(person) ?? ''}${text}`)
  }
  return new Map([...texts].map(([person, text]) => [person, digestOf(text)]))
}
