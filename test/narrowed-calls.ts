import { toolNamed } from '../src/tools/effects.ts'
import { schemaOf } from '../src/tools/parse.ts'

type Input = Record<string, unknown>

/** Tasks of P1 at which the two sides touch. */
const TOUCHING = ['T1', 'T2', 'T3', 'T5', 'T9', 'T10', 'T11', 'T12', 'T13', 'T9000', 'T9001']

/** Calls of a tool as they are made in sight of P1: its example, and the same with each other argument that takes an id. */
export function callsOf(name: string): Input[] {
  const tool = toolNamed(name)!
  const known = schemaOf(tool).properties ?? {}
  const more = Object.entries(OTHERS).filter(([argument]) => argument in known)
  const others = more.map(([argument, value]) => ({ ...tool.example, [argument]: value }))
  return [tool.example, ...others, ...(LOOKS[name] ?? [])]
}

/** Arguments that take ids, whatever tool has them. */
const OTHERS: Input = {
  id: 'T1',
  task_id: 'T1',
  project_id: 'P1',
  parent_id: 'T1',
  ids: ['T1'],
  depends_on: ['T1'],
  run_id: 'R1',
  after: 'S1',
  reply_to: 'C1',
  by: 'T1',
  scope: 'P1',
  filter: { project_id: 'P1', parent_id: 'T1' },
  patch: { project_id: 'P1', parent_id: 'T1' },
  updates: [{ id: 'T1', project_id: 'P1', parent_id: 'T1' }],
  limit: 100,
}

/** What a curious caller would look at besides. */
const LOOKS: Record<string, readonly Input[]> = {
  get_task: TOUCHING.map((id) => ({ id })),
  get_task_history: TOUCHING.map((id) => ({ id, limit: 100 })),
  list_dependencies: TOUCHING.map((id) => ({ id })),
  list_comments: [{ task_id: 'T10' }],
  list_tasks: [{}, { detail: 'detailed', limit: 100, include_closed: true }, { view: 'canary view' }],
  count_tasks: ['status', 'project', 'assignee', 'claim', 'label', 'due_day'].map((group_by) => ({
    group_by,
    filter: { include_closed: true },
  })),
  list_my_tasks: [{ detail: 'detailed', limit: 100 }],
  get_next_task: [{}],
  list_activity: [{ limit: 100 }, { limit: 100, until: 'yesterday' }],
  list_notifications: [{ limit: 100 }],
  list_trash: [{ limit: 100 }],
  list_runs: [{ limit: 100 }],
  list_approvals: [{ limit: 100 }],
  list_questions: [{ limit: 100 }],
  list_calendar_links: [{ limit: 100 }],
  list_projects: [{ include_archived: true, limit: 100 }],
  fleet_status: [{ limit: 100 }],
  get_digest: [{}, { scope: 'account' }, { scope: 'account', since: '2026-11-01' }, { scope: 'canary plan' }],
  get_agenda: [{}, { for: 'builder' }],
  search: [{ query: 'canar' }, { query: 'said' }],
  get_full_text: [
    { id: 'C9000' },
    ...['summary', 'reason', 'note', 'steps', 'artifacts'].flatMap((part) =>
      TOUCHING.map((id) => ({ id, part })),
    ),
  ],
  claim_task: TOUCHING.map((id) => ({ id })),
  start_run: [...TOUCHING.map((task_id) => ({ task_id })), { task_id: 'T1', idempotency_key: 'wide' }],
  complete_task: TOUCHING.map((id) => ({ id })),
  cancel_task: TOUCHING.map((id) => ({ id, reason: 'No.' })),
  reopen_task: TOUCHING.map((id) => ({ id })),
  block_task: [
    { id: 'T5', by: 'T2' },
    { id: 'T2', by: 'T9' },
  ],
  unblock_task: [{ id: 'T5' }],
  add_step: [{ task_id: 'T13', title: 'One more' }],
  add_dependency: [{ id: 'T2', depends_on: ['T9'] }],
  remove_dependency: [{ id: 'T1', depends_on: ['T2'] }],
  update_task: [
    { id: 'T2', parent_id: 'T3' },
    { id: 'T2', parent_id: 'T9' },
    { id: 'T3', parent_id: null },
    { id: 'T3', title: 'Another' },
    { id: 'T2', project_id: null },
    { id: 'T2', title: 'Another', expected_version: 1 },
  ],
  merge_tasks: ['T1', 'T3', 'T5', 'T9', 'T10'].map((id) => ({ id: 'T2', duplicates: [id] })),
  delete_task: TOUCHING.map((id) => ({ id })),
  restore_from_trash: ['T12', 'T9001', 'gone', 'canary gone', 'canary view', 'X1'].map((id) => ({
    ids: [id],
  })),
  update_label: [
    { name: 'shared', color: 'red' },
    { name: 'ops', new_name: 'shared', color: 'red' },
  ],
  delete_label: [{ name: 'shared' }],
  create_label: [{ name: 'gone' }],
  update_project: [{ id: 'P1', name: 'canary plan' }],
  create_project: [{ name: 'canary plan' }],
  save_view: [
    { name: 'canary view', filter: {} },
    { name: 'canary gone', filter: {} },
  ],
  delete_view: [{ name: 'canary view' }, { name: 'canary gone' }],
}
