import { randomUUID } from 'node:crypto'
import {
  type CallToolResult,
  type ClientCapabilities,
  type InputRequiredResult,
  inputRequired,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { Connection } from '../tools/call.ts'
import { answerCall, type Caller } from './answer.ts'
import { ASKS, canOffer } from './offer.ts'
import { CLIENT_CAPABILITIES_META_KEY } from './revision.ts'

const KEY = 'sign_off_page'

/** How long a host may keep the page on offer, in milliseconds. */
const ON_OFFER_MS = 10 * 60_000

/**
 * The second round of a call that offered the page: it only reads. What the client answered counts for nothing, and the
 * task may have been sent back meanwhile, so completing it again here would ask a second time.
 */
export async function secondRound(
  caller: Caller,
  name: string,
  input: unknown,
  ctx: ServerContext,
  connection: Connection,
): Promise<CallToolResult | undefined> {
  const { inputResponses, droppedInputResponseKeys } = ctx.mcpReq
  const keys = [...Object.keys(inputResponses ?? {}), ...(droppedInputResponseKeys ?? [])]
  if (name !== ASKS || !keys.includes(KEY)) return undefined
  const { id, task_id } = (input ?? {}) as { id?: unknown; task_id?: unknown }
  return answerCall(caller, 'get_task', { id: id ?? task_id }, connection)
}

/**
 * Offers the sign-off page to a client that can open addresses, once the request is stored. It carries an address and
 * nothing else: no answer of the client is read. A client of 2026-07-28 is asked by the result and comes back for the
 * rest; an older one over stdio is asked beside the answer, which does not wait for it.
 */
export function offerPage(
  server: Server,
  name: string,
  result: CallToolResult,
  ctx: ServerContext,
): CallToolResult | InputRequiredResult {
  const asked = result.structuredContent as
    | { id?: string; title?: string; request?: string; page?: string; already?: true }
    | undefined
  const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined
  const modern = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
  if (!canOffer(name, modern ?? server.getClientCapabilities())) return result
  if (result.isError || !asked?.request || !asked.page || asked.already) return result
  const offer = {
    message: `${asked.id} “${asked.title}” waits for your sign-off (${asked.request}). The page shows what was done; you decide there.`,
    url: asked.page,
  }
  if (modern) return inputRequired({ inputRequests: { [KEY]: inputRequired.elicitUrl(offer) } })
  ctx.mcpReq
    .elicitInput({ mode: 'url', elicitationId: randomUUID(), ...offer }, { timeout: ON_OFFER_MS })
    .catch(() => {
      // Declined, closed or never answered: all the same, the decision is made on the page.
    })
  return result
}
