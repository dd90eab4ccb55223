import { anaConnects } from './people.ts'
import { type World, worldsAfter } from './world.ts'

/**
 * The sample account, on which every tool's example works: a project with a task in every state, and one of each thing that
 * a tool can name.
 */
export async function sampleWorld(): Promise<World> {
  const { world } = await sampleWorlds()
  // A folder of each one's own, since what is saved there is not in the data.
  await anaConnects(world, 'notes', { 'brief.md': '# Brief\n\nThe site must load in a second.' })
  return world
}

const sampleWorlds = worldsAfter(async ({ scout, builder, ana, autoOk }) => {
  await scout.call('create_project', { name: 'Website', description: 'The new site.' })
  await scout.call('create_project', { name: 'The old site' })
  await scout.call('create_label', { name: 'ops' })
  await scout.call('create_label', { name: 'web' })
  await scout.call('create_tasks', {
    project_id: 'P1',
    tasks: [
      {
        title: 'Rotate the staging certificate',
        description: 'It expires on Friday.',
        scheduled: '2026-12-01',
        steps: [{ title: 'Order it' }, { title: 'Install it' }],
      },
      { title: 'Move the mailing list', labels: ['ops'] },
      { title: 'Announce the move', depends_on: ['T1'] },
      { title: 'Write the imprint' },
      { title: 'Choose a host' },
      { title: 'Water the plants' },
      { title: 'A mistake' },
      { title: 'Register the domain' },
      { title: 'Check the links' },
      { title: 'check the links' },
    ],
  })
  await scout.call('comment_on_task', { task_id: 'T2', text: 'Export done, 412 addresses.' })
  await builder.call('comment_on_task', { task_id: 'T2', text: '@scout Thank you.' })
  await scout.call('start_run', { task_id: 'T2', goal: 'All subscribers moved.' })
  await scout.call('attach_artifact', { task_id: 'T2', title: 'The export', text: 'address,since' })
  await scout.call('log_run_event', { run_id: 'R1', kind: 'progress', text: 'Half of them imported.' })
  await builder.call('complete_task', { id: 'T4', summary: 'Written and checked.' })
  await builder.call('block_task', { id: 'T5', reason: 'Two offers are missing.' })
  await autoOk('T6')
  await scout.call('delete_task', { id: 'T7' })
  await ana.call('complete_task', { id: 'T8' })
  await scout.call('ask_question', {
    text: 'May I delete the old list?',
    task_id: 'T2',
    choices: ['Yes', 'No'],
  })
  await scout.call('save_view', { name: 'This week', filter: { due_before: 'next monday' } })
  await scout.call('link_calendar_event', { task_id: 'T1', uid: 'kickoff@example.org', title: 'Kick-off' })
})
