import { CONTENT_TABLES } from './tables.ts'

/**
 * The rules that stand in the database itself, so that a fault in the code, or a statement run with our own handle,
 * cannot break them. They ask three functions: `done_actor()` (kind of the acting credential), `done_effect()` (write or
 * destroy) and `done_tx()` (this transaction). On SQLite only our writer defines them, one job at a time, so that a plain
 * shell has none and its writes to guarded tables fail; on PostgreSQL the acting kind is the role that is connected.
 */
export interface Rule {
  /** The trigger's name. */
  name: string
  on: 'INSERT' | 'UPDATE' | 'DELETE'
  table: string
  /** An update of these columns only. */
  of?: string | undefined
  /** What is refused, over NEW and OLD: SQL that both engines read, after {@link asPostgres} where it is PostgreSQL. */
  when: string
  why: string
}

/** All of them. */
export const rules = (): Rule[] => [...gate(), ...log(), ...effects()]

/** SQLite's triggers for all rules, and those that tell every process that credentials have changed. */
export function triggers(): string[] {
  return [
    ...rules().map(
      ({ name, on, table, of, when, why }) =>
        `CREATE TRIGGER ${name} BEFORE ${on}${of ? ` OF ${of}` : ''} ON ${table} WHEN ${when} BEGIN SELECT RAISE(ABORT, '${why}'); END`,
    ),
    ...stamps(),
  ]
}

/** A rule's condition in PostgreSQL's words: columns are compared with nulls by another name there. */
export function asPostgres(when: string): string {
  return when
    .replace(/ IS NOT (?=OLD\.|NEW\.)/g, ' IS DISTINCT FROM ')
    .replace(/(OLD\.\w+) <> ''/g, "$1::text <> ''")
}

/** What the sign-off is bound to (gate G5), as far as it stands in the task's own row. */
const MEANING = [
  'title',
  'description',
  'project',
  'parent',
  'assignee',
  'due',
  'recurrence',
  'auto_ok',
] as const

const changed = (columns: readonly string[]): string =>
  `(${columns.map((column) => `NEW.${column} IS NOT OLD.${column}`).join(' OR ')})`

const refuse = (name: string, on: string, when: string, why: string): Rule => {
  const [, event, of, table] = /^(INSERT|UPDATE|DELETE)(?: OF (.*))? ON (\w+)$/.exec(on)!
  return { name, on: event as Rule['on'], of, table: table!, when, why }
}

const closed = (row: string): string => `${row}.status IN ('done', 'cancelled')`

/** The approval gate (spec: gate). Triggers compare columns; the store computes the hashes. */
function gate(): Rule[] {
  const notPerson = `done_actor() <> 'person'`
  const taskIsFrozen = (row: string) =>
    `EXISTS (SELECT 1 FROM tasks t WHERE t.account = ${row}.account AND t.id = ${row}.task AND ${closed('t')} AND t.auto_ok = 0)`
  return [
    refuse(
      'gate_task_is_new',
      'INSERT ON tasks',
      `NEW.status <> 'open' OR NEW.content_version < 1 OR NEW.content_hash = ''`,
      'gate: a new task is open and has a content hash',
    ),
    refuse(
      'gate_task_id_is_new',
      'INSERT ON tasks',
      `EXISTS (SELECT 1 FROM tasks t WHERE t.account = NEW.account AND t.id = NEW.id)`,
      'gate: an id is never used again',
    ),
    refuse(
      'gate_task_auto_ok_at_birth',
      'INSERT ON tasks',
      `NEW.auto_ok = 1 AND ${notPerson}
       AND NOT EXISTS (SELECT 1 FROM tasks t WHERE t.account = NEW.account AND t.id = NEW.succeeds AND t.auto_ok = 1)
       AND NOT EXISTS (SELECT 1 FROM projects p WHERE p.account = NEW.account AND p.id = NEW.project AND p.auto_ok_default = 1)`,
      'gate: only a person makes a task auto-OK',
    ),
    refuse(
      'gate_task_identity',
      'UPDATE OF account, id, succeeds, created_at, created_by ON tasks',
      changed(['account', 'id', 'succeeds', 'created_at', 'created_by']),
      'gate: a task keeps its identity',
    ),
    refuse(
      'gate_close',
      'UPDATE OF status ON tasks',
      `${closed('NEW')} AND NEW.status <> OLD.status AND (${closed('OLD')}
       OR ${changed([...MEANING, 'content_version', 'content_hash', 'trash'])}
       OR (OLD.auto_ok = 0 AND (${notPerson} OR NOT EXISTS (SELECT 1 FROM sign_offs s WHERE s.account = OLD.account AND s.task = OLD.id
         AND s.tx = done_tx() AND s.target = NEW.status AND s.content_version = OLD.content_version
         AND s.content_hash = OLD.content_hash))))`,
      'gate: a task that is not auto-OK closes only with a sign-off of exactly this content',
    ),
    refuse(
      'gate_auto_ok',
      'UPDATE OF auto_ok ON tasks',
      `NEW.auto_ok IS NOT OLD.auto_ok AND ((NEW.auto_ok > OLD.auto_ok AND ${notPerson}) OR ${closed('OLD')})`,
      'gate: only a person raises auto-OK, and never on a closed task',
    ),
    refuse(
      'gate_content_version',
      'UPDATE ON tasks',
      `NEW.content_version < OLD.content_version
       OR (NEW.content_version = OLD.content_version AND ${changed([...MEANING, 'content_hash'])})
       OR (NEW.content_version > OLD.content_version AND NEW.content_hash = OLD.content_hash)`,
      'gate: a change of meaning raises the content version and changes the hash',
    ),
    refuse(
      'gate_frozen',
      'UPDATE ON tasks',
      `${closed('OLD')} AND ${closed('NEW')} AND OLD.auto_ok = 0 AND ${notPerson}
       AND NEW.content_version <> OLD.content_version`,
      'gate: the content of a signed-off task is frozen',
    ),
    ...['steps', 'artifacts'].flatMap((table) => [
      refuse(
        `gate_${table}_insert`,
        `INSERT ON ${table}`,
        `${notPerson} AND ${taskIsFrozen('NEW')}`,
        'gate: the content of a signed-off task is frozen',
      ),
      refuse(
        `gate_${table}_update`,
        `UPDATE ON ${table}`,
        `${notPerson} AND ${taskIsFrozen('OLD')}`,
        'gate: the content of a signed-off task is frozen',
      ),
    ]),
    refuse('gate_bytes_update', 'UPDATE ON artifact_bytes', '1 = 1', 'gate: bytes are never changed'),
    refuse(
      'gate_sign_off_insert',
      'INSERT ON sign_offs',
      `${notPerson} OR NEW.tx <> done_tx() OR EXISTS (SELECT 1 FROM sign_offs s WHERE s.account = NEW.account AND s.id = NEW.id)`,
      'gate: only a person signs off',
    ),
    refuse('gate_sign_off_update', 'UPDATE ON sign_offs', '1 = 1', 'gate: a sign-off is never changed'),
    refuse('gate_sign_off_delete', 'DELETE ON sign_offs', '1 = 1', 'gate: a sign-off is never removed'),
    refuse(
      'gate_request_insert',
      'INSERT ON requests',
      `NEW.state <> 'pending'`,
      'gate: a new request is pending',
    ),
    refuse(
      'gate_request_decision',
      'UPDATE OF state ON requests',
      `NEW.state IS NOT OLD.state AND (OLD.state <> 'pending' OR (NEW.state IN ('approved', 'rejected') AND ${notPerson}))`,
      'gate: only a person decides a pending request',
    ),
    refuse(
      'gate_request_identity',
      'UPDATE ON requests',
      changed([
        'account',
        'id',
        'task',
        'target',
        'content_version',
        'content_hash',
        'former_status',
        'asked_by',
      ]),
      'gate: a request keeps what was asked',
    ),
    refuse(
      'gate_project_default_at_birth',
      'INSERT ON projects',
      `NEW.auto_ok_default = 1 AND ${notPerson}`,
      'gate: only a person sets a default of auto-OK',
    ),
    refuse(
      'gate_project_default',
      'UPDATE OF auto_ok_default ON projects',
      `NEW.auto_ok_default > OLD.auto_ok_default AND ${notPerson}`,
      'gate: only a person sets a default of auto-OK',
    ),
    refuse(
      'gate_project_second_person',
      'UPDATE OF second_person ON projects',
      `NEW.second_person IS NOT OLD.second_person AND ${notPerson}`,
      'gate: only a person says whether a second one signs off',
    ),
  ]
}

/** The log only grows, and so does what seals it. What stands in it changes where a person purges or redacts, and only then. */
function log(): Rule[] {
  const noPersonDestroys = `done_effect() <> 'destroy' OR done_actor() <> 'person'`
  return [
    refuse(
      'log_event_insert',
      'INSERT ON events',
      `EXISTS (SELECT 1 FROM events e WHERE e.account = NEW.account AND e.id = NEW.id)`,
      'log: the number of an event is never used again',
    ),
    refuse(
      'log_event_update',
      'UPDATE ON events',
      `${noPersonDestroys} OR ${changed(['account', 'id', 'at', 'actor', 'tool', 'kind', 'task', 'project'])}`,
      'log: an event stays as it is, but for words that a person takes out',
    ),
    refuse(
      'log_amendment_insert',
      'INSERT ON amendments',
      noPersonDestroys,
      'log: only a person takes words out',
    ),
    ...['events', 'seals', 'amendments'].flatMap((table) => [
      refuse(`log_${table}_delete`, `DELETE ON ${table}`, '1 = 1', 'log: nothing is ever removed from it'),
      ...(table === 'events'
        ? []
        : [
            refuse(
              `log_${table}_update`,
              `UPDATE ON ${table}`,
              '1 = 1',
              'log: what seals it is never changed',
            ),
          ]),
    ]),
  ]
}

/** Tables whose rows expire or are derived; everything else keeps its rows until a person purges. */
const EXPENDABLE = new Set(['replies', 'search_docs'])

/**
 * The promise of `destructiveHint: false`, kept by the database: unless the call was declared destructive, no authored
 * value that is not empty is replaced, no row is hidden and none is removed. Generated from the columns' roles.
 */
function effects(): Rule[] {
  return Object.entries(CONTENT_TABLES).flatMap(([table, columns]) => {
    const harms = Object.entries(columns).flatMap(([column, { role }]) => {
      if (role === 'authored')
        return [`(OLD.${column} IS NOT NULL AND OLD.${column} <> '' AND NEW.${column} IS NOT OLD.${column})`]
      if (role === 'hides') return [`(OLD.${column} IS NULL AND NEW.${column} IS NOT NULL)`]
      return []
    })
    const update =
      harms.length === 0
        ? []
        : [
            refuse(
              `effect_${table}_update`,
              `UPDATE ON ${table}`,
              `done_effect() <> 'destroy' AND (${harms.join(' OR ')})`,
              `effect: this call is not destructive and may not replace or hide ${table}`,
            ),
          ]
    const removal = EXPENDABLE.has(table)
      ? []
      : [
          refuse(
            `effect_${table}_delete`,
            `DELETE ON ${table}`,
            `done_effect() <> 'destroy' OR done_actor() <> 'person'`,
            'effect: only a person purges',
          ),
        ]
    return [...update, ...removal]
  })
}

/** What decides who a credential is and what it may do (auth/actor.ts). */
const JUDGED_BY = ['accounts', 'people', 'agents', 'tokens', 'grants', 'oauth_artifacts', 'sessions'] as const

/** Tells every process at once that what it remembers of credentials is out of date. */
function stamps(): string[] {
  return JUDGED_BY.flatMap((table) =>
    (['INSERT', 'UPDATE', 'DELETE'] as const).map(
      (change) =>
        `CREATE TRIGGER stamp_${table}_${change.toLowerCase()} AFTER ${change} ON ${table} BEGIN UPDATE installation SET credentials = credentials + 1; END`,
    ),
  )
}
