import type { RecordedChange } from '../store/sign-off.ts'

/** What changed of one field or part from the first to the last of some events, and by whom. */
export interface NetChange {
  /** `title`, `due` …, or the part: `step S4`, `steps`, `evidence`. */
  field: string
  was?: unknown
  now?: unknown
  /** Public ids of everybody who had a hand in it. */
  by: string[]
  at: number
}

/** Tools whose steps belong to the task as it was made. */
const MAKERS = new Set(['create_task', 'create_tasks'])

/**
 * What is different, of all that happened: a value that was changed and changed back is no change. `titles` are those
 * of the task's steps and evidence as they are now, by public id.
 */
export function netChanges(
  events: readonly RecordedChange[],
  titles: ReadonlyMap<string, string>,
): NetChange[] {
  const net = new Map<string, NetChange>()
  for (const event of events) {
    for (const [field, was, now] of partsOf(event, titles)) {
      const found = net.get(field)
      if (!found) net.set(field, { field, was, now, by: [event.by], at: event.at })
      else {
        if (!found.by.includes(event.by)) found.by.push(event.by)
        Object.assign(found, { now, at: event.at })
      }
    }
  }
  return [...net.values()].filter(
    ({ was, now }) => JSON.stringify(was ?? null) !== JSON.stringify(now ?? null),
  )
}

/** The fields that one event tells of: name, before, after. */
function partsOf(event: RecordedChange, titles: ReadonlyMap<string, string>): [string, unknown, unknown][] {
  const object = event.object ?? ''
  switch (event.kind) {
    case 'updated':
    case 'labelled':
    case 'unlabelled':
      return Object.entries(event.changes).map(([field, [was, now]]) => [field, was, now])
    case 'step_added':
      // Steps that were there from the start are no change, and those that went again leave nothing.
      if (MAKERS.has(event.tool) || !titles.has(object)) return []
      return [[`step ${object}`, null, titles.get(object)]]
    case 'step_updated':
      return Object.entries(event.changes)
        .filter(([field]) => field !== 'status')
        .map(([field, [was, now]]) => [`step ${object}${field === 'title' ? '' : ` ${field}`}`, was, now])
    case 'step_moved':
      return Object.entries(event.changes).map(([field, [was, now]]) => [`${field} of steps`, was, now])
    case 'trashed':
      return /^[SF]\d/.test(object) ? [[`${partName(object)} ${object}`, event.title ?? object, null]] : []
    case 'restored':
      return /^[SF]\d/.test(object) ? [[`${partName(object)} ${object}`, null, event.title ?? object]] : []
    case 'merged':
      return [['merged from', null, object]]
    default:
      return titles.has(object) ? [[`evidence ${object}`, null, titles.get(object)]] : []
  }
}

const partName = (object: string): string => (object.startsWith('S') ? 'step' : 'evidence')
