import { formatId } from '../model/id.ts'
import { isZone } from '../model/zone.ts'
import type { Examined, ExaminedAccount } from '../store/examine.ts'
import { lastBackup } from './backup-note.ts'
import type { Finding } from './doctor.ts'

const SECOND = 1000
const DAY = 86_400 * SECOND

/** What an event may be ahead of our clock, and the database's server's may differ from it, in milliseconds. */
const TOLERANCE = 5 * SECOND

/** After how long a credential that nobody uses is one to take away, and a backup is old. */
const UNUSED = 90 * DAY
const OLD_BACKUP = 7 * DAY

/** How many are named in one line. */
const NAMED = 10

/** What the rows say; `now` in milliseconds since the epoch. */
export function dataFindings(examined: Examined, now: number): Finding[] {
  const { faults, accounts } = examined
  const fault = (check: string, found: string | undefined, next?: string): Finding[] =>
    found === undefined ? [] : [{ check, status: 'wrong', found, ...(next ? { next } : {}) }]
  return [
    { check: 'database', status: 'ok', found: `${examined.engine}, accounts: ${accounts.length}.` },
    ...fault('key', faults.key, 'Put the seal.key back that was begun with them, or take DONE_SEAL_KEY out.'),
    schemaFinding(examined),
    ...fault('rows', faults.rows, 'Restore a backup.'),
    clockFinding(examined, now),
    ...zoneFindings(accounts),
    accountsFinding(accounts),
    credentialsFinding(accounts, now),
  ]
}

function schemaFinding({ schema: { found, known }, faults }: Examined): Finding {
  const check = 'schema'
  if (found > known) {
    const said = `The data were written by a newer Done (schema ${found}; this program knows ${known}).`
    return { check, status: 'wrong', found: said, next: 'Update this program.' }
  }
  if (faults.schema !== undefined) return { check, status: 'wrong', found: faults.schema }
  if (found < known) {
    const said = `The schema is ${found}, and this program’s ${known}.`
    return {
      check,
      status: 'warning',
      found: said,
      next: 'The next start brings it up to date: back up before.',
    }
  }
  return { check, status: 'ok', found: `Version ${found}; every table, index and trigger is as built.` }
}

/** Leases, links and sessions end by the clock: one that was set back lets them live on. */
function clockFinding({ accounts, serverTime }: Examined, now: number): Finding {
  const check = 'clock'
  const newest = Math.max(0, ...accounts.map((each) => each.newest ?? 0))
  const time = new Date(now).toISOString()
  if (newest > now + TOLERANCE) {
    const found = `It is ${time} by this machine, and the newest event is of ${new Date(newest).toISOString()}.`
    return { check, status: 'wrong', found, next: 'Set the clock, and keep it by NTP.' }
  }
  const apart = serverTime === undefined ? 0 : serverTime - now
  if (Math.abs(apart) > TOLERANCE) {
    const found = `This machine’s clock and the database server’s are ${Math.round(Math.abs(apart) / SECOND)} s apart.`
    return { check, status: 'warning', found, next: 'Keep both by NTP.' }
  }
  return { check, status: 'ok', found: `${time}, not before the newest event.` }
}

/** Dates are read and shown in people's zones, of which a Node may be built without. */
function zoneFindings(accounts: readonly ExaminedAccount[]): Finding[] {
  const unknown = [...new Set(accounts.flatMap(({ zones }) => zones))].filter((zone) => !isZone(zone))
  if (unknown.length === 0) return []
  const found = `This Node does not know the time zones ${unknown.slice(0, NAMED).join(', ')}.`
  return [{ check: 'clock', status: 'wrong', found, next: 'Use a Node that is built with full ICU data.' }]
}

function accountsFinding(accounts: readonly ExaminedAccount[]): Finding {
  const check = 'accounts'
  const ownerless = accounts.filter(({ owners }) => owners === 0)
  if (ownerless.length > 0) {
    const found = `No owner is left in ${named(ownerless)}.`
    return { check, status: 'wrong', found, next: 'Restore a backup in which there is one.' }
  }
  const closed = accounts.filter(({ canBeEntered }) => !canBeEntered)
  if (closed.length > 0) {
    const found = `No owner can sign in by password or passkey in ${named(closed)}.`
    const next = `Make a link: donectl signin-link --account ${closed[0]!.id}, and choose a password there.`
    return { check, status: 'warning', found, next }
  }
  return { check, status: 'ok', found: 'Each has an owner who can sign in.' }
}

const named = (accounts: readonly ExaminedAccount[]): string =>
  accounts
    .slice(0, NAMED)
    .map(({ id, name }) => `account ${id} (${name})`)
    .join(', ')

function credentialsFinding(accounts: readonly ExaminedAccount[], now: number): Finding {
  const check = 'credentials'
  const unused = accounts.flatMap(({ id: account, lasting }) =>
    lasting.filter(({ usedAt }) => usedAt < now - UNUSED).map((each) => ({ ...each, account })),
  )
  if (unused.length === 0) {
    return { check, status: 'ok', found: 'No token without an end was left unused for 90 days.' }
  }
  const names = unused
    .slice(0, NAMED)
    .map(({ account, id, agent }) => `${formatId('token', id)} of ${agent} (account ${account})`)
  const more = unused.length > NAMED ? `, and ${unused.length - NAMED} more` : ''
  return {
    check,
    status: 'warning',
    found: `Tokens without an end that nobody has used for 90 days: ${names.join(', ')}${more}.`,
    next: 'Have their owner revoke them.',
  }
}

/** How old the last backup is, as far as it was noted here. */
export function backupFinding(dataDir: string, { accounts }: Examined, now: number): Finding {
  const check = 'backup'
  const next = 'donectl backup makes one while servers run; by other means, as pg_dump, none is noted here.'
  const last = lastBackup(dataDir)
  if (last === undefined) {
    const oldest = Math.min(now, ...accounts.map(({ createdAt }) => createdAt))
    const found = 'None is known.'
    return now - oldest < OLD_BACKUP
      ? { check, status: 'ok', found: `${found} The data are new.` }
      : { check, status: 'warning', found, next }
  }
  const found = `The last is of ${new Date(last.at).toISOString()}, in ${last.file}.`
  return now - last.at < OLD_BACKUP
    ? { check, status: 'ok', found }
    : { check, status: 'warning', found, next }
}
