import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { newWorld, type World } from '../../test/world.ts'
import { createAgent } from './credential.ts'

let world: World
beforeAll(async () => {
  world = await newWorld()
})
afterAll(() => world.close())

describe('an agent’s name', () => {
  const named = (name: string) =>
    world.done.store.write(world.ana.actor, 'create_agent', (tx) => createAgent(tx, { name, owner: 1 }))

  it.each(['reviewer', 'Ana’s helper'.replace('’', ' '), 'каталог', '検索係', 'r2-d2', 'night.shift'])(
    'can be %s',
    async (name) => {
      expect(await named(name)).toMatchObject({ name })
    },
  )

  it.each([
    'G1',
    'u12',
    'T5',
    'me',
    'Owner',
    'nobody',
    'ANA',
    'scout',
    'a\nb',
    'a\u202Eb',
    '',
    ' x',
    '@x',
    'x'.repeat(61),
  ])('can’t be %j', async (name) => {
    await expect(named(name)).rejects.toMatchObject({ name: 'AppError' })
  })
})

describe('a title', () => {
  it.each(['Foo\nstatus: done', 'bell\u0007', 'a\u202Eb', 'a\u2028b'])('can’t be %j', async (title) => {
    const refusal = await world.scout.refused('create_task', { title })
    expect(refusal).toMatchObject({ code: 'invalid_value' })
    expect(refusal.message).toContain('line break, a control character or a direction mark')
  })

  it('can be in any script, with emoji, and in Hebrew or Arabic', async () => {
    for (const title of [
      'カタログを移す',
      'נעביר את הספרייה',
      'انقل المكتبة',
      'Move 📚🚚',
      'Zażółć gęślą jaźń',
    ]) {
      expect(await world.scout.call('create_task', { title })).toMatchObject({ title })
    }
  })
})
