import { readNarrowing } from '../model/narrowing.ts'
import { TOOL_NAMES, toolNamed, WRITE_TOOLS } from './effects.ts'

/** A day's work on tasks: nothing destructive, nothing outside, so that a host may run the whole preset unasked. */
const WORKER = [
  'get_me',
  'get_digest',
  'list_my_tasks',
  'get_next_task',
  'get_task',
  'get_full_text',
  'get_question',
  'search',
  'mark_notifications_read',
  'start_run',
  'log_run_event',
  'heartbeat_run',
  'finish_run',
  'release_task',
  'decompose_task',
  'set_step_status',
  'comment_on_task',
  'attach_artifact',
  'ask_question',
  'block_task',
  'unblock_task',
  'complete_task',
  'create_task',
]

/** Setting up and tending a plan for others. */
const PLANNER = [
  'get_me',
  'get_digest',
  'list_activity',
  'search',
  'list_my_tasks',
  'list_tasks',
  'count_tasks',
  'get_task',
  'get_full_text',
  'get_task_history',
  'list_dependencies',
  'list_comments',
  'list_projects',
  'get_project',
  'get_project_progress',
  'fleet_status',
  'list_members',
  'list_approvals',
  'get_question',
  'list_labels',
  'list_views',
  'get_agenda',
  'mark_notifications_read',
  'create_task',
  'create_tasks',
  'update_task',
  'update_tasks',
  'merge_tasks',
  'set_recurrence',
  'complete_task',
  'cancel_task',
  'reopen_task',
  'block_task',
  'unblock_task',
  'delete_task',
  'restore_from_trash',
  'decompose_task',
  'add_step',
  'update_step',
  'reorder_steps',
  'comment_on_task',
  'ask_question',
  'create_project',
  'update_project',
  'label_task',
  'unlabel_task',
  'update_label',
  'add_dependency',
  'remove_dependency',
  'save_view',
]

/** Fixed sets of tools. A preset only narrows, is enforced in calls as well as in the list, and can be combined. */
export const PRESETS: Readonly<Record<string, (name: string) => boolean>> = {
  all: () => true,
  reader: (name) => !WRITE_TOOLS.has(name),
  worker: (name) => WORKER.includes(name),
  planner: (name) => PLANNER.includes(name),
}

const TOOLSETS = new Set(TOOL_NAMES.map((name) => toolNamed(name)!.toolset as string))

/** What a narrowing can name: a preset, or a toolset of the catalogue. */
export const NARROWINGS: readonly string[] = [...Object.keys(PRESETS), ...TOOLSETS]

/** Reads `worker,planner` as it stands in an address or after `--tools`. Throws on an unknown name. */
export function readPresets(text: string | null | undefined): string[] | undefined {
  return readNarrowing(text, NARROWINGS)
}

/** Whether a tool is in any of the presets or toolsets named; all of them where none is. */
export function narrow(names: readonly string[] | undefined): (tool: string) => boolean {
  if (names === undefined) return () => true
  return (tool) => names.some((name) => PRESETS[name]?.(tool) ?? toolNamed(tool)?.toolset === name)
}
