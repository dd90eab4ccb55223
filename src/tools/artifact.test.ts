import { createHash } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { fileById } from '../store/file.ts'

let world: World
beforeEach(async () => {
  world = await newWorld()
  await world.ana.call('create_task', { title: 'Rotate' })
})
afterEach(() => world.close())

const attach = (more: Record<string, unknown>) =>
  world.scout.call('attach_artifact', { task_id: 'T1', title: 'Report', ...more })
const refused = (more: Record<string, unknown>) =>
  world.scout.refused('attach_artifact', { task_id: 'T1', title: 'Report', ...more })

describe('evidence', () => {
  it('is a link, a text or a file, and belongs to the run that is open', async () => {
    const { scout, reader } = world
    await scout.call('start_run', { task_id: 'T1' })
    expect(await attach({ url: 'https://ci.example.org/512' })).toMatchObject({
      id: 'F1',
      kind: 'link',
      run: 'R1',
    })
    expect(await attach({ text: 'All tests pass: año, 完了' })).toMatchObject({ id: 'F2', kind: 'text' })
    const bytes = Buffer.from([0, 255, 137, 80, 78, 71, 10])
    const file = { name: 'shot.png', media_type: 'Image/PNG', base64: bytes.toString('base64') }
    expect(await attach({ file })).toMatchObject({
      id: 'F3',
      kind: 'file',
      file: 'shot.png',
      media_type: 'image/png',
      size: 7,
      sha256: createHash('sha256').update(bytes).digest('hex'),
    })
    const stored = await world.done.store.read(reader.actor, 'test', (tx) => fileById(tx, 3))
    expect(Buffer.from(stored.bytes).equals(bytes)).toBe(true)
    expect((await reader.call('get_task', { id: 'T1' })).artifacts).toHaveLength(3)
    expect((await reader.call('get_run', { id: 'R1' })).artifacts).toHaveLength(3)
  })

  it('is exactly one of them, and what it says it is', async () => {
    const file = { name: 'a.bin', media_type: 'application/octet-stream', base64: 'AAAA' }
    for (const [given, code] of [
      [{}, 'invalid_value'],
      [{ url: 'https://a.example', text: 'x' }, 'invalid_value'],
      [{ url: 'javascript:alert(1)' }, 'invalid_value'],
      [{ url: 'file:///etc/passwd' }, 'invalid_value'],
      [{ url: 'https://ana:secret@example.org/' }, 'invalid_value'],
      [{ url: 'example.org' }, 'invalid_value'],
      [{ text: '  ' }, 'invalid_value'],
      [{ text: 'x'.repeat(200_001) }, 'too_large'],
      [{ file: { ...file, base64: 'AAA' } }, 'invalid_value'],
      [{ file: { ...file, base64: 'data:image/png;base64,AAAA' } }, 'invalid_value'],
      [{ file: { ...file, base64: '' } }, 'invalid_value'],
      [{ file: { ...file, base64: 'A'.repeat(14 * 1024 * 1024) } }, 'too_large'],
      [{ file: { ...file, media_type: 'png' } }, 'invalid_value'],
      [{ file: { ...file, media_type: 'text/html\r\nx: y' } }, 'invalid_value'],
      [{ file: { ...file, name: '../../etc/passwd' } }, 'invalid_value'],
      [{ file: { ...file, name: '..' } }, 'invalid_value'],
      [{ text: 'x', title: ' ' }, 'invalid_value'],
    ] as const) {
      expect(await refused(given), JSON.stringify(given).slice(0, 80)).toMatchObject({ code })
    }
    expect(await world.reader.call('get_task', { id: 'T1' })).not.toHaveProperty('artifacts')
  })

  it('of ten mebibytes exactly still fits', async () => {
    const bytes = Buffer.alloc(10 * 1024 * 1024, 7)
    const file = { name: 'big.bin', media_type: 'application/octet-stream', base64: bytes.toString('base64') }
    expect(await attach({ file })).toMatchObject({ size: 10 * 1024 * 1024 })
    const more = Buffer.alloc(10 * 1024 * 1024 + 1).toString('base64')
    expect(await refused({ file: { ...file, base64: more } })).toMatchObject({ code: 'too_large' })
  })

  it('attached twice is named, and with a key attached once', async () => {
    await attach({ text: 'Pass', idempotency_key: 'k' })
    expect(await attach({ text: 'Pass', idempotency_key: 'k' })).toMatchObject({ id: 'F1', replayed: true })
    expect(await attach({ text: 'Pass' })).toMatchObject({ id: 'F2', likely_duplicate_of: 'F1' })
  })

  it('of a run on another task is refused', async () => {
    const { scout } = world
    await scout.call('create_task', { title: 'Other' })
    await scout.call('start_run', { task_id: 'T2' })
    expect(await refused({ text: 'Pass', run_id: 'R1' })).toMatchObject({
      code: 'invalid_value',
      message: 'R1 is a run on T2.',
    })
  })

  it('that comes after the request voids it; another agent is refused', async () => {
    const { scout, builder } = world
    await scout.call('complete_task', { id: 'T1' })
    expect(
      await builder.refused('attach_artifact', { task_id: 'T1', title: 'Mine', text: 'x' }),
    ).toMatchObject({ code: 'conflict' })
    expect(await attach({ text: 'Forgotten' })).toMatchObject({
      request_stale: 'A1',
      ask_again: 'complete_task {"id":"T1"}',
    })
    expect(await scout.call('get_task', { id: 'T1' })).toMatchObject({ status: 'open' })
  })

  it('that is wrong goes to the Trash once, and voids a request as well', async () => {
    const { scout } = world
    await attach({ text: 'Wrong' })
    await scout.call('complete_task', { id: 'T1' })
    expect(await scout.call('delete_artifact', { id: 'F1' })).toMatchObject({
      trash: 'X1',
      request_stale: 'A1',
    })
    expect(await scout.call('delete_artifact', { artifact_id: 'F1' })).toMatchObject({
      trash: 'X1',
      already: true,
    })
    expect(await scout.call('get_task', { id: 'T1' })).not.toHaveProperty('artifacts')
    expect(await scout.refused('delete_artifact', { id: 'F9' })).toMatchObject({ code: 'not_found' })
  })

  it('of a signed-off task is frozen', async () => {
    const { scout, ana } = world
    await attach({ text: 'Pass' })
    await ana.call('complete_task', { id: 'T1' })
    expect(await refused({ text: 'Late' })).toMatchObject({ code: 'conflict' })
    expect(await scout.refused('delete_artifact', { id: 'F1' })).toMatchObject({ code: 'conflict' })
  })
})
