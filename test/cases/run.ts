import type { Cases } from '../cases.ts'
import type { World } from '../world.ts'

const MINUTE = 60_000
const LEASE = 10 * MINUTE

/** A task of Ana's, by title. */
async function task(w: World, title = 'Rotate the certificate', more: Record<string, unknown> = {}) {
  return String((await w.ana.call('create_task', { title, ...more })).id)
}

/** A task on which scout has begun: T1 with R1. */
async function begun(w: World, more: Record<string, unknown> = {}) {
  const id = await task(w, 'Rotate the certificate', more)
  await w.scout.call('start_run', { task_id: id, goal: 'Order and install' })
  w.pass(MINUTE)
  return id
}

export const runCases: Cases = {
  list_runs: [
    { says: 'there is none', given: async () => ({}) },
    {
      says: 'of one task, ended and open',
      given: async (w) => {
        const task_id = await begun(w)
        await w.scout.call('finish_run', { id: 'R1', outcome: 'failed' })
        await w.builder.call('start_run', { task_id })
        return { task_id }
      },
    },
    {
      says: 'stalled ones',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE)
        return { state: ['stalled'] }
      },
    },
    {
      says: 'of an agent by name, since yesterday, the first page',
      given: async (w) => {
        await begun(w)
        return { agent_id: 'scout', since: 'yesterday', limit: 1 }
      },
    },
    { says: 'for a read token', given: async (w) => ({ task_id: await begun(w) }), by: (w) => w.reader },
  ],

  get_run: [
    {
      says: 'that has just begun',
      given: async (w) => {
        await begun(w)
        return { id: 'R1' }
      },
    },
    {
      says: 'with a log, evidence and a summary',
      given: async (w) => {
        const task_id = await begun(w)
        await w.scout.call('log_run_event', { run_id: 'R1', kind: 'action', text: 'Ordered.', progress: 20 })
        await w.scout.call('attach_artifact', { task_id, title: 'Order', text: 'No. 512' })
        await w.scout.call('finish_run', { id: 'R1', outcome: 'succeeded', summary: 'Ordered.', cost: 0.2 })
        return { id: 'R1' }
      },
    },
    {
      says: 'ended by complete_task',
      given: async (w) => {
        await w.scout.call('complete_task', { id: await begun(w), summary: 'Rotated.' })
        return { id: 'R1' }
      },
    },
    {
      says: 'stalled, for a person',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE)
        return { id: 'R1' }
      },
      by: (w) => w.ana,
    },
    {
      says: 'by its other name, waiting for an answer',
      given: async (w) => {
        await w.scout.call('ask_question', { task_id: await begun(w), text: 'Which host?' })
        return { run_id: 'R1' }
      },
    },
  ],

  list_run_events: [
    {
      says: 'an empty log',
      given: async (w) => {
        await begun(w)
        return { run_id: 'R1' }
      },
    },
    {
      says: 'behind a line, of two kinds',
      given: async (w) => {
        await begun(w)
        for (const kind of ['thought', 'action', 'result']) {
          await w.scout.call('log_run_event', { run_id: 'R1', kind, text: `A ${kind}` })
        }
        return { run_id: 'R1', after: 1, kinds: ['action', 'result'] }
      },
    },
    {
      says: 'a long line alone',
      given: async (w) => {
        await begun(w)
        await w.scout.call('log_run_event', { run_id: 'R1', kind: 'result', text: 'x'.repeat(50_000) })
        return { run_id: 'R1', limit: 1 }
      },
    },
    {
      says: 'with a late line and a resumption',
      given: async (w) => {
        const task_id = await begun(w)
        await w.scout.call('start_run', { task_id, goal: 'Go on' })
        await w.scout.call('finish_run', { id: 'R1', outcome: 'cancelled' })
        await w.scout.call('log_run_event', { run_id: 'R1', kind: 'result', text: 'After all' })
        return { run_id: 'R1' }
      },
    },
    {
      says: 'for a read token',
      given: async (w) => {
        await begun(w)
        return { id: 'R1' }
      },
      by: (w) => w.reader,
    },
  ],

  start_run: [
    { says: 'on a free task', given: async (w) => ({ task_id: await task(w), goal: 'Order and install' }) },
    { says: 'resumes one’s own', given: async (w) => ({ task_id: await begun(w), goal: 'Go on' }) },
    {
      says: 'resumes a stalled one under a new claim',
      given: async (w) => {
        const task_id = await begun(w)
        w.pass(LEASE)
        return { task_id }
      },
    },
    {
      says: 'takes over where another’s lease has lapsed',
      given: async (w) => {
        const task_id = await begun(w)
        w.pass(LEASE)
        return { task_id }
      },
      by: (w) => w.builder,
    },
    {
      says: 'after a claim of one’s own',
      given: async (w) => {
        const id = await task(w)
        await w.scout.call('claim_task', { id })
        return { task_id: id }
      },
    },
    {
      says: 'on work that a person sent back, with another run open',
      given: async (w) => {
        await begun(w)
        return { task_id: await task(w, 'Another', { recurrence: 'every week', due: '2026-12-01' }) }
      },
    },
    { says: 'by a person', given: async (w) => ({ task_id: await task(w) }), by: (w) => w.ana },
  ],

  log_run_event: [
    {
      says: 'the first line',
      given: async (w) => {
        await begun(w)
        return { run_id: 'R1', kind: 'thought', text: 'Two hosts use it.' }
      },
    },
    {
      says: 'with progress that moves',
      given: async (w) => {
        await begun(w)
        await w.scout.call('log_run_event', { run_id: 'R1', kind: 'progress', text: 'Half', progress: 50 })
        return { run_id: 'R1', kind: 'progress', text: 'More', progress: 75 }
      },
    },
    {
      says: 'on a stalled run',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE)
        return { run_id: 'R1', kind: 'result', text: 'It took long' }
      },
    },
    {
      says: 'late, after complete_task',
      given: async (w) => {
        await w.scout.call('complete_task', { id: await begun(w) })
        return { run_id: 'R1', kind: 'result', text: 'And the tests pass' }
      },
    },
    {
      says: 'after another has taken the task',
      given: async (w) => {
        const task_id = await begun(w)
        w.pass(LEASE)
        await w.builder.call('start_run', { task_id })
        return { run_id: 'R1', kind: 'error', text: 'Too late' }
      },
    },
  ],

  heartbeat_run: [
    {
      says: 'extends the lease',
      given: async (w) => {
        await begun(w)
        return { run_id: 'R1' }
      },
    },
    {
      says: 'with progress',
      given: async (w) => {
        await begun(w)
        return { run_id: 'R1', progress: 30 }
      },
    },
    {
      says: 'with the progress that is known',
      given: async (w) => {
        await begun(w)
        await w.scout.call('heartbeat_run', { run_id: 'R1', progress: 30 })
        return { run_id: 'R1', progress: 30 }
      },
    },
    {
      says: 'in the last minute of the lease',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE - 2 * MINUTE)
        return { run_id: 'R1' }
      },
    },
    {
      says: 'by a person who works on it',
      given: async (w) => {
        await w.ana.call('start_run', { task_id: await task(w) })
        return { id: 'R1', progress: 10 }
      },
      by: (w) => w.ana,
    },
  ],

  finish_run: [
    {
      says: 'as succeeded, with all there is to report',
      given: async (w) => {
        await begun(w)
        return {
          id: 'R1',
          outcome: 'succeeded',
          summary: 'Ordered and installed.',
          tokens: 18_400,
          cost: 0.21,
        }
      },
    },
    {
      says: 'as failed, with nothing more',
      given: async (w) => {
        await begun(w)
        return { id: 'R1', outcome: 'failed' }
      },
    },
    {
      says: 'past its lease',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE)
        return { id: 'R1', outcome: 'cancelled', summary: 'Gave up.' }
      },
    },
    {
      says: 'after another has taken the task',
      given: async (w) => {
        const task_id = await begun(w)
        w.pass(LEASE)
        await w.builder.call('start_run', { task_id })
        return { id: 'R1', outcome: 'succeeded', summary: 'Mine was ready too.' }
      },
    },
    {
      says: 'late, with figures that were not known',
      given: async (w) => {
        await w.scout.call('complete_task', { id: await begun(w), summary: 'Rotated.' })
        return { id: 'R1', outcome: 'succeeded', tokens: 900, cost: 0.01 }
      },
    },
    {
      says: 'late, with another outcome',
      given: async (w) => {
        await w.scout.call('release_task', { id: await begun(w) })
        return { id: 'R1', outcome: 'failed', summary: 'The host is down.' }
      },
    },
    {
      says: 'an agent’s, by a person',
      given: async (w) => {
        await begun(w)
        return { id: 'R1', outcome: 'cancelled' }
      },
      by: (w) => w.ana,
    },
  ],

  fleet_status: [
    { says: 'all idle', given: async () => ({}) },
    {
      says: 'one stalled, one working',
      given: async (w) => {
        await begun(w)
        w.pass(LEASE)
        await w.builder.call('start_run', { task_id: await task(w, 'Another') })
        return {}
      },
    },
    {
      says: 'active ones, one waiting',
      given: async (w) => {
        await w.scout.call('ask_question', { task_id: await begun(w), text: 'Which host?' })
        return { active_only: true }
      },
    },
    {
      says: 'one agent, with a claim and refusals',
      given: async (w) => {
        const id = await begun(w)
        await w.builder.call('claim_task', { id: await task(w, 'Another') })
        await w.builder.refused('claim_task', { id })
        await w.done.access.flush()
        return { agent_id: 'G2' }
      },
    },
    { says: 'a page, for a read token', given: async () => ({ limit: 1 }), by: (w) => w.reader },
  ],

  list_members: [
    { says: 'everybody', given: async () => ({}) },
    { says: 'people', given: async () => ({ kind: 'person' }) },
    {
      says: 'agents, one of them narrowed',
      given: async (w) => {
        await w.agent('narrow', { presets: ['worker'] })
        return { kind: 'agent' }
      },
    },
    { says: 'a page', given: async () => ({ limit: 2 }), by: (w) => w.ana },
    { says: 'for a read token', given: async () => ({}), by: (w) => w.reader },
  ],
}
