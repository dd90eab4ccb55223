import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newDevice } from '../../test/device.ts'
import { type Client, formOf, type HttpWorld, newHttpWorld } from '../../test/http.ts'
import { chance, type Owner, ownerOf } from '../../test/tampering.ts'
import { times } from '../../test/times.ts'
import { seal } from '../jobs/seal.ts'
import { peopleCall } from '../people/call.ts'
import { systemActor } from '../tools/access.ts'
import { digestOf, textOfEvent } from './log.ts'
import { alteredContents, checkClosings } from './verify.ts'
import { checkLog } from './verify-log.ts'

const SEED = Number(process.env.DONE_SEED ?? 20261201)
const TAMPERINGS = times(100, 1000)

/** What is tampered with, and the columns that nothing rests on: how a passkey is called and how often it was used. */
const COLUMNS = {
  events: ['account', 'id', 'at', 'actor', 'tool', 'kind', 'task', 'project', 'object', 'data', 'seal'],
  sign_offs: [
    ...[
      'account',
      'id',
      'task',
      'request',
      'content_version',
      'content_hash',
      'target',
      'approver',
      'session',
    ],
    ...['began', 'policy', 'assertion', 'tx', 'seal', 'at'],
  ],
  requests: [
    ...[
      'account',
      'id',
      'task',
      'target',
      'state',
      'content_version',
      'content_hash',
      'former_status',
      'asked_by',
    ],
    ...['asked_at', 'decided_by', 'decided_at', 'note'],
  ],
  seals: ['account', 'id', 'first', 'last', 'digest', 'states', 'seal', 'at'],
  amendments: ['account', 'id', 'subject', 'number', 'was', 'became', 'by', 'at', 'seal'],
  passkeys: [
    'account',
    'id',
    'person',
    'credential',
    'public_key',
    'name_of_site',
    'removed_at',
    'created_at',
  ],
} as const
type Tampered = keyof typeof COLUMNS
const TABLES = Object.keys(COLUMNS) as Tampered[]

let door: HttpWorld
let owner: Owner

/** Ana signs off by a passkey and without one, sends back, purges and redacts; the log is sealed in several parts. */
async function story(ana: Client): Promise<void> {
  const { world } = door
  const { scout, builder, done } = world
  const sealed = () => seal(done.store, done.heads)
  const people = async (name: string, input: object): Promise<any> =>
    peopleCall(done)((await world.signInAgain()).actor, name, input)
  for (const title of ['One', 'Two', 'Three', 'Four', 'Five', 'Six'])
    await scout.call('create_task', { title, description: `The password is hunter2-hunter2 in ${title}.` })
  await sealed()
  for (const id of ['T1', 'T2', 'T3', 'T4', 'T5']) await scout.call('complete_task', { id })
  await people('reject', { id: 'A2', note: 'Not yet: hunter2-hunter2 is still in it.' })
  await (await world.signInAgain()).call('complete_task', { id: 'T5' })
  await sealed()
  const origin = door.named.origin
  const key = newDevice(origin)
  const asked = (await ana.post('/account/passkeys/ask')).json
  await ana.form('/account/passkeys', { response: key.create(asked), label: 'Laptop' })
  world.pass(1000)
  for (const id of ['A1', 'A3']) {
    const form = formOf((await ana.get(`/sign-off/${id}`)).text)
    const challenge = (await ana.form(`/sign-off/${id}/ask`, form)).json
    expect(
      (await ana.form(`/sign-off/${id}/approve`, { ...form, response: key.get(challenge) })).status,
    ).toBe(303)
  }
  await sealed()
  world.pass(1000)
  await scout.call('delete_task', { id: 'T4' })
  await people('purge', { id: 'X1', title: 'Four' })
  await builder.call('comment_on_task', { task_id: 'T6', text: 'Another word.' })
  await builder.call('update_task', { id: 'T6', description: 'It was hunter2-hunter2.' })
  await people('redact', { text: 'hunter2-hunter2', note: 'Leaked.' })
  await builder.call('complete_task', { id: 'T6' })
  await sealed()
}

async function faults(): Promise<string[]> {
  const { store, heads } = door.world.done
  return store.read(systemActor(1), 'verify', async (tx) => {
    const log = await checkLog(tx, heads.known(1))
    const { unsigned } = await checkClosings(tx)
    const altered = await alteredContents(tx)
    return [
      ...log.faults,
      ...unsigned.map(({ id }) => `T${id} is closed without a sign-off`),
      ...altered.map(({ id }) => `the content of T${id} was altered`),
    ]
  })
}

beforeAll(async () => {
  door = await newHttpWorld()
  await story(door.client({ ...door.named, cookie: (await door.browser()).headers.cookie! }))
  expect(await faults()).toEqual([])
  owner = await ownerOf(door.world, [...TABLES, 'counters'])
})
afterAll(async () => {
  await owner.takeBack()
  owner.close()
  await door.close()
})

type Row = Record<string, any>
const literal = (value: unknown): string =>
  value === null
    ? 'NULL'
    : typeof value === 'number'
      ? String(value)
      : `'${String(value).replaceAll("'", "''")}'`
const rowsOf = (table: Tampered): Promise<Row[]> => owner.rows(`SELECT * FROM ${table} ORDER BY id`)
const which = ({ account, id }: Row) => `account = ${account} AND id = ${id}`

/** In which words a fault of a row names its place. */
function placeOf(table: Tampered, row: Row): RegExp {
  const { id } = row
  if (table === 'events') return new RegExp(`events? (${id}\\b|\\d+ to \\d+)`)
  if (table === 'sign_offs') return new RegExp(`sign-off ${id}\\b`)
  if (table === 'requests') return new RegExp(`request A${id}\\b`)
  if (table === 'seals') return /seal \d+|events \d+ to \d+|newest part/
  if (table === 'passkeys') return /passkeys of U\d+/
  return /taken out/
}

/** What columns may hold in which not everything is allowed. */
const ONE_OF: Record<string, readonly string[]> = {
  target: ['done', 'cancelled'],
  state: ['approved', 'rejected', 'stale', 'withdrawn'],
  subject: ['event', 'request'],
}

/** One way to falsify the data: what is done, and how the fault that tells of it must name the place. */
interface Tampering {
  says: string
  script: string
  place: RegExp
}

async function changed(
  table: Tampered,
  column: string,
  random: ReturnType<typeof chance>,
): Promise<Tampering> {
  const row = random.of(await rowsOf(table))
  const others = (await rowsOf(table)).map((each) => each[column]).filter((value) => value !== row[column])
  const value = row[column]
  const made =
    typeof value === 'number'
      ? [value + 1, value - 1, value + 1000, random.below(100_000) + 5000]
      : typeof value === 'string'
        ? [`${value}!`, value.slice(1), `${value.slice(0, -1)}${value.endsWith('A') ? 'B' : 'A'}`, null]
        : ['1', '7']
  const listed = (ONE_OF[column] ?? []).filter((each) => each !== value)
  const to = random.of([
    ...(listed.length > 0 ? listed : made),
    ...(others.length > 0 ? [random.of(others)] : []),
  ])
  return {
    says: `${table}.${column} of ${row.id}: ${String(value).slice(0, 40)} -> ${String(to).slice(0, 40)}`,
    script: `UPDATE ${table} SET ${column} = ${literal(to)} WHERE ${which(row)}`,
    place: placeOf(table, row),
  }
}

const WAYS: Record<string, (random: ReturnType<typeof chance>) => Promise<Tampering>> = {
  async change(random) {
    const table = random.of(TABLES)
    return changed(table, random.of<string>(COLUMNS[table]), random)
  },
  async remove(random) {
    const table = random.of(TABLES)
    const row = random.of(await rowsOf(table))
    return {
      says: `${table} ${row.id} removed`,
      script: `DELETE FROM ${table} WHERE ${which(row)}`,
      place: placeOf(table, row),
    }
  },
  async swap(random) {
    const table = random.of(['events', 'sign_offs', 'requests'] as const)
    const rows = await rowsOf(table)
    const [a, b] = [random.of(rows), random.of(rows)]
    const move = (from: number, to: number) =>
      `UPDATE ${table} SET id = ${to} WHERE account = 1 AND id = ${from}`
    return {
      says: `${table} ${a.id} and ${b.id} swapped`,
      script: a.id === b.id ? '' : [move(a.id, 99_999), move(b.id, a.id), move(99_999, b.id)].join('; '),
      place: placeOf(table, a),
    }
  },
  async insert(random) {
    const table = random.of(TABLES)
    const rows = await rowsOf(table)
    const row = { ...random.of(rows) }
    const was = row.id
    row.id = random.of([rows.at(-1)!.id + 1, rows.at(-1)!.id + 50, 0, -3])
    if (table === 'passkeys') row.credential = 'another'
    const names = Object.keys(row)
    const script = `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map((name) => literal(row[name])).join(', ')})`
    // Whoever adds a row may also see to the counter.
    const counter = { events: 'event', amendments: 'amendment', sign_offs: 'sign_off' }[table as 'events']
    const count =
      counter && random.below(2)
        ? `; UPDATE counters SET last = ${row.id} WHERE account = 1 AND kind = '${counter}'`
        : ''
    return {
      says: `${table} ${was} again as ${row.id}${count && ' with the counter'}`,
      script: script + count,
      place: placeOf(table, row),
    }
  },
  async renumber(random) {
    const rows = await rowsOf('events')
    const { id } = random.of(rows)
    const later = rows.filter((each) => each.id > id)
    const moves = later.map(
      (each) => `UPDATE events SET id = ${each.id - 1} WHERE account = 1 AND id = ${each.id}`,
    )
    const counter = `UPDATE counters SET last = last - 1 WHERE account = 1 AND kind = 'event'`
    return {
      says: `event ${id} removed and all behind it moved up`,
      script: [`DELETE FROM events WHERE id = ${id}`, ...moves, counter].join('; '),
      place: /events? \d+/,
    }
  },
  async cut(random) {
    const seals = await rowsOf('seals')
    const last = random.of([{ id: 0, last: 0 }, ...seals.slice(0, -1)])
    return {
      says: `everything behind seal ${last.id} cut off, with the counter`,
      script: `DELETE FROM seals WHERE id > ${last.id}; DELETE FROM events WHERE id > ${last.last};
        UPDATE counters SET last = ${last.last} WHERE account = 1 AND kind = 'event'`,
      place: /newest part of the log is missing/,
    }
  },
  async 'redact without a key'(random) {
    const event = random.of((await rowsOf('events')).filter(({ data }) => data !== null))
    const other = { ...event, data: '{"title":"Another"}' }
    const id = (await rowsOf('amendments')).at(-1)!.id + 1
    const [was, became] = [event, other].map((each) => digestOf(textOfEvent(each as never)))
    return {
      says: `event ${event.id} rewritten, with a record of it`,
      script: `UPDATE events SET data = '${other.data}' WHERE account = 1 AND id = ${event.id};
        INSERT INTO amendments VALUES (1, ${id}, 'event', ${event.id}, '${was}', '${became}', 'U1', 5, 'forged');
        UPDATE counters SET last = ${id} WHERE account = 1 AND kind = 'amendment'`,
      place: new RegExp(`event ${event.id}\\b`),
    }
  },
  async approver(random) {
    const signOff = random.of(await rowsOf('sign_offs'))
    return {
      says: `another approver of ${signOff.id}, in its request too`,
      script: `UPDATE sign_offs SET approver = 'U2' WHERE id = ${signOff.id}; UPDATE requests SET decided_by = 'U2' WHERE id = ${signOff.request ?? 0}`,
      place: placeOf('sign_offs', signOff),
    }
  },
  async 'seal without a key'(random) {
    const row = random.of(await rowsOf('seals'))
    return {
      says: `seal ${row.id} made anew without the key`,
      script: `UPDATE seals SET digest = '${digestOf(String(random.below(1e6)))}', seal = '${digestOf('x')}' WHERE ${which(row)}`,
      place: placeOf('seals', row),
    }
  },
}

/** Falsifies the data, has verify look, and puts everything back. Undefined where the database itself has refused it. */
async function tried({ script }: Tampering): Promise<string[] | undefined> {
  if (script === '') return undefined
  try {
    await owner.run(script)
  } catch {
    return undefined
  }
  try {
    return await faults()
  } finally {
    await owner.takeBack()
  }
}

describe('verify', () => {
  it(`finds ${TAMPERINGS} tamperings by chance and names their places; seed ${SEED}`, async () => {
    const random = chance(SEED)
    const missed: string[] = []
    const [counts, refused]: [Record<string, number>, Record<string, number>] = [{}, {}]
    const attempt = async (way: string, tampering: Tampering) => {
      const found = await tried(tampering)
      if (!found) {
        refused[way] = (refused[way] ?? 0) + 1
        return false
      }
      counts[way] = (counts[way] ?? 0) + 1
      if (!found.some((fault) => tampering.place.test(fault)))
        missed.push(`${tampering.says}: ${found.join('; ') || 'nothing found'}`)
      return true
    }
    let done = 0
    // Every column at least once, then by chance.
    for (const table of TABLES) {
      for (const column of COLUMNS[table]) {
        let through = false
        for (let i = 0; i < 30 && !through; i++)
          through = await attempt('change', await changed(table, column, random))
        expect(through, `${table}.${column}`).toBe(true)
        done++
      }
    }
    const ways = Object.keys(WAYS)
    for (let i = 0; done < TAMPERINGS && i < 10 * TAMPERINGS; i++) {
      const way = random.of(ways)
      if (await attempt(way, await WAYS[way]!(random))) done++
    }
    console.log(
      `${done} tamperings, ${done - missed.length} found; by way: ${JSON.stringify(counts)}; refused by the database: ${JSON.stringify(refused)}`,
    )
    expect(missed).toEqual([])
    expect(done).toBeGreaterThanOrEqual(TAMPERINGS)
    expect(await faults()).toEqual([])
  }, 600_000)
})
