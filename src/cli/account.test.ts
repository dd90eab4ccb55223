import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { donectl } from '../../test/process.ts'

describe('donectl account', () => {
  let dir: string
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'done-accounts-'))
  })
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const run = (...words: string[]) => donectl([...words, '--data', dir])

  it('makes one more, whose owner and agents the console lets in by its name', async () => {
    const made = await run('account', 'create', 'Beta', '--owner', 'Olga')
    expect([made.code, made.stdout]).toEqual([0, expect.stringMatching(/\/sign-in\/in_[\w-]+\n$/)])
    expect((await run('account', 'list')).stdout).toBe('1  Done\n2  Beta\n')
    expect((await run('signin-link', '--account', 'beta')).stdout).toContain('/sign-in/in_')
    const { stdout } = await run('token', 'create', '--account', '2', '--name', 'scout', '--scope', 'read')
    const me = await donectl(['call', 'get_me', '--json', '--data', dir], { DONE_TOKEN: stdout.trim() })
    expect(JSON.parse(me.stdout)).toMatchObject({ account: 'Beta', name: 'scout', owner: 'U1 Olga' })
  })

  it('says what is wrong, and what to do', async () => {
    expect((await run('account')).stderr).toContain('Usage: donectl account create NAME --owner PERSON')
    expect((await run('account', 'create', 'Beta', '--owner', 'Olga')).stderr).toContain('is called "Beta"')
    const missing = await run('signin-link', '--account', 'Gamma')
    expect([missing.code, missing.stderr]).toEqual([
      1,
      expect.stringContaining('There is no account "Gamma"'),
    ])
  })
})
