import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { snapshot } from '../../test/observer.ts'
import { beaTakesOver } from '../../test/people.ts'
import { newWorld, type World } from '../../test/world.ts'
import { actorOfToken } from '../auth/actor.ts'
import type { Actor, PersonActor } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { refusalsSince } from '../store/access.ts'
import { TOOL_NAMES } from '../tools/effects.ts'
import { peopleCall } from './call.ts'
import { PEOPLE_CATALOG } from './catalog.ts'

let world: World
let ana: PersonActor
beforeEach(async () => {
  world = await newWorld()
  ana = world.ana.actor as PersonActor
})
afterEach(() => world.close())

const people = (name: string, input: object = {}, by: Actor = ana): Promise<any> =>
  peopleCall(world.done)(by, name, input)

async function refused(name: string, input: object = {}, by: Actor = ana): Promise<AppError> {
  try {
    await people(name, input, by)
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error(`${name} was not refused.`)
}

/** A person of another role, with a session that the database knows as such. */
const withRole = (role: PersonActor['role']): PersonActor => ({ ...ana, role })

type Row = Record<string, any>

/** Every row of every table of the account's content. */
async function rows(): Promise<Record<string, Row[]>> {
  const tables = [...(await snapshot(world))].map(([table, found]) => [table, [...found.values()]])
  return Object.fromEntries(tables)
}

/** The same again, a minute later: a success that changes no row. */
async function converges(name: string, input: object): Promise<void> {
  await people(name, input)
  world.pass(60_000)
  const before = await rows()
  expect(await people(name, input)).toMatchObject({ already: true })
  expect(await rows()).toEqual(before)
}

describe('the catalogue of people', () => {
  it('is no tool of anybody, and refuses whoever is no person', async () => {
    for (const name of Object.keys(PEOPLE_CATALOG)) {
      expect(TOOL_NAMES as string[]).not.toContain(name)
      expect(await refused(name, {}, world.scout.actor), name).toMatchObject({ code: 'people_only' })
      expect((await world.scout.refused(name)).code, name).toBe('not_found')
      expect((await world.ana.refused(name)).code, name).toBe('not_found')
    }
    const { done } = world
    const noted = await done.store.read(ana, 'test', (tx) => refusalsSince(tx, 0))
    expect(noted.filter((each) => each.code === 'people_only')).toHaveLength(
      Object.keys(PEOPLE_CATALOG).length,
    )
  })

  it('asks for the role and a fresh sign-in where it says so', async () => {
    for (const [name, { role, fresh }] of Object.entries(PEOPLE_CATALOG)) {
      if (role !== 'viewer')
        expect((await refused(name, {}, withRole('viewer'))).code, name).toBe('people_only')
      if (role === 'owner')
        expect((await refused(name, {}, withRole('member'))).code, name).toBe('people_only')
      const { example } = PEOPLE_CATALOG[name as keyof typeof PEOPLE_CATALOG]
      if (!fresh) continue
      const stale = { ...ana, session: { ...ana.session, signedInAt: ana.session.signedInAt - 16 * 60_000 } }
      expect((await refused(name, example, stale)).message, name).toContain('15 minutes')
    }
  })

  it('looks at the session again in its own transaction', async () => {
    expect((await refused('list_agents', {}, withRole('member'))).message).toContain('ended')
    await people('sign_out')
    expect((await refused('create_agent', { name: 'late' })).message).toContain('ended')
    expect((await refused('list_agents')).message).toContain('ended')
  })
})

describe('agents and tokens', () => {
  it('are made, listed, narrowed and revoked; the token is told once', async () => {
    const agent = await people('create_agent', { name: 'tester' })
    expect(agent).toMatchObject({ id: 'G4', owner: 'U1' })
    expect(await people('create_agent', { name: 'Tester' })).toMatchObject({ id: 'G4', already: true })
    await world.scout.call('create_project', { name: 'Website' })
    const made = await people('create_token', {
      agent_id: 'G4',
      scope: 'read',
      presets: ['reader'],
      projects: ['P1'],
      expires: '2026-12-31',
    })
    expect(made.token).toMatch(/^done_[\w-]{43}$/)
    expect(made).toMatchObject({
      id: 'K4',
      scopes: ['read'],
      presets: ['reader'],
      projects: ['P1'],
      state: 'good',
    })
    const actor = (await actorOfToken(world.done.store, made.token))!
    expect(actor).toMatchObject({ kind: 'agent', id: 'G4', scopes: ['read'], projects: [1] })
    world.done.credentialUse.saw(actor)
    await world.done.credentialUse.flush()
    const { tokens } = await people('list_tokens')
    expect(tokens[0]).toMatchObject({
      id: 'K4',
      begins: `${made.token.slice(0, 9)}…`,
      last_used_at: '2026-11-30T08:00:00Z',
    })
    expect(JSON.stringify([tokens, await rows()])).not.toContain(made.token)
    await converges('revoke_token', { id: 'K4' })
    expect(await actorOfToken(world.done.store, made.token)).toBeUndefined()
    expect((await people('list_tokens')).tokens[0].state).toBe('revoked')
  })

  it('refuse what can’t be', async () => {
    const make = (input: object) => refused('create_token', { agent_id: 'G1', scope: 'read', ...input })
    expect(await make({ agent_id: 'G99' })).toMatchObject({ code: 'not_found' })
    expect(await make({ scope: 'approve' })).toMatchObject({ code: 'invalid_value' })
    expect(await make({ presets: ['everything'] })).toMatchObject({ code: 'invalid_value' })
    expect(await make({ projects: ['P9'] })).toMatchObject({ code: 'not_found' })
    expect(await make({ expires: '2020-01-01' })).toMatchObject({ code: 'invalid_value' })
    expect(await make({ idempotency_key: 'k' })).toMatchObject({ code: 'unknown_argument' })
    expect(await make({ kind: 'person' })).toMatchObject({ code: 'unknown_argument' })
    expect(await refused('revoke_token', { id: 'K99' })).toMatchObject({ code: 'not_found' })
  })

  it('are cut off with all their tokens at once; what they hold is free when the lease lapses', async () => {
    const { scout, builder } = world
    const tokens = [scout.token!]
    for (const scope of ['read', 'write'])
      tokens.push((await people('create_token', { agent_id: 'G1', scope })).token)
    await people('revoke_token', { id: 'K4' })
    await scout.call('create_task', { title: 'Order tiles' })
    await scout.call('claim_task', { id: 'T1' })
    const before = (await rows()).events!.length
    expect(await people('revoke_agent', { id: 'G1' })).toMatchObject({ id: 'G1', revoked: ['K1', 'K5'] })
    expect((await rows()).events!.slice(before)).toMatchObject([
      { kind: 'agent_changed', object: 'G1', data: expect.stringContaining('"tokens":["K1","K5"]') },
    ])
    for (const token of tokens) expect(await actorOfToken(world.done.store, token)).toBeUndefined()
    expect(await actorOfToken(world.done.store, builder.token!)).toBeDefined()
    expect(await builder.refused('claim_task', { id: 'T1' })).toMatchObject({ code: 'already_claimed' })
    await converges('revoke_agent', { id: 'G1' })
    world.pass(10 * 60_000)
    expect(await builder.call('claim_task', { id: 'T1' })).toMatchObject({ status: 'in_progress' })
  })

  it('are revoked by their own person or the account’s owner', async () => {
    expect(await refused('revoke_agent', { id: 'G9' })).toMatchObject({ code: 'not_found' })
    const bea = await beaTakesOver(world, 'G2')
    expect(await refused('revoke_agent', { id: 'G1' }, bea)).toMatchObject({
      code: 'people_only',
      message: 'G1 is U1’s agent.',
    })
    expect(await actorOfToken(world.done.store, world.scout.token!)).toBeDefined()
    expect((await people('revoke_agent', { id: 'G2' }, bea)).revoked).toEqual(['K2'])
  })

  it('are asked to stop, hear it with their next write, and go on when let', async () => {
    await converges('stop_agent', { id: 'G1' })
    expect(await world.scout.call('create_task', { title: 'One more' })).toMatchObject({
      stop: true,
      unread: 1,
    })
    await converges('let_agent_continue', { id: 'G1' })
    expect(await world.scout.call('create_task', { title: 'And on' })).not.toHaveProperty('stop')
    expect((await people('list_agents')).agents[0]).toMatchObject({ id: 'G1', name: 'scout' })
  })
})

describe('auto-OK', () => {
  it('is raised and lowered by a person, voids what waits, and is frozen once closed', async () => {
    await world.scout.call('create_task', { title: 'Water the plants' })
    await world.scout.call('complete_task', { id: 'T1' })
    const raised = await people('set_auto_ok', { id: 'T1', auto_ok: true })
    expect(raised).toMatchObject({ auto_ok: true, request_stale: 'A1' })
    await converges('set_auto_ok', { id: 'T1', auto_ok: true })
    expect(await world.scout.call('complete_task', { id: 'T1' })).toMatchObject({ status: 'done' })
    expect(await refused('set_auto_ok', { id: 'T1', auto_ok: false })).toMatchObject({ code: 'conflict' })
  })

  it('is a project’s default for what comes, not for what is there', async () => {
    await world.scout.call('create_project', { name: 'Chores' })
    await world.scout.call('create_task', { title: 'Before', project_id: 'P1' })
    await converges('set_project_auto_ok', { id: 'P1', auto_ok: true })
    await world.scout.call('create_task', { title: 'After', project_id: 'P1' })
    expect((await world.scout.call('complete_task', { id: 'T1' })).status).toBe('awaiting_approval')
    expect((await world.scout.call('complete_task', { id: 'T2' })).status).toBe('done')
  })
})

describe('a question', () => {
  it('is answered once; the agent is told', async () => {
    await world.scout.call('create_task', { title: 'Translate' })
    await world.scout.call('ask_question', { task_id: 'T1', text: 'tú or usted?', choices: ['tú', 'usted'] })
    expect((await people('list_open_questions')).questions).toMatchObject([
      { id: 'Q1', task_title: 'Translate' },
    ])
    expect(await people('answer_question', { id: 'Q1', answer: '2' })).toMatchObject({ answer: 'usted' })
    await converges('answer_question', { id: 'Q1', answer: 'usted' })
    expect(await refused('answer_question', { id: 'Q1', answer: 'tú' })).toMatchObject({ code: 'conflict' })
    expect(await world.scout.call('get_question', { id: 'Q1' })).toMatchObject({ answer: 'usted' })
    expect((await people('list_open_questions')).questions).toEqual([])
  })
})

describe('a purge', () => {
  it('removes a task with its parts for good, and what was trashed before stays on its own', async () => {
    const { scout } = world
    const secret = 'hunter2 unmistakable'
    await scout.call('create_task', { title: 'Parent', description: secret, steps: [{ title: secret }] })
    await scout.call('create_task', { title: 'Child', parent_id: 'T1' })
    await scout.call('create_task', { title: 'Earlier', parent_id: 'T1' })
    await scout.call('create_task', { title: 'Waits', depends_on: ['T1'] })
    await scout.call('start_run', { task_id: 'T2', goal: secret })
    await scout.call('log_run_event', { run_id: 'R1', kind: 'thought', text: secret })
    await scout.call('comment_on_task', { task_id: 'T1', text: secret })
    await scout.call('attach_artifact', {
      task_id: 'T1',
      title: 'x',
      file: { name: 'x.txt', media_type: 'text/plain', base64: Buffer.from(secret).toString('base64') },
    })
    await scout.call('delete_task', { id: 'T3' })
    await scout.call('delete_task', { id: 'T1' })
    expect(await refused('purge', { id: 'X2', title: 'parent' })).toMatchObject({
      details: { allowed: ['Parent'] },
    })
    expect(await people('purge', { id: 'X2', title: 'Parent' })).toMatchObject({ purged: true, tasks: 2 })
    const left = await rows()
    expect(left.tasks).toMatchObject([{ id: 3, parent: null, trash: 1 }, { id: 4 }])
    const { replies: _, ...content } = left
    expect(JSON.stringify(content)).not.toContain(secret)
    expect(left.artifact_bytes).toEqual([])
    expect((await scout.call('search', { query: 'unmistakable' })).total).toBe(0)
    await converges('purge', { id: 'X2', title: 'Parent' })
    await scout.call('restore_from_trash', { ids: ['X1'] })
    expect(await scout.call('get_task', { id: 'T3' })).toMatchObject({ title: 'Earlier' })
    expect(await scout.call('get_task', { id: 'T4' })).not.toHaveProperty('waits_for')
    expect(await refused('purge', { id: 'X1', title: 'Earlier' })).toMatchObject({ code: 'conflict' })
    expect(await refused('purge', { id: 'X9', title: 'x' })).toMatchObject({ code: 'not_found' })
    expect((await scout.call('create_task', { title: 'New' })).id).toBe('T5')
  })

  it('keeps the record of a sign-off, and an empty shell for it', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Signed', description: 'secret' })
    await scout.call('complete_task', { id: 'T1', summary: 'secret' })
    await world.ana.call('complete_task', { id: 'T1' })
    await scout.call('delete_task', { id: 'T1' })
    expect(await people('purge', { id: 'X1', title: 'Signed' })).toMatchObject({ kept: ['T1'] })
    const left = await rows()
    expect(left.sign_offs).toHaveLength(1)
    expect(left.tasks).toMatchObject([{ id: 1, title: '(purged)', description: '', status: 'done' }])
    expect(JSON.stringify([left.tasks, left.notes, left.events])).not.toContain('secret')
    expect(await scout.refused('get_task', { id: 'T1' })).toMatchObject({ code: 'not_found' })
  })

  it('takes a project with its tasks, and single parts', async () => {
    const { scout } = world
    await scout.call('create_project', { name: 'Old' })
    await scout.call('create_task', { title: 'Apart', project_id: 'P1' })
    await scout.call('create_task', { title: 'In it', project_id: 'P1', steps: [{ title: 'Step' }] })
    await scout.call('comment_on_task', { task_id: 'T2', text: 'Comment' })
    await scout.call('create_label', { name: 'ops' })
    await scout.call('label_task', { ids: ['T2'], labels: ['ops'] })
    await scout.call('save_view', { name: 'Mine', filter: { status: ['open'] } })
    await scout.call('delete_task', { id: 'T1' })
    await scout.call('delete_step', { id: 'S1' })
    await scout.call('delete_comment', { id: 'C1' })
    await scout.call('delete_label', { name: 'ops' })
    await scout.call('delete_view', { name: 'Mine' })
    for (const { id, title } of (await scout.call('list_trash')).trash ?? (await rows()).trash) {
      const entry = String(id).startsWith('X') ? id : `X${id}`
      if (title !== 'Apart') await people('purge', { id: entry, title })
    }
    let left = await rows()
    expect([left.steps, left.comments, left.labels, left.task_labels, left.views]).toEqual([
      [],
      [],
      [],
      [],
      [],
    ])
    await scout.call('delete_project', { id: 'P1', name: 'Old' })
    const entry = (await rows()).trash!.find((each) => (each as { kind: string }).kind === 'project') as {
      id: number
    }
    await people('purge', { id: `X${entry.id}`, title: 'Old' })
    left = await rows()
    expect([left.projects, left.tasks]).toMatchObject([[], [{ id: 1, project: null }]])
  })
})

describe('a folder as a source', () => {
  it('is connected by the owner, once, and disconnected', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'source-'))
    writeFileSync(join(folder, 'brief.md'), '# Brief')
    await converges('add_folder', { name: 'Handbook', path: folder })
    expect((await rows()).connectors).toMatchObject([{ name: 'Handbook', may_save: 0 }])
    const other = await refused('add_folder', { name: 'handbook', path: folder, may_save: true })
    expect(other.code).toBe('conflict')
    await converges('remove_source', { name: 'handbook' })
    expect((await rows()).connectors).toEqual([])
    expect(await people('add_folder', { name: 'Handbook', path: folder, may_save: true })).toMatchObject({
      may_save: true,
    })
    expect(await refused('remove_source', { name: 'Handbok' })).toMatchObject({
      details: { allowed: ['Handbook'] },
    })
  })

  it('is never Done’s own folder, nor one that holds it, nor one that is not there', async () => {
    const link = join(mkdtempSync(join(tmpdir(), 'source-')), 'link')
    symlinkSync(world.dir, link)
    mkdirSync(join(world.dir, 'inside'))
    for (const path of [world.dir, join(world.dir, 'inside'), link, tmpdir(), '/'])
      expect((await refused('add_folder', { name: 'x', path })).message, path).toContain('own data')
    expect(await refused('add_folder', { name: 'x', path: 'relative' })).toMatchObject({
      code: 'invalid_value',
    })
    expect(await refused('add_folder', { name: 'x', path: '/nowhere/at/all' })).toMatchObject({
      code: 'unavailable',
    })
    expect((await rows()).connectors).toEqual([])
  })
})

describe('sessions', () => {
  it('are listed and ended', async () => {
    const other = (await world.signInAgain()).actor as PersonActor
    const { sessions } = await people('list_sessions')
    expect(sessions).toHaveLength(2)
    expect(sessions.find((each: { this?: boolean }) => each.this).id).toBe(ana.session.id)
    await converges('revoke_session', { id: other.session.id })
    expect((await refused('list_agents', {}, other)).message).toContain('ended')
    expect(await refused('revoke_session', { id: 'none' })).toMatchObject({ code: 'not_found' })
  })
})
