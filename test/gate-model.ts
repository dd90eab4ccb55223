/**
 * The gate as a model of its own, written from the contract and not from the code: one task with one
 * part that may close without a person, three actors, and what each command does to it. The random test compares the two after every command.
 */
export const ACTORS = ['scout', 'builder', 'ana'] as const
export type ActorName = (typeof ACTORS)[number]

export const COMMANDS = [
  'complete',
  'cancel',
  'request_approval',
  'reopen',
  'retitle',
  'delete',
  'restore',
  'claim',
  'release',
  'block',
  'unblock',
  'add_step',
  'approve',
  'approve_old_page',
  'reject',
  'raise_auto_ok',
  'lower_auto_ok',
  'open_page',
  'close_part',
  'reopen_part',
] as const
export type Command = (typeof COMMANDS)[number]

export interface ModelTask {
  status: 'open' | 'in_progress' | 'blocked' | 'awaiting_approval' | 'done' | 'cancelled'
  autoOk: boolean
  holder: ActorName | undefined
  pending: { by: ActorName; target: 'done' | 'cancelled'; wasBlocked: boolean } | undefined
  trashed: boolean
  /** Rises with every change of meaning; a page shows one of them. */
  meaning: number
  page: number | undefined
  /** Whether its one part, which is auto-OK, is closed. */
  partClosed: boolean
}

export const newTask = (): ModelTask => ({
  status: 'open',
  autoOk: false,
  holder: undefined,
  pending: undefined,
  trashed: false,
  meaning: 0,
  page: undefined,
  partClosed: true,
})

/** What a command leaves behind; undefined where it must be refused and leave everything as it was. */
export function apply(task: ModelTask, command: Command, by: ActorName): ModelTask | undefined {
  const person = by === 'ana'
  const closed = task.status === 'done' || task.status === 'cancelled'
  const heldByOther = !person && task.holder !== undefined && task.holder !== by
  if (command === 'restore') return { ...task, trashed: false }
  if (command === 'delete') return { ...task, trashed: true }
  if (command === 'open_page')
    return person && !task.trashed && task.pending ? { ...task, page: task.meaning } : task
  if (task.trashed) return undefined
  switch (command) {
    case 'complete':
      return finish(task, 'done', by, false)
    case 'cancel':
      return finish(task, 'cancelled', by, false)
    case 'request_approval':
      return finish(task, 'done', by, true)
    case 'reopen':
      if (task.pending)
        return person || task.pending.by === by ? { ...task, status: 'open', pending: undefined } : undefined
      if (closed) return { ...task, status: 'open', holder: undefined }
      return task.status === 'open' ? task : undefined
    case 'retitle': {
      if (!person && closed) return undefined
      const changed = changeMeaning(task, by)
      return changed && { ...changed, autoOk: person ? changed.autoOk : false }
    }
    case 'add_step':
      if (!person && closed && !task.autoOk) return undefined
      return changeMeaning(task, by)
    case 'claim':
      if (person || closed || task.pending || heldByOther || task.status === 'blocked') return undefined
      return { ...task, status: 'in_progress', holder: by }
    case 'release':
      if (heldByOther) return undefined
      return task.status === 'in_progress'
        ? { ...task, status: 'open', holder: undefined }
        : { ...task, holder: undefined }
    case 'block':
      if (closed || task.pending || heldByOther) return undefined
      return { ...task, status: 'blocked', holder: undefined }
    case 'unblock':
      if (task.pending?.wasBlocked) return undefined
      return task.status === 'blocked' ? { ...task, status: 'open' } : task
    case 'close_part':
      if (task.partClosed) return task
      return { ...task, partClosed: true, meaning: task.meaning + 1 }
    case 'reopen_part': {
      if (!task.partClosed) return task
      if (closed) return undefined
      const changed = changeMeaning(task, by)
      return changed && { ...changed, partClosed: false }
    }
    case 'approve':
      return person && task.pending ? { ...task, status: task.pending.target, pending: undefined } : undefined
    case 'approve_old_page':
      if (!person || !task.pending || task.page !== task.meaning) return undefined
      return { ...task, status: task.pending.target, pending: undefined }
    case 'reject':
      return person && task.pending ? back(task) : undefined
    case 'raise_auto_ok':
    case 'lower_auto_ok': {
      const value = command === 'raise_auto_ok'
      if (!person) return undefined
      if (task.autoOk === value) return task
      return closed ? undefined : { ...(changeMeaning(task, by) as ModelTask), autoOk: value }
    }
  }
}

/** An agent's finish waits for a person; a person's own closes, and so does an agent's where a person allowed it. */
function finish(
  task: ModelTask,
  target: 'done' | 'cancelled',
  by: ActorName,
  ask: boolean,
): ModelTask | undefined {
  if (task.status === target) return task
  if (task.status === 'done' || task.status === 'cancelled') return undefined
  const closes = !ask && (by === 'ana' || (task.autoOk && !task.pending))
  if (task.pending && !closes) return task.pending.target === target ? task : undefined
  if (by !== 'ana' && task.holder !== undefined && task.holder !== by) return undefined
  if (!task.partClosed) return undefined
  if (closes) return { ...task, status: target, holder: undefined, pending: undefined }
  return {
    ...task,
    status: 'awaiting_approval',
    holder: undefined,
    pending: { by, target, wasBlocked: task.status === 'blocked' },
  }
}

/** Voids a pending request, if who changes may void it. */
function changeMeaning(task: ModelTask, by: ActorName): ModelTask | undefined {
  if (task.pending && by !== 'ana' && task.pending.by !== by) return undefined
  const meaning = task.meaning + 1
  return task.pending ? { ...back(task), meaning } : { ...task, meaning }
}

function back(task: ModelTask): ModelTask {
  return { ...task, status: task.pending!.wasBlocked ? 'blocked' : 'open', pending: undefined }
}
