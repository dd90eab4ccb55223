/** The one tool whose answer can come with the page on which a person decides. */
export const ASKS = 'complete_task'

/** Whether the answer to this call can come with the page: the client must be able to open addresses. */
export function canOffer(name: string, capabilities: unknown): boolean {
  if (name !== ASKS) return false
  const { elicitation } = (capabilities ?? {}) as { elicitation?: { url?: unknown } }
  return elicitation?.url !== undefined
}
