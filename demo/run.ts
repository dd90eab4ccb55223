/**
 * A host at work: starts Done on a fresh folder, loads a plan of about 40 tasks, and lets an agent work it off over HTTP,
 * waiting at the gate where a person must decide. `--sign-off` lets the demo's own owner decide; else a person does, in a
 * browser, on the page that is printed.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { connectHost, type Host } from './host.ts'
import { type Person, signIn } from './person.ts'
import { type PlanTask, readPlan } from './plan.ts'
import { startServer } from './server.ts'

const signsOff = process.argv.includes('--sign-off')
const dir = mkdtempSync(join(tmpdir(), 'done-demo-'))
const server = await startServer(dir)

try {
  console.log(`Done runs at ${server.site}, on a fresh folder.\n`)
  const owner = await signIn(server)
  const plan = readPlan(
    JSON.parse(readFileSync(join(import.meta.dirname, '..', 'demo', 'plan.json'), 'utf8')),
  )
  const gated = await loadPlan(plan, owner)
  if (!signsOff) {
    console.log(`\nYou decide. Sign in first: ${await server.console('signin-link')}`)
  }
  await workItOff(plan.length, gated, signsOff ? owner : undefined)
} finally {
  server.stop()
  rmSync(dir, { recursive: true, force: true })
}

/**
 * Sets the plan up as a planner's agent would. The owner then lets all but the tasks of high priority close on their own:
 * what a person leaves to agents is a person's word.
 */
async function loadPlan(plan: readonly PlanTask[], owner: Person): Promise<ReadonlySet<string>> {
  const planner = await connectHost(server.site, await tokenFor('planner'), 'planner', 'planner')
  const project = await planner.call('create_project', { name: 'The library moves' })
  const { tasks } = await planner.call('create_tasks', {
    project_id: project.id,
    idempotency_key: 'the-plan',
    tasks: plan.map(({ steps, ...task }) => ({ ...task, steps: steps.map((title) => ({ title })) })),
  })
  const gated = new Set<string>()
  for (const [i, task] of (tasks as { id: string }[]).entries()) {
    if (isMilestone(plan, i)) gated.add(task.id)
    else await owner.autoOk(task.id)
  }
  console.log(
    `The owner made ${tasks.length - gated.size} tasks auto-OK; ${gated.size} need a person: ${[...gated].join(', ')}.`,
  )
  await planner.close()
  return gated
}

/** A task that three or more others wait for, or that nothing waits for, is one that a person wants to see. */
function isMilestone(plan: readonly PlanTask[], i: number): boolean {
  const waiting = plan.filter((task) => task.depends_on.includes(plan[i]!.ref)).length
  return waiting >= 3 || i === plan.length - 1
}

async function workItOff(size: number, gated: ReadonlySet<string>, owner: Person | undefined): Promise<void> {
  console.log('')
  const scout = await connectHost(server.site, await tokenFor('scout'), 'scout', 'worker')
  await scout.call('get_digest')
  let closed = 0
  let sentBack = false
  while (closed < size) {
    const { task } = await scout.call('get_next_task')
    if (!task) throw new Error(`Nothing is free, and ${size - closed} tasks are open.`)
    const done = await workOn(scout, task.id)
    if (done.status === 'awaiting_approval') {
      // The first time, the owner sends the work back, to show what an agent does then.
      const decision = await atTheGate(scout, done, owner, sentBack ? 'approve' : 'reject')
      sentBack = true
      if (decision === 'approved') closed++
    } else closed++
  }
  const { run, ask, ask_always } = scout.decisions
  console.log(`\nAll ${size} tasks are closed, ${gated.size} of them by a person’s sign-off.`)
  console.log(`The host ran ${run} calls of the worker preset unasked and asked about ${ask + ask_always}.`)
  await scout.close()
}

/** One task from the start to its last call. */
async function workOn(scout: Host, id: string): Promise<Record<string, any>> {
  const started = await scout.call('start_run', { task_id: id, goal: 'Do all of it, with evidence.' })
  const note = started.news?.sent_back?.note
  if (note) console.log(`         The person’s note comes first: “${note}”`)
  let steps = started.steps as { id: string; title: string; status: string }[] | undefined
  if (!steps) {
    await scout.call('decompose_task', {
      id,
      steps: [{ title: 'Do it' }, { title: 'Look at it as its reader would' }],
    })
    steps = (await scout.call('get_task', { id })).steps
  }
  for (const step of steps!.filter((each) => each.status !== 'done')) {
    await scout.call('set_step_status', { id: step.id, status: 'in_progress' })
    await scout.call('log_run_event', {
      run_id: started.run.id,
      kind: 'result',
      text: `${step.title}: went as planned.`,
    })
    await scout.call('set_step_status', { id: step.id, status: 'done' })
  }
  if (note) await scout.call('comment_on_task', { task_id: id, text: `Mended: ${note}` })
  await scout.call('attach_artifact', {
    task_id: id,
    run_id: started.run.id,
    title: 'What was done',
    text: `${started.title}\n\n${steps!.map((step) => `- ${step.title}`).join('\n')}`,
  })
  return scout.call('complete_task', {
    id,
    summary: `${started.title}: done, ${steps!.length} steps, evidence attached.`,
  })
}

/** Waits for the person, who sees the page; a wait of the agent's own costs it no polling. */
async function atTheGate(
  scout: Host,
  done: Record<string, any>,
  owner: Person | undefined,
  wish: 'approve' | 'reject',
): Promise<string> {
  console.log(`\n  The gate: ${done.id} waits for a person at ${done.page}`)
  if (owner) {
    if (wish === 'approve') await owner.approve(done.request)
    else await owner.reject(done.request, 'Say who checked it.')
    console.log(`  The owner, signed in as a person, ${wish === 'approve' ? 'approved' : 'sent it back'}.\n`)
  }
  for (;;) {
    // Held by the server until there is news, for up to 50 seconds at a time.
    const { when_seen } = await scout.call('get_digest', { wait_seconds: 50 })
    const seen = /"up_to":"(N\d+)"/.exec(when_seen ?? '')?.[1]
    if (seen) await scout.call('mark_notifications_read', { up_to: seen })
    const task = await scout.call('get_task', { id: done.id })
    if (task.status !== 'awaiting_approval') return task.approval.state
  }
}

async function tokenFor(name: string): Promise<string> {
  return server.console('token', 'create', '--name', name, '--scope', 'write')
}
