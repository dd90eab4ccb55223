import { newWorld, type World } from './world.ts'

/**
 * Statements by which a fault in the code could close a task, loosen the gate or falsify what it rests on. T1 is open and
 * gated, T2 auto-OK, T3 signed off, T4 has a pending request, T5 recurs.
 */

const raised = `content_version = content_version + 1, content_hash = 'forged'`
export const newTask = (columns: string, values: string, verb = 'INSERT') =>
  `${verb} INTO tasks (account, id, title, description, priority, auto_ok, status, version, content_version, content_hash,
    created_at, created_by, updated_at${columns && `, ${columns}`}) VALUES (1, ${values})`
export const signOff = (id: number, task: number, tx = 'done_tx()') =>
  `INSERT INTO sign_offs (account, id, task, request, content_version, content_hash, target, approver, session, began,
    policy, tx, seal, at) SELECT 1, ${id}, ${task}, NULL, content_version, content_hash, 'done', 'U1', 's',
    'console_link', 'person', ${tx}, 'x', 0 FROM tasks WHERE account = 1 AND id = ${task}`

export const ATTACKS: readonly (readonly [way: string, statement: string])[] = [
  ['close', `UPDATE tasks SET status = 'done' WHERE id = 1`],
  ['cancel', `UPDATE tasks SET status = 'cancelled' WHERE id = 1`],
  ['close in another spelling', `UPDATE tasks SET status = 'Done' WHERE id = 1`],
  ['close with a space', `UPDATE tasks SET status = 'done ' WHERE id = 1`],
  ['close what waits', `UPDATE tasks SET status = 'done' WHERE id = 4`],
  [
    'close behind a table that looks like the sign-offs',
    `CREATE TEMP TABLE sign_offs AS SELECT 1 AS account, 1 AS task, done_tx() AS tx, 'done' AS target, content_version, content_hash FROM tasks WHERE id = 1; UPDATE tasks SET status = 'done' WHERE id = 1`,
  ],
  [
    'close by a sign-off of before the task was reopened',
    `SELECT set_config('done.tx', (SELECT tx FROM sign_offs WHERE task = 6), true); UPDATE tasks SET status = 'done' WHERE id = 6`,
  ],
  ['close all', `UPDATE tasks SET status = 'done'`],
  ['raise auto-OK', `UPDATE tasks SET auto_ok = 1, ${raised} WHERE id = 1`],
  [
    'raise auto-OK and close at once',
    `UPDATE tasks SET auto_ok = 1, status = 'done', ${raised} WHERE id = 1`,
  ],
  ['raise auto-OK to another number', `UPDATE tasks SET auto_ok = 2, ${raised} WHERE id = 1`],
  ['raise it on a closed task', `UPDATE tasks SET auto_ok = 1, ${raised} WHERE id = 3`],
  ['insert as done', newTask('', `90, 't', '', 2, 0, 'done', 1, 1, 'h', 0, 'G1', 0`)],
  ['insert as cancelled', newTask('', `90, 't', '', 2, 1, 'cancelled', 1, 1, 'h', 0, 'G1', 0`)],
  ['insert as auto-OK', newTask('', `90, 't', '', 2, 1, 'open', 1, 1, 'h', 0, 'G1', 0`)],
  [
    'insert as the successor of a gated one',
    newTask('succeeds', `90, 't', '', 2, 1, 'open', 1, 1, 'h', 0, 'G1', 0, 5`),
  ],
  ['insert without a hash', newTask('', `90, 't', '', 2, 0, 'open', 1, 1, '', 0, 'G1', 0`)],
  ['replace the row', newTask('', `1, 't', '', 2, 0, 'open', 1, 1, 'h', 0, 'G1', 0`, 'REPLACE')],
  ['replace or ignore', newTask('', `1, 't', '', 2, 0, 'open', 1, 1, 'h', 0, 'G1', 0`, 'INSERT OR REPLACE')],
  [
    'upsert as done',
    `${newTask('', `1, 't', '', 2, 0, 'open', 1, 1, 'h', 0, 'G1', 0`)} ON CONFLICT (account, id) DO UPDATE SET status = 'done'`,
  ],
  ['give it another id', `UPDATE tasks SET id = 91 WHERE id = 1`],
  ['move it to another account', `UPDATE tasks SET account = 2 WHERE id = 1`],
  ['make it the successor of another', `UPDATE tasks SET succeeds = 2 WHERE id = 1`],
  ['lower the content version', `UPDATE tasks SET content_version = 0 WHERE id = 1`],
  ['change content and keep the version', `UPDATE tasks SET title = 'Other' WHERE id = 1`],
  ['change the hash alone', `UPDATE tasks SET content_hash = 'forged' WHERE id = 1`],
  ['raise the version alone', `UPDATE tasks SET content_version = content_version + 1 WHERE id = 1`],
  ['change a signed-off title', `UPDATE tasks SET title = 'Other', ${raised} WHERE id = 3`],
  ['delete it', `DELETE FROM tasks WHERE id = 1`],
  ['sign off', signOff(90, 1)],
  ['sign off in another transaction’s name', signOff(90, 1, `'other'`)],
  ['sign off for another account', signOff(90, 1).replace('SELECT 1,', 'SELECT 2,')],
  ['change a sign-off', `UPDATE sign_offs SET task = 1`],
  ['remove a sign-off', `DELETE FROM sign_offs`],
  ['replace a sign-off', signOff(90, 1).replace('INSERT', 'REPLACE')],
  ['approve the request', `UPDATE requests SET state = 'approved' WHERE task = 4`],
  ['reject the request', `UPDATE requests SET state = 'rejected' WHERE task = 4`],
  [
    'insert an approved request',
    `INSERT INTO requests SELECT account, 90, 1, target, 'approved', content_version, content_hash, former_status, asked_by, asked_at, NULL, NULL, NULL FROM requests WHERE task = 4`,
  ],
  ['bind the request to other content', `UPDATE requests SET content_hash = 'forged' WHERE task = 4`],
  ['lead the request to another task', `UPDATE requests SET task = 1 WHERE task = 4`],
  ['remove the request', `DELETE FROM requests WHERE task = 4`],
  ['change a step of a signed-off task', `UPDATE steps SET title = 'Other' WHERE task = 3`],
  ['tick a step of a signed-off task', `UPDATE steps SET status = 'done' WHERE task = 3`],
  [
    'add a step to a signed-off task',
    `INSERT INTO steps SELECT account, 90, 3, title, description, position, status, trash, version, created_at, created_by, updated_at FROM steps WHERE task = 1`,
  ],
  [
    'make auto-OK the default of a project that is there',
    `UPDATE projects SET auto_ok_default = 1 WHERE id = 1`,
  ],
  [
    'say that no second person is wanted in a project',
    `UPDATE projects SET second_person = 1 - second_person WHERE id = 1`,
  ],
  ['change evidence of a signed-off task', `UPDATE artifacts SET sha256 = 'forged' WHERE task = 3`],
  [
    'add evidence to a signed-off task',
    `INSERT INTO artifacts SELECT account, 90, 3, run, title, kind, url, text, file_name, media_type, size, sha256, origin, trash, created_at, created_by FROM artifacts WHERE task = 1`,
  ],
  ['change the bytes of a file', `UPDATE artifact_bytes SET bytes = substr(bytes, 2)`],
  [
    'make auto-OK a project’s default',
    `INSERT INTO projects (account, id, name, name_key, description, auto_ok_default, version, created_at, created_by, updated_at) VALUES (1, 90, 'p', 'p', '', 1, 1, 0, 'G1', 0)`,
  ],
]

/** The account that the attacks are made on. */
export async function attackedWorld(): Promise<World> {
  const world = await newWorld()
  const { scout, ana } = world
  const artifact = { title: 'Evidence', text: 'It is so.' }
  await scout.call('create_task', { title: 'Gated', steps: [{ title: 'A step' }] })
  await scout.call('attach_artifact', { task_id: 'T1', ...artifact })
  await scout.call('create_task', { title: 'Auto-OK' })
  await world.autoOk('T2')
  await scout.call('create_task', { title: 'Signed off', steps: [{ title: 'A step' }] })
  await scout.call('attach_artifact', {
    task_id: 'T3',
    file: { name: 'a.txt', media_type: 'text/plain', base64: 'aGk=' },
    title: 'A file',
  })
  await ana.call('complete_task', { id: 'T3' })
  await scout.call('create_task', { title: 'Waits' })
  await scout.call('complete_task', { id: 'T4' })
  await scout.call('create_task', { title: 'Backup', recurrence: 'daily' })
  await scout.call('create_task', { title: 'Reopened' })
  await ana.call('complete_task', { id: 'T6' })
  await ana.call('reopen_task', { id: 'T6', reason: 'Not yet.' })
  await scout.call('create_project', { name: 'Website' })
  return world
}
