import { type SqlBool, sql } from 'kysely'
import type { ActorId } from '../model/actor.ts'
import { AppError } from '../model/error.ts'
import { formatId } from '../model/id.ts'
import { accountOf } from './account.ts'
import { partyNames } from './actor.ts'
import { storedTask } from './content.ts'
import { type ReadTx, readQuery, type WriteTx, writeQuery } from './handle.ts'
import type { Row } from './tables.ts'

/** Whoever works on a task now. A lapsed lease counts as free at once, before the sweep has written it down. */
export function holderOf(task: Row<'tasks'>, now: number): ActorId | undefined {
  return task.claimed_by !== null && task.claim_until! > now ? task.claimed_by : undefined
}

/** A task's status as readers see it: one whose lease has lapsed is open again. */
export function statusOf(task: Row<'tasks'>, now: number): Row<'tasks'>['status'] {
  return task.status === 'in_progress' && holderOf(task, now) === undefined ? 'open' : task.status
}

/** Refuses where another agent holds a live claim, naming who, since when and until when. */
export async function refuseIfHeld(tx: ReadTx, task: Row<'tasks'>): Promise<void> {
  const holder = holderOf(task, tx.now)
  if (!holder || holder === tx.actor.id || tx.actor.kind === 'person') return
  throw await alreadyClaimed(tx, task)
}

/** The refusal of a task that somebody else holds. */
export async function alreadyClaimed(tx: ReadTx, task: Row<'tasks'>): Promise<AppError> {
  const holder = (await partyNames(tx))(task.claimed_by)
  const since = new Date(task.claimed_at!).toISOString()
  const until = new Date(task.claim_until!).toISOString()
  const id = formatId('task', task.id)
  return new AppError('already_claimed', `${id} is held by ${holder} since ${since}, until ${until}.`, {
    written: false,
    retry: false,
    current: { id, holder, since, until },
    next:
      tx.actor.kind === 'person'
        ? 'A person may take it away first: release_task.'
        : 'Take another task: get_next_task. After the lease has lapsed the task is free.',
  })
}

/** A claim as it was taken. */
export interface Claim {
  until: number
  /** Whose lapsed claim it replaced before the sweep wrote that down. */
  lapsed?: ActorId
}

const claimIfFree = writeQuery(
  (db, p: { account: number; task: number; by: ActorId; now: number; until: number }) =>
    db
      .updateTable('tasks')
      .set({ status: 'in_progress', claimed_by: p.by, claimed_at: p.now, claim_until: p.until })
      .where('account', '=', p.account)
      .where('id', '=', p.task)
      .where('status', 'in', ['open', 'in_progress'])
      .where((eb) => eb.or([eb('claimed_by', 'is', null), eb('claim_until', '<=', p.now)])),
)

/**
 * Takes the claim by one conditional update, so that of any number of callers exactly one wins. Throws
 * `already_claimed` for the others.
 */
export async function takeClaim(tx: WriteTx, task: Row<'tasks'>): Promise<Claim> {
  const { lease_ms } = await accountOf(tx)
  const until = tx.now + lease_ms
  const { affected } = await claimIfFree(tx, {
    account: tx.account,
    task: task.id,
    by: tx.actor.id as ActorId,
    now: tx.now,
    until,
  })
  if (affected === 0) throw await alreadyClaimed(tx, await storedTask(tx, task.id))
  const former = task.claimed_by
  return former === null || former === tx.actor.id ? { until } : { until, lapsed: former }
}

/** The columns of a task that nobody works on. */
export const FREE = { claimed_by: null, claimed_at: null, claim_until: null } as const

interface Worked {
  account: number
  actor: ActorId
  /** As JSON. */
  tasks: string
  now: number
}

/** The account's lease, and whether the caller holds any of the tasks or has an open run there; mostly it has neither. */
const leaseAndWork = readQuery((db, p: Worked, dialect) =>
  db
    .selectFrom('accounts')
    .select((eb) => [
      'lease_ms',
      eb
        .exists(
          eb
            .selectFrom('tasks')
            .select('id')
            .where('account', '=', p.account)
            .where('id', 'in', dialect.numbers(p.tasks))
            .where(isHolder(p)),
        )
        .as('holds'),
      eb
        .exists(
          eb
            .selectFrom('runs')
            .select('id')
            .where('account', '=', p.account)
            .where('task', 'in', dialect.numbers(p.tasks))
            .where('ended_at', 'is', null)
            .where(isAgent(p)),
        )
        .as('runs'),
    ])
    .where('accounts.id', '=', p.account),
)

interface SignOfLife extends Worked {
  until: number
}

const extendClaims = writeQuery((db, p: SignOfLife, dialect) =>
  db
    .updateTable('tasks')
    // Never shorter: a task that is held for a person's answer keeps its longer lease (question.ts).
    .set({ claim_until: later('claim_until', p.until) })
    .where('account', '=', p.account)
    .where('id', 'in', dialect.numbers(p.tasks))
    .where(isHolder(p))
    .returning('id'),
)

const noteSigns = writeQuery((db, p: SignOfLife, dialect) =>
  db
    .updateTable('runs')
    .set({ last_sign_at: p.now, signs: 1 })
    .where('account', '=', p.account)
    .where('task', 'in', dialect.numbers(p.tasks))
    .where('ended_at', 'is', null)
    .where(isAgent(p))
    .where('started_at', '<', p.now),
)

const extendRuns = writeQuery((db, p: SignOfLife, dialect) =>
  db
    .updateTable('runs')
    .set({ lease_until: later('lease_until', p.until) })
    .where('account', '=', p.account)
    .where('task', 'in', dialect.numbers(p.tasks))
    .where('ended_at', 'is', null)
    .where(isAgent(p)),
)

/**
 * A sign of life: the caller's live leases on these tasks last a full lease from now, or longer where they did already, and
 * so do its open runs there. A run whose claim is lost only notes the sign: its task is free, or somebody else's. Called
 * after every write that changed something on them.
 */
export async function extendLeases(tx: WriteTx, tasks: readonly number[]): Promise<void> {
  if (tx.actor.kind === 'system' || tasks.length === 0) return
  const worked = { account: tx.account, actor: tx.actor.id, tasks: JSON.stringify(tasks), now: tx.now }
  const [found] = await leaseAndWork(tx, worked)
  const { lease_ms, holds, runs } = found!
  const sign = { ...worked, until: tx.now + lease_ms }
  const held = holds ? (await extendClaims(tx, sign)).rows : []
  if (!runs) return
  await noteSigns(tx, sign)
  if (held.length > 0) await extendRuns(tx, { ...sign, tasks: JSON.stringify(held.map((task) => task.id)) })
}

// In a CASE, so that both engines begin with the tasks at hand, which are few: an agent can have thousands of claims.

function isHolder({ actor, now }: Worked) {
  return sql<SqlBool>`CASE WHEN claimed_by = ${actor} AND claim_until > ${now} THEN 1 ELSE 0 END = 1`
}

function isAgent({ actor }: Worked) {
  return sql<SqlBool>`CASE WHEN agent = ${actor} THEN 1 ELSE 0 END = 1`
}

/** A lease that is held for an answer lasts longer than a sign of life would make it. */
function later(column: 'claim_until' | 'lease_until', until: number) {
  return sql<number>`CASE WHEN ${sql.ref(column)} > ${until} THEN ${sql.ref(column)} ELSE ${until} END`
}
