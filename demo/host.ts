import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type Decision, hostDecision, type ToolAnnotations } from '../src/hosts.ts'

type Answer = Record<string, any>

/** A host with one agent in it: before each call it decides by the tool's annotations whether to ask its person. */
export interface Host {
  call(name: string, args?: Record<string, unknown>): Promise<Answer>
  /** How many calls ran and how many were asked about. */
  decisions: Record<Decision, number>
  close(): Promise<void>
}

/** Connects over HTTP with the SDK's own client, and prints each call with what the host decided. */
export async function connectHost(site: string, token: string, agent: string, preset: string): Promise<Host> {
  const client = new Client(
    { name: `demo host of ${agent}`, version: '1.0.0' },
    { versionNegotiation: { mode: 'auto' } },
  )
  const url = new URL(`${site}/mcp?tools=${preset}`)
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  )
  const { tools } = await client.listTools()
  const annotations = new Map(
    tools.map((tool) => [tool.name, tool.annotations as ToolAnnotations | undefined]),
  )
  const decisions: Record<Decision, number> = { run: 0, ask: 0, ask_always: 0 }
  console.log(`${agent} sees ${tools.length} tools (${preset}).`)
  return {
    decisions,
    async call(name, args = {}) {
      const { decision } = hostDecision('careful', annotations.get(name))
      decisions[decision]++
      const result = await client.callTool({ name, arguments: args })
      const answer = result.structuredContent as Answer
      console.log(line(agent, decision, name, args, result.isError === true, answer))
      if (result.isError) throw new Error(`${name}: ${answer.error.message}`)
      return answer
    },
    close: () => client.close(),
  }
}

const SAID: Record<Decision, string> = { run: 'ran  ', ask: 'asked', ask_always: 'ASKED' }

function line(
  agent: string,
  decision: Decision,
  name: string,
  args: Record<string, unknown>,
  refused: boolean,
  answer: Answer,
): string {
  const about = args.task_id ?? args.id ?? args.run_id ?? ''
  const outcome = refused ? `refused: ${answer.error.message}` : (answer.status ?? answer.state ?? '')
  return `  ${SAID[decision]}  ${agent.padEnd(8)} ${name.padEnd(18)} ${String(about).padEnd(5)} ${outcome}`
}
