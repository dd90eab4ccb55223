import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { donectl } from '../../test/process.ts'
import { markBack, markMoved } from './place.ts'

/** Never connected to: what is refused here is refused before. */
const ELSEWHERE = 'postgres://done:secret@db.example.org/done'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'done-place-'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

describe('a command', () => {
  it('that looks after data begins none where there are none', async () => {
    const typo = join(dir, 'typo')
    const { code, stdout, stderr } = await donectl(['verify', '--data', typo])
    expect([code, stdout]).toEqual([1, ''])
    expect(stderr).toContain(`${typo} holds no data of Done.`)
    expect(existsSync(typo)).toBe(false)
  })

  it('in a shell without DATABASE_URL leaves a folder alone whose data are elsewhere', async () => {
    markMoved(dir, ELSEWHERE)
    for (const command of [
      'token create --name ghost --scope read',
      'signin-link',
      'verify',
      'serve --port 0',
    ]) {
      const { code, stderr } = await donectl([...command.split(' '), '--data', dir])
      expect(code, command).toBe(1)
      expect(stderr, command).toContain('are in the PostgreSQL database db.example.org/done')
      expect(stderr, command).not.toContain('secret')
    }
    expect(readdirSync(dir)).toEqual(['database.json'])
    markBack(dir)
    expect((await donectl(['signin-link', '--data', dir])).code).toBe(0)
  })

  it('does not begin elsewhere and leave data of the folder behind', async () => {
    writeFileSync(join(dir, 'done.db'), '')
    const { code, stderr } = await donectl(['signin-link', '--data', dir], { DATABASE_URL: ELSEWHERE })
    expect(code).toBe(1)
    expect(stderr).toContain('donectl migrate-engine --to postgres')
  })
})
