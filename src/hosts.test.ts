import { describe, expect, it } from 'vitest'
import { HOSTS, type HostId, hostDecision, type ToolAnnotations } from './hosts.ts'
import { AppError } from './model/error.ts'

/**
 * The truth table. One line a tool: R reads, D destroys, I idempotent, O open world; a letter stands for true, a dot
 * for false. One letter a host, in the order of the heading: r run, a ask, A ask always.
 */
const TABLE = `
        vscode codex codex_writes chatgpt openai_responses claude claude_code copilot_cli cursor goose gemini_cli careful
  ....     a     r        a          a           a            a        A           a        A      a       A         r
  ...O     a     a        a          a           a            a        A           a        A      a       A         a
  ..I.     a     r        a          a           a            a        A           a        A      a       A         r
  ..IO     a     a        a          a           a            a        A           a        A      a       A         a
  .D..     a     a        a          a           a            A        A           a        A      a       A         A
  .D.O     a     a        a          a           a            A        A           a        A      a       A         A
  .DI.     a     a        a          a           a            A        A           a        A      a       A         A
  .DIO     a     a        a          a           a            A        A           a        A      a       A         A
  R...     r     r        r          r           r            r        r           r        r      r       a         r
  R..O     r     r        r          r           r            r        r           r        r      r       a         a
  R.I.     r     r        r          r           r            r        r           r        r      r       a         r
  R.IO     r     r        r          r           r            r        r           r        r      r       a         a
  RD..     r     a        r          r           r            A        r           r        A      r       a         A
  RD.O     r     a        r          r           r            A        r           r        A      r       a         A
  RDI.     r     a        r          r           r            A        r           r        A      r       a         A
  RDIO     r     a        r          r           r            A        r           r        A      r       a         A
  none     a     a        a          a           a            A        A           a        A      a       A         A
`

const [heading = [], ...lines] = TABLE.trim()
  .split('\n')
  .map((line) => line.trim().split(/\s+/))
const WORDS: Record<string, string> = { r: 'run', a: 'ask', A: 'ask_always' }

function hintsOf(letters: string): Partial<ToolAnnotations> | undefined {
  if (letters === 'none') return undefined
  return {
    readOnlyHint: letters[0] === 'R',
    destructiveHint: letters[1] === 'D',
    idempotentHint: letters[2] === 'I',
    openWorldHint: letters[3] === 'O',
  }
}

describe('what each host does with a tool', () => {
  it('has a column in the table for every host, and a line for every combination', () => {
    expect(heading).toEqual(HOSTS.map((host) => host.id))
    expect(new Set(lines.map(([letters]) => letters)).size).toBe(17)
  })

  for (const [column, host] of heading.entries()) {
    it(`${host} decides as the table says`, () => {
      for (const [letters = '', ...decisions] of lines) {
        const { decision, why } = hostDecision(host as HostId, hintsOf(letters))
        expect({ letters, decision }).toEqual({ letters, decision: WORDS[decisions[column] ?? ''] })
        expect(why).toContain(HOSTS[column]?.name)
      }
    })
  }
})

describe('hints that are missing', () => {
  it('a tool with only a title, or an empty object, counts as one without annotations', () => {
    for (const { id } of HOSTS) {
      const bare = hostDecision(id)
      expect(hostDecision(id, {})).toEqual(bare)
      expect(hostDecision(id, { title: 'Tidy up' })).toEqual(bare)
    }
    expect(hostDecision('careful').why).toContain('no hints')
  })

  it('each gap takes its worst value: leaving a good hint out never makes a host ask less', () => {
    const strictness = ['run', 'ask', 'ask_always']
    const keys = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
    const good: Partial<ToolAnnotations> = {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: true,
      openWorldHint: false,
    }
    for (const { id } of HOSTS) {
      for (const key of keys) {
        const { [key]: _left, ...rest } = good
        const without = strictness.indexOf(hostDecision(id, rest).decision)
        expect(without).toBeGreaterThanOrEqual(strictness.indexOf(hostDecision(id, good).decision))
      }
    }
  })

  it('an additive write that does not say it stays inside is asked for', () => {
    const { decision, why } = hostDecision('careful', { readOnlyHint: false, destructiveHint: false })
    expect(decision).toBe('ask')
    expect(why).toContain('taken at the default: idempotentHint, openWorldHint')
  })

  it('a write that does not say it is additive counts as destructive', () => {
    expect(hostDecision('careful', { readOnlyHint: false, openWorldHint: false }).decision).toBe('ask_always')
    expect(hostDecision('codex', { openWorldHint: false }).decision).toBe('ask')
  })

  it('a tool that says only that it reads is a read: MCP gives destructiveHint no meaning there', () => {
    for (const id of ['careful', 'codex', 'claude', 'cursor'] as const) {
      expect(hostDecision(id, { readOnlyHint: true, openWorldHint: false }).decision).toBe('run')
    }
  })
})

describe('hints that contradict each other', () => {
  it('count as destructive, and the reason says so', () => {
    const { decision, why } = hostDecision('careful', { readOnlyHint: true, destructiveHint: true })
    expect(decision).toBe('ask_always')
    expect(why).toContain('contradict each other')
  })

  it('do not stop the hosts that look at readOnlyHint alone, which is why a server must not send them', () => {
    expect(hostDecision('vscode', { readOnlyHint: true, destructiveHint: true }).decision).toBe('run')
  })
})

describe('a host nobody knows', () => {
  it('is refused with the names of those that are known', () => {
    const ask = () => hostDecision('emacs' as HostId)
    expect(ask).toThrow(AppError)
    try {
      ask()
    } catch (error) {
      expect(error).toMatchObject({
        code: 'invalid_value',
        details: { allowed: HOSTS.map((host) => host.id) },
      })
      expect((error as Error).message).toContain('careful')
    }
  })
})
