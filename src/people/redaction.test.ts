import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { onPostgres } from '../../test/database.ts'
import { forge } from '../../test/past.ts'
import { sampleWorld } from '../../test/sample.ts'
import type { Worker, World } from '../../test/world.ts'
import { seal } from '../jobs/seal.ts'
import { AppError } from '../model/error.ts'
import { refusalsSince } from '../store/access.ts'
import type { Column } from '../store/column.ts'
import { TABLES } from '../store/tables.ts'
import { checkClosings } from '../store/verify.ts'
import { checkLog } from '../store/verify-log.ts'
import { systemActor } from '../tools/access.ts'
import { peopleCall } from './call.ts'

/** With what is written in another way in JSON, with capitals and an accent. */
const SECRET = 'Tök"en\\Qzxwvk9137'
/** The same word where a form allows no such characters. */
const PLAIN = 'Qzxwvk9137-plain'
/** A word of both that stands nowhere else, without its first letter, which an index may keep apart. */
const WORD = 'zxwvk9137'

let world: World
let ana: Worker
beforeEach(async () => {
  world = await sampleWorld()
  ana = await world.signInAgain()
})
afterEach(() => world.close())

const people = (name: string, input: object): Promise<any> => peopleCall(world.done)(ana.actor, name, input)

async function refused(input: object): Promise<AppError> {
  const error = await people('redact', input).catch((thrown: unknown) => thrown)
  if (error instanceof AppError) return error
  throw new Error('It was not refused.')
}

async function faults(): Promise<unknown[]> {
  const looked = await world.done.store.read(systemActor(1), 'verify', async (tx) => ({
    ...(await checkLog(tx, world.done.heads.known(1))),
    ...(await checkClosings(tx)),
  }))
  return [...looked.faults, ...looked.unsigned]
}

/** Writes the secret wherever somebody can write, by the doors; where a form forbids such a text nothing is written. */
async function leak(secret: string): Promise<void> {
  const s = (text: string) => `${text} ${secret}.`
  const as = (by: Worker) => (name: string, input: object) =>
    by.call(name, input as Record<string, unknown>).catch(unlessRefused)
  const [agent, other, person] = [as(world.scout), as(world.builder), as(ana)]
  const own = (name: string, input: object) => people(name, input).catch(unlessRefused)
  const steps = [{ title: s('Step'), description: s('How') }]
  const task = (await agent('create_task', { title: s('Task'), description: s('Why'), steps })).id

  await agent('create_label', { name: 'before' })
  await agent('update_label', { name: 'before', new_name: secret })
  await agent('label_task', { ids: [task], labels: [secret] })
  await agent('create_project', { name: s('Project'), description: s('What') })
  await agent('create_project', { name: s('Other project') })
  await agent('save_view', { name: s('View'), filter: { labels: [secret] } })

  await agent('comment_on_task', { task_id: task, text: s('Comment') })
  const run = (await agent('start_run', { task_id: task, goal: s('Goal') })).run?.id
  await agent('log_run_event', { run_id: run, kind: 'result', text: s('Log') })
  await agent('attach_artifact', { task_id: task, title: s('Text'), text: s('Content') })
  await agent('attach_artifact', { task_id: task, title: 'Link', url: `https://example.org/${secret}` })
  const file = (name: string, media_type: string, bytes: Buffer) =>
    agent('attach_artifact', {
      task_id: task,
      title: media_type,
      file: { name, media_type, base64: bytes.toString('base64') },
    })
  await file(`${secret}.txt`, 'text/plain', Buffer.from(s('File')))
  await file('a.png', 'image/png', Buffer.from([0, 255, ...Buffer.from(secret)]))

  const question = await agent('ask_question', { text: s('Question'), choices: [s('Yes'), 'No'] })
  await own('answer_question', { id: question.id, answer: s('Yes') })
  const meeting = { title: s('Meeting'), calendar: s('Mine'), url: `https://example.org/${secret}` }
  for (const uid of [secret, `${secret} `.repeat(2).trim()])
    await agent('link_calendar_event', { task_id: task, uid, ...meeting })

  await agent('create_task', { title: s('Once'), idempotency_key: secret })
  const gone = await agent('create_task', { title: s('Twice'), idempotency_key: `twice ${secret.length}` })
  await agent('delete_task', { id: gone.id })
  await agent('create_label', { name: `${secret} gone` })
  await agent('delete_label', { name: `${secret} gone` })
  if (secret === PLAIN) await connectFolder(secret)
  for (const place of [undefined, secret]) {
    const save = {
      connector: secret,
      title: s('Save'),
      text: s('Saved'),
      idempotency_key: `${place} ${secret}`,
    }
    await agent('save_context', { ...save, ...(place ? { place } : {}) })
  }

  const asked = await agent('complete_task', { id: task, summary: s('Done') })
  await own('reject', { id: asked.request, note: s('No') })
  await own('create_agent', { name: secret })
  await own('invite_member', { name: secret, role: 'member' })
  await agent('get_task', { id: s('x') })
  await agent(secret, {})
  await world.done.access.flush()

  const waits = await other('create_task', { title: s('Waits') })
  await other('complete_task', { id: waits.id })
  const signed = await other('create_task', { title: s('Signed'), steps })
  await person('complete_task', { id: signed.id })
}

/** A source whose name and folder hold the secret. */
async function connectFolder(secret: string): Promise<void> {
  const above = mkdtempSync(join(tmpdir(), 'done-source-'))
  world.atEnd(() => rmSync(above, { recursive: true, force: true }))
  const path = join(above, secret)
  mkdirSync(path)
  await people('add_folder', { name: secret, path, may_save: true })
}

function unlessRefused(error: unknown): Record<string, any> {
  if (error instanceof AppError) return {}
  throw error
}

/** What no door of this test writes to. */
async function leakPastTheDoors(): Promise<void> {
  await forge(
    world,
    `UPDATE accounts SET name = 'A ${PLAIN}'; UPDATE people SET name = 'B ${PLAIN}';
     INSERT INTO passkeys VALUES (1, 9, 1, 'c', 'k', 0, 'localhost', '${PLAIN}', 5, 4)`,
  )
}

/** Which columns of the database hold the word, whatever its case. */
async function columnsWith(word: string): Promise<string[]> {
  const columns = Object.entries(TABLES).flatMap(([table, names]) =>
    Object.keys(names).map((name) => ({ table, name })),
  )
  const text = ({ table, name }: { table: string; name: string }) =>
    onPostgres() && table === 'artifact_bytes' && name === 'bytes'
      ? `encode(bytes, 'escape')`
      : `CAST(${name} AS TEXT)`
  const found = await world.looked(
    columns.map(
      (each) => `SELECT 1 AS found FROM ${each.table} WHERE lower(${text(each)}) LIKE '%${word}%' LIMIT 1`,
    ),
  )
  return columns.filter((_, i) => found[i]!.length > 0).map(({ table, name }) => `${table}.${name}`)
}

/** Columns that may repeat somebody's words, though nothing writes any there today. */
const EMPTY_TODAY = ['artifacts.media_type', 'artifacts.origin', 'comments.origin', 'notifications.object']

describe('a redaction', () => {
  it('leaves the text in no column and no file, whoever wrote it there and however it was written', async () => {
    await leakPastTheDoors()
    await leak(PLAIN)
    await leak(SECRET)
    const declared = Object.entries(TABLES).flatMap(([table, columns]) =>
      Object.entries(columns as Record<string, Column<unknown>>).flatMap(([name, { words }]) =>
        words ? [`${table}.${name}`] : [],
      ),
    )
    const said = await columnsWith(WORD)
    const ofTheSearch = ['search_docs.folded', 'search_docs.pieces']
    // Bytes may be words as well, of which the declaration of columns does not speak.
    const undeclared = said.filter((column) => !declared.includes(column) && !ofTheSearch.includes(column))
    expect(undeclared).toEqual(['artifact_bytes.bytes'])
    expect(declared.filter((column) => !said.includes(column)).sort()).toEqual(EMPTY_TODAY)

    const first = await people('redact', { text: PLAIN, note: 'Pasted by mistake.' })
    expect(first.places).toMatchObject({ projects: 2, files: 1, requests: 1, accounts: 1, agents: 1 })
    const images = await world.look<{ id: number }>(`SELECT id FROM artifacts WHERE media_type = 'image/png'`)
    expect(first.left).toEqual([`F${images[0]!.id}`])
    for (const { id } of images) {
      const { trash } = await world.scout.call('delete_artifact', { id: `F${id}` })
      await people('purge', { id: trash, title: 'image/png' })
    }
    const last = await people('redact', { text: SECRET })
    expect(await columnsWith(WORD)).toEqual([])
    expect(filesWith(WORD)).toEqual([])
    expect(JSON.stringify([first, last]).toLowerCase()).not.toContain(WORD)
    expect(await world.scout.call('search', { query: WORD })).toMatchObject({ showing: 0 })
    expect((await world.scout.call('search', { query: 'redacted comment' })).showing).toBeGreaterThan(0)
    // Which this test has put there past the doors.
    expect(await faults()).toEqual(['the passkeys of U1 were altered'])
  })

  it('means what a person’s edit means: what waits is void, and what was signed off says that it was changed', async () => {
    const { scout, done } = world
    for (const title of ['Waits', 'Signed'])
      await scout.call('create_task', { title, description: `It says ${PLAIN}.` })
    await scout.call('complete_task', { id: 'T11' })
    await ana.call('complete_task', { id: 'T12' })
    await seal(done.store, done.heads)
    await people('redact', { text: PLAIN, note: 'Leaked.' })
    expect(await scout.call('get_task', { id: 'T11' })).toMatchObject({
      status: 'open',
      description: 'It says [redacted].',
    })
    const [signed] = await world.look(`SELECT status, changed_since_sign_off FROM tasks WHERE id = 12`)
    expect(signed).toEqual({ status: 'done', changed_since_sign_off: 1 })
    const { events } = await ana.call('list_activity', { kinds: ['redacted'] })
    expect(events).toHaveLength(3)
    expect(await faults()).toEqual([])
    await seal(done.store, done.heads)
    expect(await faults()).toEqual([])
  })

  it('passes over what only looks like the text in the form of a value, and leaves it whole', async () => {
    await world.scout.call('create_task', { title: 'One', description: 'null,null' })
    await people('redact', { text: '":{"title' })
    expect(await faults()).toEqual([])
    expect((await world.scout.call('get_task_history', { id: 'T11' })).total).toBe(1)
  })

  it('is for an owner with a fresh sign-in, and no refusal repeats the text', async () => {
    expect(await refused({ text: 'Qzxwvk' })).toMatchObject({ code: 'invalid_value' })
    expect(await refused({ text: `${PLAIN} `.repeat(40) })).toMatchObject({ code: 'invalid_value' })
    expect(await refused({ text: PLAIN, note: `It was ${PLAIN}` })).toMatchObject({ code: 'invalid_value' })
    expect(await refused({ text: 'redacted' })).toMatchObject({ code: 'invalid_value' })
    expect(await refused({ text: [PLAIN] })).toMatchObject({ code: 'invalid_value' })
    await world.done.access.flush()
    const noted = await world.done.store.read(ana.actor, 'test', (tx) => refusalsSince(tx, 0))
    expect(JSON.stringify(noted).toLowerCase()).not.toContain(WORD)
    world.pass(16 * 60_000)
    expect(await refused({ text: PLAIN })).toMatchObject({ code: 'people_only' })
  })
})

/** Files of the data folder, the log beside the database among them, that hold the word. */
function filesWith(word: string): string[] {
  return readdirSync(world.dir).filter((name) =>
    readFileSync(join(world.dir, name)).toString('latin1').toLowerCase().includes(word),
  )
}
