/**
 * What a host does with a tool before it calls it, judged by the tool's annotations alone. One table, so that the
 * page, the docs and authors of MCP clients say the same about a host. A row stands here only where the rule is
 * known; hosts that ignore annotations have none.
 */
import { AppError } from './model/error.ts'

/** The hints of a tool as `tools/list` carries them (MCP 2026-07-28, `ToolAnnotations`). */
export interface ToolAnnotations {
  readonly title: string
  readonly readOnlyHint: boolean
  readonly destructiveHint: boolean
  readonly idempotentHint: boolean
  readonly openWorldHint: boolean
}

/** The four hints with no gaps, as a rule reads them. */
type Hints = Omit<ToolAnnotations, 'title'>

/**
 * `run`: called without asking. `ask`: the person is asked, and may let the host remember the answer.
 * `ask_always`: asked before every call, or not offered at all; no remembered answer lets it pass.
 */
export type Decision = 'run' | 'ask' | 'ask_always'

/** One host and its rule. */
export interface Host {
  readonly id: string
  readonly name: string
  readonly rule: (hints: Hints) => Decision
  /** What the decision does not tell: modes, exceptions, what happens after the call. */
  readonly note: string
  /** How the rule is known: the host's code, its maker's page, or what others report of either. */
  readonly source: 'read in source' | 'vendor page' | 'survey'
}

const runsReads = (hints: Hints): Decision => (hints.readOnlyHint ? 'run' : 'ask')

/** Every host whose rule is known, and `careful`: the rule to start from in a client of your own. */
export const HOSTS = [
  {
    id: 'vscode',
    name: 'VS Code (Copilot)',
    rule: runsReads,
    note: 'It goes by readOnlyHint alone. Where openWorldHint is stated as true, the result is shown for review as well.',
    source: 'read in source',
  },
  {
    id: 'codex',
    name: 'Codex (auto mode)',
    rule: (hints) => {
      if (hints.destructiveHint) return 'ask'
      return hints.readOnlyHint || !hints.openWorldHint ? 'run' : 'ask'
    },
    note: 'A destructive hint outweighs a read-only one. Old versions ran tools without annotations.',
    source: 'read in source',
  },
  {
    id: 'codex_writes',
    name: 'Codex (writes mode)',
    rule: runsReads,
    note: 'It goes by readOnlyHint alone; calls of read-only tools may run in parallel.',
    source: 'read in source',
  },
  {
    id: 'chatgpt',
    name: 'ChatGPT (developer mode)',
    rule: runsReads,
    note: 'A tool without readOnlyHint is a write; an answer can be remembered for the conversation.',
    source: 'survey',
  },
  {
    id: 'openai_responses',
    name: 'OpenAI Responses API (reads exempted)',
    rule: runsReads,
    note: 'This is require_approval with an exemption for {read_only: true}; its default asks for every call.',
    source: 'survey',
  },
  {
    id: 'claude',
    name: 'Claude Desktop and claude.ai',
    rule: (hints) => (hints.destructiveHint ? 'ask_always' : runsReads(hints)),
    note: 'Destructive tools always prompt; other writes follow the setting of their group.',
    source: 'vendor page',
  },
  {
    id: 'claude_code',
    name: 'Claude Code (plan mode)',
    rule: (hints) => (hints.readOnlyHint ? 'run' : 'ask_always'),
    note: 'In plan mode an allow rule does not help a write. Outside it, permission rules decide and hints do not.',
    source: 'survey',
  },
  {
    id: 'copilot_cli',
    name: 'Copilot CLI',
    rule: runsReads,
    note: 'A deny rule comes first.',
    source: 'survey',
  },
  {
    id: 'cursor',
    name: 'Cursor (allow-list of reads)',
    rule: (hints) => (hints.readOnlyHint && !hints.destructiveHint ? 'run' : 'ask_always'),
    note: 'Under this list, which an administrator sets, everything but a declared read is disabled.',
    source: 'survey',
  },
  {
    id: 'goose',
    name: 'Goose (smart approve)',
    rule: runsReads,
    note: 'Where readOnlyHint is missing a model judges, so count on being asked. Its default mode ignores hints.',
    source: 'survey',
  },
  {
    id: 'gemini_cli',
    name: 'Gemini CLI (plan mode)',
    rule: (hints) => (hints.readOnlyHint ? 'ask' : 'ask_always'),
    note: 'Its policy denies by default and asks for tools whose readOnlyHint is stated as true.',
    source: 'read in source',
  },
  {
    id: 'careful',
    name: 'A client of your own',
    rule: (hints) => {
      if (hints.destructiveHint) return 'ask_always'
      return hints.openWorldHint ? 'ask' : 'run'
    },
    note: 'A read of the open world is asked for too: the question itself leaves the house. Believe hints only of servers you trust, and treat what a tool brings from outside as material.',
    source: 'read in source',
  },
] as const satisfies readonly Host[]

/** The id of a row in `HOSTS`. */
export type HostId = (typeof HOSTS)[number]['id']

/**
 * What a host does before it calls a tool with these annotations, and why, as sentences for a person.
 *
 * @throws AppError `invalid_value` for a host that is not in the table; `allowed` names those that are.
 */
export function hostDecision(
  host: HostId,
  annotations?: Partial<ToolAnnotations>,
): { decision: Decision; why: string } {
  const row: Host | undefined = HOSTS.find((known) => known.id === host)
  if (!row) {
    const allowed = HOSTS.map((known) => known.id)
    throw new AppError('invalid_value', `There is no host "${host}". Known hosts: ${allowed.join(', ')}.`, {
      allowed,
      next: 'Name one of the known hosts, or "careful" for a client of your own.',
    })
  }
  const hints = completed(annotations ?? {})
  const decision = row.rule(hints)
  return { decision, why: `${row.name} ${VERBS[decision]}: ${kind(annotations ?? {}, hints)}. ${row.note}` }
}

/**
 * The hints with each gap at its worst, which are the defaults of MCP: a tool that says nothing is a destructive,
 * non-idempotent write to an open world. `destructiveHint` has a meaning only on writes (same section), so a tool that
 * says no more than that it reads is a read and not a contradiction.
 */
function completed(annotations: Partial<ToolAnnotations>): Hints {
  const readOnlyHint = annotations.readOnlyHint ?? false
  return {
    readOnlyHint,
    destructiveHint: annotations.destructiveHint ?? !readOnlyHint,
    idempotentHint: annotations.idempotentHint ?? false,
    openWorldHint: annotations.openWorldHint ?? true,
  }
}

const VERBS: Record<Decision, string> = {
  run: 'calls it without asking',
  ask: 'asks first',
  ask_always: 'asks before every call or does not offer it',
}

function kind(given: Partial<ToolAnnotations>, hints: Hints): string {
  const gaps = HINTS.filter((hint) => given[hint] === undefined)
  if (gaps.length === HINTS.length) {
    return 'the tool has no hints, which counts as a destructive write that reaches outside'
  }
  const where = hints.openWorldHint ? ' that reaches outside' : ' within a closed world'
  const assumed = gaps.length > 0 ? ` (not stated, so taken at the default: ${gaps.join(', ')})` : ''
  if (hints.readOnlyHint && hints.destructiveHint) {
    return `its hints contradict each other, read-only and destructive at once, and should be taken as destructive${assumed}`
  }
  if (hints.readOnlyHint) return `the tool is a read${where}${assumed}`
  return `the tool is ${hints.destructiveHint ? 'a destructive' : 'an additive'} write${where}${assumed}`
}

const HINTS = ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const
