/**
 * Reads a plan in the form of Task Master's `tasks.json`, so that the demo starts from a file people already have and
 * can be pointed at one of their own.
 */
import { z } from 'zod'
import { invalid } from '../src/model/error.ts'

/** One task of a plan, in the shape `create_tasks` takes. */
export interface PlanTask {
  /** Names the task within the plan, as `depends_on` of the others does. */
  ref: string
  title: string
  /** Markdown: the description, then the details and the test strategy under headings of their own. */
  description: string
  priority: 'high' | 'normal' | 'low'
  depends_on: string[]
  /** The subtasks, in an order in which they can be done. */
  steps: string[]
}

const PRIORITIES = { high: 'high', medium: 'normal', low: 'low' } as const

/** Ids are numbers in most files and strings of digits in some; a subtask is also named `task.subtask`. */
const ID_FORM = 'should be a number such as 7, or "7.2" for a subtask'
const Id = z
  .union([z.number(), z.string()], ID_FORM)
  .transform(String)
  .pipe(z.string().regex(/^[1-9]\d*(\.[1-9]\d*)?$/, ID_FORM))
const Title = z.string().trim().min(1, 'should not be empty').max(500, 'should have at most 500 characters')
const Ids = z.array(Id).default([])

const Subtask = z.object({ id: Id, title: Title, description: z.string().default(''), dependencies: Ids })
const Task = z.object({
  id: Id,
  title: Title,
  description: z.string().default(''),
  details: z.string().default(''),
  testStrategy: z.string().default(''),
  priority: z.enum(['high', 'medium', 'low']).default('medium'),
  dependencies: Ids,
  subtasks: z.array(Subtask).default([]),
})
const Tasks = z.object({ tasks: z.array(Task) })

/**
 * The tasks of a plan in an order in which each comes after all that it depends on; otherwise as they stand in the
 * file. Both forms are read: `{ "<tag>": { "tasks": [...] } }`, where `master` goes before other tags, and the older
 * `{ "tasks": [...] }`. Status is not taken over: a plan says what is to be done.
 *
 * @throws AppError `invalid_value` with the place of each fault, for ids that are not there, and for circles
 */
export function readPlan(json: unknown): PlanTask[] {
  const { path, value } = untagged(json)
  const parsed = Tasks.safeParse(value)
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${place([...path, ...issue.path])}: ${issue.message}`)
    const more = faults.length > 5 ? ` (and ${faults.length - 5} more)` : ''
    throw invalid(`The plan can't be read. ${faults.slice(0, 5).join('; ')}${more}.`)
  }
  const at = place([...path, 'tasks'])
  return inOrder(parsed.data.tasks, at, 'task').map((task) => ({
    ref: refOf(task.id),
    title: task.title,
    description: described(task),
    priority: PRIORITIES[task.priority],
    depends_on: [...new Set(task.dependencies)].map(refOf),
    steps: stepsOf(task, at),
  }))
}

/** The part that holds the tasks, and where in the file it stands. */
function untagged(json: unknown): { path: string[]; value: unknown } {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) {
    throw invalid('A plan is an object with "tasks", or with a tag such as "master" that has "tasks".')
  }
  if ('tasks' in json && Array.isArray(json.tasks)) return { path: [], value: json }
  const tags = Object.entries(json).filter(([, tag]) => typeof tag === 'object' && tag && 'tasks' in tag)
  const chosen = tags.find(([tag]) => tag === 'master') ?? (tags.length === 1 ? tags[0] : undefined)
  if (chosen) return { path: [chosen[0]], value: chosen[1] }
  if (tags.length === 0) return { path: [], value: json } // the schema says what is missing
  const allowed = tags.map(([tag]) => tag)
  throw invalid(`The plan has several tags and none is "master": ${allowed.join(', ')}.`, {
    allowed,
    next: 'Keep one of them in the file.',
  })
}

/** A path as a person would look for it: `master.tasks[3].title`. */
function place(path: readonly PropertyKey[]): string {
  const steps = path.map((key) => (typeof key === 'number' ? `[${key}]` : `.${String(key)}`))
  return steps.join('').replace(/^\./, '') || 'the top'
}

/**
 * Each item after all that it depends on, and apart from that in the order given. The walk goes depth first, so that
 * a circle is met with the path to it in hand.
 */
function inOrder<T extends { id: string; title: string; dependencies: string[] }>(
  items: T[],
  at: string,
  what: string,
): T[] {
  const known = new Map<string, T>()
  for (const item of items) {
    if (known.has(item.id)) throw invalid(`${at}: two of them have the id ${item.id}.`)
    known.set(item.id, item)
  }
  const ordered = new Set<T>()
  const visit = (item: T, way: T[]) => {
    if (ordered.has(item)) return
    if (way.includes(item)) {
      const circle = [...way.slice(way.indexOf(item)), item].map(({ id }) => id)
      throw invalid(`${at}: ${what} ${item.id} waits for itself: ${circle.join(' -> ')}.`, {
        next: 'Take one of these dependencies out.',
      })
    }
    for (const id of item.dependencies) {
      const before = known.get(id)
      if (!before) {
        throw invalid(`${at}: ${what} ${item.id} ("${item.title}") depends on ${id}, which is not there.`, {
          allowed: [...known.keys()],
        })
      }
      visit(before, [...way, item])
    }
    ordered.add(item)
  }
  for (const item of items) visit(item, [])
  return [...ordered]
}

/** Not the bare number: that could be read as the id of a task that is there already. */
function refOf(id: string): string {
  return `plan-${id}`
}

function described(task: z.infer<typeof Task>): string {
  const parts = [task.description.trim()]
  if (task.details.trim()) parts.push(`## Details\n\n${task.details.trim()}`)
  if (task.testStrategy.trim()) parts.push(`## How it is tested\n\n${task.testStrategy.trim()}`)
  return parts.filter(Boolean).join('\n\n')
}

/** Subtasks name each other as `2` or `7.2`; both mean the second subtask of task 7 here. */
function stepsOf(task: z.infer<typeof Task>, at: string): string[] {
  const within = (id: string) => (id.startsWith(`${task.id}.`) ? id.slice(task.id.length + 1) : id)
  const subtasks = task.subtasks.map((subtask) => ({
    ...subtask,
    id: within(subtask.id),
    dependencies: subtask.dependencies.map(within),
  }))
  return inOrder(subtasks, `${at}, task ${task.id}`, 'subtask').map(({ title, description }) => {
    const whole = description.trim() ? `${title}: ${description.trim()}` : title
    return whole.length <= 500 ? whole : `${whole.slice(0, 499).replace(/\p{Cs}$/u, '')}…` // as much as a step holds
  })
}
