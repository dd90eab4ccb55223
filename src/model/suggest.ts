/** Words that mean an argument of ours in other products, so that an error can name the right one by meaning. */
const MEANINGS: Record<string, readonly string[]> = {
  text: ['body', 'content', 'comment', 'message', 'markdown', 'note'],
  due: ['deadline', 'due_date', 'dueDate', 'due_on', 'due_at', 'date'],
  labels: ['tags', 'tag', 'label', 'categories'],
  title: ['name', 'summary', 'subject', 'content', 'task'],
  name: ['title'],
  description: ['body', 'details', 'notes', 'content', 'desc', 'text'],
  assignee: ['owner', 'assigned_to', 'assign_to', 'assignee_id', 'user', 'assignees'],
  priority: ['importance', 'prio', 'urgency'],
  depends_on: ['dependencies', 'blocked_by', 'blockers', 'requires', 'waits_for'],
  project_id: ['project', 'list', 'board', 'workspace'],
  parent_id: ['parent', 'parent_task', 'epic'],
  estimate: ['duration', 'points', 'effort', 'estimate_minutes'],
  scheduled: ['start', 'start_date', 'scheduled_for', 'defer'],
  query: ['q', 'text', 'search', 'term', 'keywords'],
  limit: ['per_page', 'page_size', 'count', 'first', 'max_results'],
  cursor: ['page', 'after', 'next', 'page_token', 'nextCursor', 'offset'],
  reason: ['note', 'comment', 'why', 'message', 'text'],
  summary: ['result', 'note', 'message', 'comment', 'outcome', 'reason'],
  idempotency_key: ['key', 'request_id', 'idempotencyKey', 'client_token'],
  expected_version: ['version', 'if_match', 'etag', 'revision', 'expected_updated_at'],
  id: ['ids'],
  ids: ['id', 'task_ids', 'tasks'],
  task_id: ['task', 'id', 'issue_id'],
  outcome: ['state', 'status', 'result'],
  recurrence: ['repeat', 'rrule', 'repeats', 'recurring', 'rule'],
  rule: ['recurrence', 'rrule', 'repeat'],
  steps: ['checklist', 'todos', 'plan', 'items', 'subtasks'],
}

/** Arguments that no tool has because something else does their work. */
const ELSEWHERE = new Map(
  Object.entries({
    status:
      'Status moves by its verbs: start_run, complete_task, cancel_task, reopen_task, block_task, unblock_task, claim_task, release_task.',
    state: 'Status moves by its verbs: start_run, complete_task, cancel_task, reopen_task, block_task.',
    done: 'Use complete_task.',
    completed: 'Use complete_task.',
    auto_ok:
      'Only a person can raise auto-OK, on the task’s page. Complete the task: it then waits for sign-off.',
    second_person: 'Only a person says whether a second one signs off in a project. No argument does.',
    auto_ok_default: 'Only a person sets what a project’s new tasks need. No argument does.',
    approved: 'Only a person signs off, on the page that complete_task names. No argument approves.',
    approver: 'The approver is the person who signs off on the page. No argument names one.',
    confirm: 'No call needs confirming and none can be forced.',
    force: 'No call can be forced. The error says what stands in the way.',
    skip_approval: 'Approval can’t be skipped. complete_task asks for it.',
    actor: 'The caller is who the credential says. No argument changes it.',
    constructor: 'No argument reaches into the program.',
    prototype: 'No argument reaches into the program.',
    ['__proto__']: 'No argument reaches into the program.',
  }),
)

/** Arguments whose work another tool does. */
const BY_ANOTHER_TOOL = new Map(
  Object.entries({
    depends_on: 'add_dependency and remove_dependency change what a task waits for.',
    recurrence: 'set_recurrence sets and clears a rule.',
    steps: 'add_step, update_step, reorder_steps and delete_step change a plan.',
    parent: 'Give parent_id.',
    comment: 'comment_on_task adds a comment.',
  }),
)

/**
 * What to say of an argument that a tool does not have: the near names and, where there is one, the way. `gate` where it
 * would have been a way round the approval gate.
 */
export function explainUnknown(
  argument: string,
  known: readonly string[],
): { near: string[]; next: string | undefined; gate: true | undefined } {
  const byMeaning = known.filter((name) => MEANINGS[name]?.includes(argument))
  const near = byMeaning.length > 0 ? byMeaning : nearest(argument, known)
  const gate = ELSEWHERE.get(argument)
  return { near, next: gate ?? BY_ANOTHER_TOOL.get(argument), gate: gate === undefined ? undefined : true }
}

/** Up to three of `names` that a reader could have meant by `text`, best first. */
export function nearest(text: string, names: readonly string[]): string[] {
  const wanted = fold(text)
  return names
    .map((name) => ({ name, distance: distance(wanted, fold(name)) }))
    .filter(({ name, distance }) => distance <= Math.max(2, Math.floor(name.length / 3)))
    .sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name))
    .slice(0, 3)
    .map(({ name }) => name)
}

/** Letters that differ from others only by a stroke or by their place, and that no normal form takes apart. */
const PLAIN: Record<string, string> = {
  ß: 'ss',
  ς: 'σ',
  ø: 'o',
  ł: 'l',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  æ: 'ae',
  œ: 'oe',
}

/** A text without case and accents: how names are compared and words are found. */
export function fold(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .normalize('NFC')
    .replace(/[ßςøłđħıæœ]/g, (letter) => PLAIN[letter]!)
}

/** Levenshtein distance; a name that begins with or contains the text counts as near. */
function distance(a: string, b: string): number {
  if (a && (b.startsWith(a) || b.includes(a))) return 1
  let previous = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const row = [i]
    for (let j = 1; j <= b.length; j++) {
      row[j] = Math.min(previous[j]! + 1, row[j - 1]! + 1, previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    }
    previous = row
  }
  return previous[b.length]!
}
