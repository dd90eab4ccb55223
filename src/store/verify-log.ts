import { amendmentsOf, sealOfAmendment } from './amendment.ts'
import {
  ABSENT,
  cutOff,
  digestOfPart,
  eventsFrom,
  type Head,
  passkeysByPerson,
  type State,
  sealOfPart,
  touchedBy,
} from './chain.ts'
import { type ReadTx, readQuery, sealOfEvent, sqlOf } from './handle.ts'
import { digestOf, textOfEvent, textOfRequest } from './log.ts'
import type { Row } from './tables.ts'
import { isSealed } from './verify.ts'

/** Rows that are read at once. */
const CHUNK = 500

/** Faults that are told of; where there are more, the first say where to look. */
const MOST = 50

/** What was looked at in an account's log, and what is wrong with it, each fault in words that name its place. */
export interface CheckedLog {
  events: number
  seals: number
  /** Events that no seal covers yet. */
  unsealed: number
  faults: string[]
}

/** The sealed state of things by kind and number, and what unsealed events say has changed since. */
interface Known {
  sealed: Map<string, string>
  touched: { requests: Set<number>; closed: Set<number>; people: Set<number> }
}

/**
 * Checks an account's log from its first event to its last: each event's own seal, the chain over them, what was taken out by a
 * person, and that requests, sign-offs and passkeys stand as the chain says. `head` is the newest seal that this machine knows
 * of. Reads everything once, some at a time.
 */
export async function checkLog(tx: ReadTx, head?: Head): Promise<CheckedLog> {
  const faults: string[] = []
  const known: Known = {
    sealed: new Map(),
    touched: { requests: new Set(), closed: new Set(), people: new Set() },
  }
  await checkAmendments(tx, faults)
  const { seals, last, headFound } = await checkChain(tx, head, known, faults)
  if (head && !headFound) faults.push(cutOff(head))
  const tail = await checkTail(tx, last, known, faults)
  await checkRequests(tx, known, faults)
  await checkSignOffs(tx, known, faults)
  await checkPasskeys(tx, known, faults)
  return { events: tail.last, seals, unsealed: tail.last - last, faults: faults.slice(0, MOST) }
}

/** Goes through the seals, each with its events. */
async function checkChain(tx: ReadTx, head: Head | undefined, known: Known, faults: string[]) {
  let [seals, last, before] = [0, 0, '']
  let headFound = false
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await sealsAfter(tx, { account: tx.account, after })
    for (const row of rows) {
      if (row.id !== seals + 1)
        faults.push(`seal ${row.id} follows on seal ${seals}: what was between is missing`)
      if (sealOfPart(tx, row, before) !== row.seal)
        faults.push(
          `seal ${row.id}, of events ${row.first} to ${row.last}, was altered, or the one before it`,
        )
      else if (row.first !== last + 1)
        faults.push(`seal ${row.id} does not begin where the one before it ends`)
      await checkPart(tx, row, faults)
      for (const [kind, number, digest] of statesIn(row)) known.sealed.set(`${kind} ${number}`, digest)
      if (head?.id === row.id && head.seal === row.seal) headFound = true
      seals = row.id
      last = row.last
      before = row.seal
    }
    if (rows.length < CHUNK) return { seals, last, headFound }
    after = rows.at(-1)!.id
  }
}

const sealsAfter = readQuery((db, p: { account: number; after: number }) =>
  db
    .selectFrom('seals')
    .selectAll()
    .where('account', '=', p.account)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(CHUNK),
)

/** What a seal says of other things; nothing where it was written by somebody else, which shows in the seal itself. */
function statesIn({ states }: Row<'seals'>): State[] {
  try {
    const read: unknown = JSON.parse(states)
    return Array.isArray(read) ? (read.filter(Array.isArray) as unknown as State[]) : []
  } catch {
    return []
  }
}

/** The events of one seal: all there, each as it was written, and together what was sealed. */
async function checkPart(tx: ReadTx, { first, last, digest }: Row<'seals'>, faults: string[]): Promise<void> {
  const size = last - first + 1
  if (!(size >= 1 && size <= CHUNK))
    return void faults.push(`a seal says that it covers events ${first} to ${last}`)
  const events = (await eventsFrom(tx, first, size)).filter(({ id }) => id <= last)
  const wrong = checkEvents(tx, events, first, last)
  wrong.push(...(await unrecorded(tx, events)))
  if (wrong.length === 0 && events.length > 0 && (await digestOfPart(tx, events)) !== digest)
    wrong.push(`events ${first} to ${last} are not the ones that were sealed`)
  faults.push(...wrong)
}

/** Events without a gap, each under its own seal. */
function checkEvents(tx: ReadTx, events: readonly Row<'events'>[], first: number, last: number): string[] {
  const wrong: string[] = []
  let expected = first
  for (const event of events) {
    if (event.id > expected) wrong.push(missing(expected, event.id - 1))
    if (sealOfEvent(tx, event) !== event.seal) wrong.push(`event ${event.id} was altered, or is none of ours`)
    expected = event.id + 1
  }
  if (expected <= last) wrong.push(missing(expected, last))
  return wrong
}

const missing = (first: number, last: number): string =>
  first === last ? `event ${first} is missing` : `events ${first} to ${last} are missing`

/** Events that are not as the last amendment of them says. */
async function unrecorded(tx: ReadTx, events: readonly Row<'events'>[]): Promise<string[]> {
  if (events.length === 0) return []
  const amended = await amendmentsOf(tx, 'event', events[0]!.id, events.at(-1)!.id)
  return events.flatMap((event) => {
    const own = amended.get(event.id)
    if (!own) return []
    return follow(own, own[0]!.was) === digestOf(textOfEvent(event))
      ? []
      : [`event ${event.id} is not as the record of what was taken out of it says`]
  })
}

/** What a digest has become by amendments; undefined where they don't follow on each other. */
function follow(amendments: readonly Row<'amendments'>[], was: string): string | undefined {
  let is = was
  for (const each of amendments) {
    if (each.was !== is) return undefined
    is = each.became
  }
  return is
}

/** Events behind the last seal: without a gap up to the last number that was given, each under its own seal. */
async function checkTail(
  tx: ReadTx,
  sealed: number,
  known: Known,
  faults: string[],
): Promise<{ last: number }> {
  const [stray] = await eventsBefore(tx, { account: tx.account })
  if (stray) faults.push(`event ${stray.id} has a number that is never given`)
  let last = sealed
  for (;;) {
    const events = await eventsFrom(tx, last + 1, CHUNK)
    if (events.length === 0) break
    faults.push(...checkEvents(tx, events, last + 1, events.at(-1)!.id), ...(await unrecorded(tx, events)))
    const { requests, closed, people } = touchedBy(events)
    for (const id of requests) known.touched.requests.add(id)
    for (const id of closed) known.touched.closed.add(id)
    for (const id of people) known.touched.people.add(id)
    last = events.at(-1)!.id
  }
  const given = await lastGiven(tx, 'event')
  if (given > last) faults.push(`events ${last + 1} to ${given} were given and are missing at the end`)
  if (given < last) faults.push(`events ${given + 1} to ${last} stand at the end and were never given`)
  return { last }
}

const eventsBefore = readQuery((db, p: { account: number }) =>
  db.selectFrom('events').select('id').where('account', '=', p.account).where('id', '<', 1).limit(1),
)

async function lastGiven(tx: ReadTx, kind: string): Promise<number> {
  const counter = await sqlOf(tx)
    .selectFrom('counters')
    .select('last')
    .where('account', '=', tx.account)
    .where('kind', '=', kind)
    .executeTakeFirst()
  return counter?.last ?? 0
}

/** Each record of what was taken out is ours, and none is missing. */
async function checkAmendments(tx: ReadTx, faults: string[]): Promise<void> {
  let expected = 1
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await amendmentsAfter(tx, { account: tx.account, after })
    for (const row of rows) {
      const what = `record ${row.id} of what was taken out, of ${row.subject} ${row.number},`
      if (sealOfAmendment(tx, row) !== row.seal) faults.push(`${what} was altered, or is none of ours`)
      else if (row.id !== expected) faults.push(`record ${expected} of what was taken out is missing`)
      expected = row.id + 1
    }
    if (rows.length < CHUNK) break
    after = rows.at(-1)!.id
  }
  const given = await lastGiven(tx, 'amendment')
  if (given !== expected - 1)
    faults.push(`of the records of what was taken out ${given} were given, and the last is ${expected - 1}`)
}

const amendmentsAfter = readQuery((db, p: { account: number; after: number }) =>
  db
    .selectFrom('amendments')
    .selectAll()
    .where('account', '=', p.account)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(CHUNK),
)

async function checkRequests(tx: ReadTx, { sealed, touched }: Known, faults: string[]): Promise<void> {
  const found = new Set<number>()
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await requestsAfter(tx, { account: tx.account, after })
    const amended =
      rows.length > 0 ? await amendmentsOf(tx, 'request', rows[0]!.id, rows.at(-1)!.id) : new Map()
    for (const row of rows) {
      found.add(row.id)
      if (touched.requests.has(row.id)) continue
      const was = sealed.get(`request ${row.id}`)
      if (was === undefined) faults.push(`request A${row.id} is none that the log knows of`)
      else if (follow(amended.get(row.id) ?? [], was) !== digestOf(textOfRequest(row)))
        faults.push(`request A${row.id}, of T${row.task}, was altered`)
    }
    if (rows.length < CHUNK) break
    after = rows.at(-1)!.id
  }
  for (const [key, digest] of sealed) {
    const [kind, id] = [key.split(' ')[0], Number(key.split(' ')[1])]
    if (kind !== 'request' || found.has(id) || touched.requests.has(id)) continue
    const amendments = (await amendmentsOf(tx, 'request', id, id)).get(id) ?? []
    if (digest === ABSENT || follow(amendments, digest) !== '') faults.push(`request A${id} is missing`)
  }
}

const requestsAfter = readQuery((db, p: { account: number; after: number }) =>
  db
    .selectFrom('requests')
    .selectAll()
    .where('account', '=', p.account)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(CHUNK),
)

/** A sign-off is as it was made where its own seal holds; by the chain none is missing and none came later. */
async function checkSignOffs(tx: ReadTx, { sealed, touched }: Known, faults: string[]): Promise<void> {
  const found = new Set<number>()
  for (let after = Number.MIN_SAFE_INTEGER; ; ) {
    const rows = await signOffsAfter(tx, { account: tx.account, after })
    for (const row of rows) {
      const { id, task, seal } = row
      found.add(id)
      if (!isSealed(tx, row)) {
        faults.push(`sign-off ${id}, of T${task}, was altered, or is none of ours`)
        continue
      }
      const was = sealed.get(`sign_off ${id}`)
      if (was === undefined && !touched.closed.has(task))
        faults.push(`sign-off ${id}, of T${task}, is none that the log knows of`)
      if (was !== undefined && was !== digestOf(seal)) faults.push(`sign-off ${id}, of T${task}, was altered`)
    }
    if (rows.length < CHUNK) break
    after = rows.at(-1)!.id
  }
  for (const key of sealed.keys()) {
    const [kind, id] = [key.split(' ')[0], Number(key.split(' ')[1])]
    if (kind === 'sign_off' && !found.has(id)) faults.push(`sign-off ${id} is missing`)
  }
  const given = await lastGiven(tx, 'sign_off')
  for (let id = 1; id <= given && faults.length < MOST; id++)
    if (!found.has(id) && !sealed.has(`sign_off ${id}`)) faults.push(`sign-off ${id} was made and is missing`)
}

const signOffsAfter = readQuery((db, p: { account: number; after: number }) =>
  db
    .selectFrom('sign_offs')
    .selectAll()
    .where('account', '=', p.account)
    .where('id', '>', p.after)
    .orderBy('id')
    .limit(CHUNK),
)

async function checkPasskeys(tx: ReadTx, { sealed, touched }: Known, faults: string[]): Promise<void> {
  const now = await passkeysByPerson(tx)
  const people = new Set([
    ...now.keys(),
    ...[...sealed.keys()].flatMap((key) => (key.startsWith('passkeys ') ? [Number(key.slice(9))] : [])),
  ])
  for (const person of people) {
    if (touched.people.has(person)) continue
    const was = sealed.get(`passkeys ${person}`) ?? digestOf('')
    if (was !== (now.get(person) ?? digestOf(''))) faults.push(`the passkeys of U${person} were altered`)
  }
}
