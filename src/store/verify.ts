import { timingSafeEqual } from 'node:crypto'
import type { ActorId } from '../model/actor.ts'
import { type Assertion, isSignedBy } from '../model/assertion.ts'
import { sealedText } from './approval.ts'
import { FREE } from './claim.ts'
import { contentHash } from './content.ts'
import { emit, type ReadTx, sealOf, sqlOf, type WriteTx } from './handle.ts'
import { notify } from './notification.ts'
import type { Row } from './tables.ts'
import { updateRow } from './task.ts'

/** How many closed tasks are looked at in one query. */
const CHUNK = 500

/** Numbers of all accounts of this installation. */
export async function accountNumbers(tx: ReadTx): Promise<number[]> {
  const rows = await sqlOf(tx).selectFrom('accounts').select('id').orderBy('id').execute()
  return rows.map(({ id }) => id)
}

/**
 * Closed tasks that needed a person and for which no sealed sign-off of their content stands: somebody wrote to the file
 * past the program (gate G8, way 28). Looks at every closed task of the account.
 */
export async function unsignedClosings(tx: ReadTx): Promise<Row<'tasks'>[]> {
  return (await checkClosings(tx)).unsigned
}

/** {@link unsignedClosings}, and how many closed tasks needed a person. */
export async function checkClosings(tx: ReadTx): Promise<{ gated: number; unsigned: Row<'tasks'>[] }> {
  const unsigned: Row<'tasks'>[] = []
  let gated = 0
  for (let after = 0; ; ) {
    const tasks = await sqlOf(tx)
      .selectFrom('tasks')
      .selectAll()
      .where('account', '=', tx.account)
      .where('id', '>', after)
      .where('status', 'in', ['done', 'cancelled'])
      .where('auto_ok', '=', 0)
      .orderBy('id')
      .limit(CHUNK)
      .execute()
    for (const task of tasks) if (!(await isSigned(tx, task))) unsigned.push(task)
    gated += tasks.length
    if (tasks.length < CHUNK) return { gated, unsigned }
    after = tasks.at(-1)!.id
  }
}

/**
 * Tasks of which the content is not what its hash says: it was altered past the program, and a sign-off would stand for what
 * nobody has seen. Reads every task with its parts, so it is for `donectl verify` and not for the start.
 */
export async function alteredContents(tx: ReadTx): Promise<Row<'tasks'>[]> {
  const altered: Row<'tasks'>[] = []
  for (let after = 0; ; ) {
    const tasks = await sqlOf(tx)
      .selectFrom('tasks')
      .selectAll()
      .where('account', '=', tx.account)
      .where('id', '>', after)
      .orderBy('id')
      .limit(CHUNK)
      .execute()
    for (const task of tasks) if ((await contentHash(tx, task)) !== task.content_hash) altered.push(task)
    if (tasks.length < CHUNK) return altered
    after = tasks.at(-1)!.id
  }
}

/** Puts such tasks back to open, so that a closing without a sign-off never stands, and tells their people. */
export async function reopenUnsigned(tx: WriteTx): Promise<number[]> {
  const unsigned = await unsignedClosings(tx)
  for (const task of unsigned) {
    await updateRow(tx, task.id, { status: 'open', closed_at: null, closed_by: null, ...FREE })
    const reason = 'It was closed in the file itself, without a sign-off that holds.'
    const event = await emit(tx, { kind: 'reopened', task: task.id, project: task.project, data: { reason } })
    const owners = await sqlOf(tx)
      .selectFrom('people')
      .select('id')
      .where('account', '=', tx.account)
      .where('role', '=', 'owner')
      .where('left_at', 'is', null)
      .execute()
    await notify(
      tx,
      [task.assignee, ...owners.map(({ id }): ActorId => `U${id}`)],
      'reopened',
      event,
      task.id,
    )
  }
  return unsigned.map(({ id }) => id)
}

/** A person may change a task after it closed; that it closed by a sign-off must still hold. */
async function isSigned(tx: ReadTx, task: Row<'tasks'>): Promise<boolean> {
  const signOffs = await sqlOf(tx)
    .selectFrom('sign_offs')
    .selectAll()
    .where('account', '=', tx.account)
    .where('task', '=', task.id)
    .where('target', '=', task.status as Row<'sign_offs'>['target'])
    .where('at', '=', task.closed_at ?? -1)
    .execute()
  for (const signOff of signOffs) {
    const { content_version: version, content_hash: hash } = signOff
    const same = version === task.content_version && hash === task.content_hash
    if (!same && task.changed_since_sign_off === 0) continue
    if (isSealed(tx, signOff) && (await isByPasskey(tx, signOff))) return true
  }
  return false
}

/** Whether a sign-off is as it was made, by this installation. */
export function isSealed(tx: ReadTx, signOff: Row<'sign_offs'>): boolean {
  const right = Buffer.from(sealOf(tx, sealedText(signOff)))
  const given = Buffer.from(signOff.seal)
  return given.length === right.length && timingSafeEqual(given, right)
}

/** Whether a passkey of the approver has signed, where they had one at the time. */
async function isByPasskey(tx: ReadTx, signOff: Row<'sign_offs'>): Promise<boolean> {
  const { account, request, task, content_version, content_hash, target, at } = signOff
  const passkeys = await sqlOf(tx)
    .selectFrom('passkeys')
    .selectAll()
    .where('account', '=', tx.account)
    .where('person', '=', Number(signOff.approver.slice(1)))
    .execute()
  const had = passkeys.filter((each) => each.created_at < at && (each.removed_at ?? at) >= at)
  if (signOff.assertion === null) return had.length === 0
  const assertion = JSON.parse(signOff.assertion) as Assertion
  const key = passkeys.find(({ credential }) => credential === assertion.credential)
  const decided = {
    account,
    request: request ?? 0,
    task,
    version: content_version,
    hash: content_hash,
    target,
  }
  return key !== undefined && isSignedBy(key, assertion, decided)
}
