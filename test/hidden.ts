import { nextNumber } from '../src/store/handle.ts'
import { anaAnswers, anaRejects } from './people.ts'
import { type Worker, type World, worldsAfter } from './world.ts'

/**
 * An account in which everything outside the project P1 is a canary: texts hold the word, and ids are between 7000 and 8000,
 * which no other id is. Where the two sides can touch they do: as dependencies, parents, blocks, in the Trash, by a merge, in
 * news and in histories.
 */
export interface HiddenWorld {
  world: World
  /** Scout with a token that is narrowed to P1; the same agent has one that sees everything. */
  narrow: Worker
  /** What lies outside, a public id or two of each kind. */
  hidden: Record<string, readonly string[]>
}

/** What is known of every hidden world. */
type Hidden = Pick<HiddenWorld, 'hidden'> & { token: string }

/** Between the ids of what was hidden and of what comes later: no such thing ever was. */
const NEVER = 8999

const KINDS = [
  'task',
  'project',
  'step',
  'run',
  'comment',
  'request',
  'sign_off',
  'question',
  'artifact',
  'trash',
  'notification',
  'event',
  'note',
] as const

/** What of an answer betrays something hidden. */
export function canariesIn(text: string): string[] {
  return text.match(/CANARY|\b[A-Z]7\d{3}\b/gi) ?? []
}

async function hideEverything(world: World): Promise<Hidden> {
  const { scout, builder, ana } = world
  await inSight(world)

  await jumpTo(world, 7000)
  const { id: project } = await scout.call('create_project', { name: 'CANARY plan', description: 'CANARY' })
  const { id: doomed } = await scout.call('create_project', { name: 'CANARY doomed' })
  const make = async (title: string, more: object = {}): Promise<string> =>
    (await scout.call('create_task', { title: `CANARY ${title}`, project_id: project, ...more })).id
  const whole = await make('whole', { description: 'CANARY', steps: [{ title: 'CANARY step' }] })
  const before = await make('before')
  const after = await make('after', { parent_id: whole })
  const blocker = await make('blocker')
  const part = await make('part')
  const twin = await make('twin')
  // What comes over to P1 later has words that may be seen there.
  const weekly = await make('', {
    title: 'Weekly',
    due: '2026-11-30',
    recurrence: 'every monday',
  })
  const worked = await make('worked', { labels: ['shared', 'gone'], steps: [{ title: 'CANARY now' }] })
  const asked = await make('asked')
  const sentBack = await make('sent back')
  const deleted = await make('deleted')
  const partOfDeleted = await make('part of deleted')
  const { id: nowhere } = await scout.call('create_task', { title: 'CANARY nowhere' })
  const { id: lost } = await scout.call('create_task', { title: 'CANARY lost', project_id: doomed })
  const comments = [
    await builder.call('comment_on_task', { task_id: worked, text: '@scout CANARY' }),
    await scout.call('comment_on_task', { task_id: worked, text: 'CANARY mine' }),
    await builder.call('comment_on_task', { task_id: twin, text: 'Said on the twin.' }),
  ].map(({ id }) => id as string)
  await scout.call('start_run', { task_id: worked, goal: 'CANARY', idempotency_key: 'wide' })
  await builder.call('start_run', { task_id: before, goal: 'CANARY' })
  const { id: run } = (await scout.call('get_task', { id: worked })).run
  await scout.call('log_run_event', { run_id: run, kind: 'progress', text: 'CANARY', progress: 77 })
  const { steps } = await scout.call('get_task', { id: worked })
  await scout.call('set_step_status', { id: steps[0].id, status: 'in_progress', note: 'CANARY' })
  const { id: artifact } = await scout.call('attach_artifact', {
    task_id: worked,
    title: 'CANARY',
    text: 'CANARY',
  })
  const { id: question } = await scout.call('ask_question', { task_id: worked, text: 'CANARY?' })
  const { request } = await scout.call('complete_task', { id: asked, summary: 'CANARY' })
  const rejected = (await scout.call('complete_task', { id: sentBack, summary: 'CANARY' })).request
  await anaRejects(world, rejected, 'CANARY')
  const other = await scout.call('ask_question', { task_id: sentBack, text: 'CANARY?' })
  await anaAnswers(world, other.id, 'CANARY')
  await scout.call('link_calendar_event', { task_id: worked, uid: 'CANARY', title: 'CANARY' })
  await scout.call('save_view', { name: 'CANARY view', filter: { project_id: project } })
  await scout.call('save_view', { name: 'CANARY parts', filter: { parent_id: whole } })
  await scout.call('save_view', { name: 'CANARY gone', filter: { project_id: project } })
  const entries = [
    await scout.call('delete_comment', { id: comments[1] }),
    await scout.call('delete_view', { name: 'CANARY gone' }),
    await scout.call('delete_task', { id: await make('alone') }),
  ]
  await scout.call('claim_task', { id: lost })
  entries.push(await ana.call('delete_project', { id: doomed, name: 'CANARY doomed' }))

  const sum = await make('sum')
  await jumpTo(
    world,
    9000,
    KINDS.filter((kind) => kind !== 'request'),
  )
  await touch(world, {
    project,
    whole,
    before,
    after,
    blocker,
    part,
    twin,
    weekly,
    deleted,
    partOfDeleted,
    sum,
  })
  await jumpTo(world, 9000)
  const { notifications } = await scout.call('list_notifications', { limit: 100 })
  const news = notifications.map((each: { id: string }) => each.id)
  return {
    token: (await world.agent('scout', { projects: [1] })).token!,
    hidden: {
      T: [worked, nowhere, lost, twin, whole],
      P: [project, doomed],
      S: [steps[0].id],
      C: comments.slice(0, 2),
      R: [run],
      A: [request, rejected],
      Q: [question],
      F: [artifact],
      X: entries.map((entry) => entry.trash as string),
      N: [news.find((id: string) => canariesIn(id).length > 0)],
    },
  }
}

/** P1 with what the examples of the tools name: T1 to T13, S1, C1, R1, F1, A1, Q1, X1, N1. */
async function inSight(world: World): Promise<void> {
  const { scout, builder, ana } = world
  await scout.call('create_project', { name: 'Website' })
  for (const name of ['ops', 'web', 'shared', 'gone']) await scout.call('create_label', { name })
  await scout.call('create_tasks', {
    project_id: 'P1',
    tasks: [
      { title: 'One', steps: [{ title: 'Order' }, { title: 'Install' }], labels: ['shared', 'gone'] },
      { title: 'Two', labels: ['ops'] },
      ...[
        'Three',
        'Four',
        'Five',
        'Six',
        'Seven',
        'Eight',
        'Nine',
        'Ten',
        'Eleven',
        'Twelve',
        'Thirteen',
      ].map((title) => ({
        title,
      })),
    ],
  })
  await scout.call('comment_on_task', { task_id: 'T2', text: 'Export done.' })
  await builder.call('comment_on_task', { task_id: 'T2', text: '@scout Thank you.' })
  await scout.call('start_run', { task_id: 'T2', goal: 'All moved.' })
  await scout.call('attach_artifact', { task_id: 'T2', title: 'The export', text: 'address,since' })
  await scout.call('ask_question', { text: 'May I?', task_id: 'T2' })
  await builder.call('complete_task', { id: 'T4' })
  await world.autoOk('T6')
  await scout.call('delete_task', { id: 'T7' })
  await ana.call('complete_task', { id: 'T8' })
  await scout.call('save_view', { name: 'This week', filter: { due_before: 'next monday' } })
  await scout.call('link_calendar_event', { task_id: 'T1', uid: 'kickoff@example.org' })
}

/** Lets the two sides touch, by somebody who sees both. */
async function touch(world: World, of: Record<string, string>): Promise<void> {
  const { scout, ana } = world
  await scout.call('add_dependency', { id: 'T1', depends_on: [of.before] })
  await scout.call('add_dependency', { id: of.after!, depends_on: ['T1'] })
  await scout.call('update_task', { id: 'T3', parent_id: of.whole })
  await scout.call('block_task', { id: 'T5', by: of.blocker })
  await scout.call('update_task', { id: of.part!, parent_id: 'T9' })
  await scout.call('add_dependency', { id: of.part!, depends_on: ['T2'] })
  await scout.call('merge_tasks', { id: 'T10', duplicates: [of.twin] })
  await scout.call('update_task', { id: 'T11', project_id: of.project })
  await scout.call('update_task', { id: 'T11', project_id: 'P1' })
  const { next_occurrence: next } = await ana.call('complete_task', { id: of.weekly! })
  await scout.call('update_task', { id: next, project_id: 'P1' })
  // What is closed inside a whole that waits for a person.
  await world.autoOk('T13')
  await ana.call('update_task', { id: 'T13', parent_id: of.sum })
  await ana.call('complete_task', { id: 'T13' })
  await scout.call('complete_task', { id: of.sum })
  await scout.call('delete_label', { name: 'gone' })
  // In the Trash, one went with the other, each way round.
  await scout.call('update_task', { id: of.partOfDeleted!, parent_id: 'T12' })
  await scout.call('delete_task', { id: 'T12' })
  const { id } = await scout.call('create_task', {
    title: 'Taken along',
    project_id: 'P1',
    parent_id: of.deleted,
  })
  await scout.call('delete_task', { id: of.deleted! })
  await scout.refused('get_task', { id })
}

/** The next of everything gets this number. */
async function jumpTo(
  world: World,
  number: number,
  kinds: readonly (typeof KINDS)[number][] = KINDS,
): Promise<void> {
  await world.done.store.write(world.ana.actor, 'test', async (tx) => {
    for (const kind of kinds) {
      const next = await nextNumber(tx, kind)
      if (next < number) await nextNumber(tx, kind, number - 1 - next)
    }
  })
}

/** An id of the same kind that never was. */
export const neverWas = (id: string): string => `${id[0]}${NEVER}`

const hiddenWorlds = worldsAfter(hideEverything)

/** A world of its own in which everything is hidden from the narrowed one. */
export async function newHiddenWorld(): Promise<HiddenWorld> {
  const { world, made } = await hiddenWorlds()
  return { world, narrow: await world.holderOf(made.token), hidden: made.hidden }
}
