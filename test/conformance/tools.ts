import { randomUUID } from 'node:crypto'
import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  type ClientCapabilities,
  createRequestStateCodec,
  type ElicitInputParams,
  InMemoryServerEventBus,
  type InputRequests,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
  type ServerEventBus,
  type Tool,
} from '@modelcontextprotocol/server'

type Result = CallToolResult | InputRequiredResult

interface Fixture {
  description: string
  inputSchema?: Tool['inputSchema']
  run(args: Record<string, unknown>, ctx: ServerContext): Result | Promise<Result>
}

/** Changes that the suite sets off; listened to beside the product's own. */
const changes = new InMemoryServerEventBus()

/** A bus that carries both. */
export function withFixtureChanges(bus: ServerEventBus): ServerEventBus {
  return {
    publish: (event) => changes.publish(event),
    subscribe(listener) {
      const ends = [bus.subscribe(listener), changes.subscribe(listener)]
      return () => {
        for (const end of ends) end()
      }
    },
  }
}

const text = (said: string): CallToolResult => ({ content: [{ type: 'text', text: said }] })
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

/** One red pixel, and a sound of no length. */
export const PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEARKwAAIhYAQACABAAZGF0YQAAAAA='

export const image = { type: 'image', data: PIXEL, mimeType: 'image/png' } as const
export const resource = (uri: string, mimeType: string, said: string) =>
  ({ type: 'resource', resource: { uri, mimeType, text: said } }) as const

const nameForm: ElicitInputParams = {
  message: 'What is your name?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string' } },
    required: ['name'],
  },
}
const okForm: ElicitInputParams = {
  message: 'Go on?',
  requestedSchema: { type: 'object', properties: { ok: { type: 'boolean' } }, required: ['ok'] },
}
const question = (said: string) =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: said } }],
    maxTokens: 50,
  })

const states = createRequestStateCodec<Record<string, unknown>>({
  key: crypto.getRandomValues(new Uint8Array(32)),
})

/** What an earlier round sealed; a state that was tampered with is an error of the protocol. */
async function stateOf(ctx: ServerContext): Promise<Record<string, unknown> | undefined> {
  const sealed = ctx.mcpReq.requestState<string>()
  if (sealed === undefined) return undefined
  try {
    return await states.verify(sealed, ctx)
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'Invalid or expired requestState')
  }
}

const answerTo = <T>(ctx: ServerContext, key: string): T | undefined =>
  ctx.mcpReq.inputResponses?.[key] as T | undefined
const nameIn = (ctx: ServerContext, key: string) =>
  acceptedContent<{ name?: unknown }>(ctx.mcpReq.inputResponses, key)?.name

/** Asks an older client in the middle of a call, as that era does. */
async function ask(
  ctx: ServerContext,
  message: string,
  properties: Record<string, unknown>,
  required: string[],
) {
  const answer = await ctx.mcpReq.send({
    method: 'elicitation/create',
    params: { message, requestedSchema: { type: 'object', properties, required } },
  })
  const { action, content } = answer as { action: string; content?: unknown }
  return text(`The answer: action=${action}, content=${JSON.stringify(content ?? {})}`)
}

const oneOf = (...titles: [string, string][]) => titles.map(([value, title]) => ({ const: value, title }))

/** The tools that the suite calls. */
export const TOOLS: Record<string, Fixture> = {
  test_simple_text: {
    description: 'Answers a text.',
    run: () => text('This is a simple text response for testing.'),
  },
  test_image_content: { description: 'Answers an image.', run: () => ({ content: [image] }) },
  test_audio_content: {
    description: 'Answers a sound.',
    run: () => ({ content: [{ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Answers a resource.',
    run: () => ({
      content: [resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.')],
    }),
  },
  test_multiple_content_types: {
    description: 'Answers a text, an image and a resource.',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        image,
        resource('test://mixed-content-resource', 'application/json', '{"test":"data","value":123}'),
      ],
    }),
  },
  test_error_handling: {
    description: 'Always refuses.',
    run: () => ({ ...text('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_logging: {
    description: 'Logs three lines on its way.',
    async run(_, ctx) {
      for (const data of ['Tool execution started', 'Tool processing data', 'Tool execution completed']) {
        await ctx.mcpReq.notify({ method: 'notifications/message', params: { level: 'info', data } })
        await pause(20)
      }
      return text('Logged.')
    },
  },
  test_tool_with_progress: {
    description: 'Tells its progress to whoever asked for it.',
    async run(_, ctx) {
      const progressToken = ctx.mcpReq._meta?.progressToken
      if (progressToken === undefined) return text('Nobody asked for progress.')
      for (const progress of [0, 50, 100]) {
        await ctx.mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress, total: 100 },
        })
        await pause(20)
      }
      return text(String(progressToken))
    },
  },
  test_sampling: {
    description: 'Asks the client’s model.',
    inputSchema: { type: 'object', properties: { prompt: { type: 'string' } }, required: ['prompt'] },
    async run({ prompt }, ctx) {
      const answer = await ctx.mcpReq.send({
        method: 'sampling/createMessage',
        params: {
          messages: [{ role: 'user', content: { type: 'text', text: String(prompt) } }],
          maxTokens: 100,
        },
      })
      return text(`LLM response: ${(answer as { content: { text?: string } }).content.text}`)
    },
  },
  test_elicitation: {
    description: 'Asks the person.',
    inputSchema: { type: 'object', properties: { message: { type: 'string' } }, required: ['message'] },
    run: ({ message }, ctx) => ask(ctx, String(message), { response: { type: 'string' } }, ['response']),
  },
  test_elicitation_sep1034_defaults: {
    description: 'Asks the person, with a default of each primitive type.',
    run: (_, ctx) =>
      ask(
        ctx,
        'Check the form.',
        {
          name: { type: 'string', default: 'John Doe' },
          age: { type: 'integer', default: 30 },
          score: { type: 'number', default: 95.5 },
          status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
          verified: { type: 'boolean', default: true },
        },
        [],
      ),
  },
  test_elicitation_sep1330_enums: {
    description: 'Asks the person to choose, in each of the five ways.',
    run: (_, ctx) =>
      ask(
        ctx,
        'Choose.',
        {
          untitledSingle: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          titledSingle: {
            type: 'string',
            oneOf: oneOf(['value1', 'First'], ['value2', 'Second'], ['value3', 'Third']),
          },
          legacyEnum: {
            type: 'string',
            enum: ['opt1', 'opt2', 'opt3'],
            enumNames: ['One', 'Two', 'Three'],
          },
          untitledMulti: {
            type: 'array',
            minItems: 1,
            maxItems: 3,
            items: { type: 'string', enum: ['option1', 'option2', 'option3'] },
          },
          titledMulti: {
            type: 'array',
            minItems: 1,
            maxItems: 3,
            items: { anyOf: oneOf(['value1', 'First'], ['value2', 'Second'], ['value3', 'Third']) },
          },
        },
        [],
      ),
  },
  test_missing_capability: {
    description: 'Needs the client’s model.',
    run: (_, ctx) =>
      answerTo(ctx, 'answer') === undefined
        ? inputRequired({ inputRequests: { answer: question('Say pong.') } })
        : text('Answered.'),
  },
  test_streaming_elicitation: {
    description: 'Answers without asking anything.',
    run: () => text('Nothing but the result.'),
  },
  test_logging_tool: {
    description: 'Logs a line where the request asked for logs.',
    async run(_, ctx) {
      await ctx.mcpReq.log('info', 'test_logging_tool ran')
      return text('Logged, where logs were asked for.')
    },
  },
  test_trigger_tool_change: {
    description: 'Says that the tools changed.',
    run: () => {
      changes.publish({ kind: 'tools_list_changed' })
      return text('Said.')
    },
  },
  test_trigger_prompt_change: {
    description: 'Says that the prompts changed.',
    run: () => {
      changes.publish({ kind: 'prompts_list_changed' })
      return text('Said.')
    },
  },
  test_input_required_result_elicitation: {
    description: 'Asks the person for a name.',
    run: (_, ctx) => {
      const name = nameIn(ctx, 'user_name')
      return typeof name === 'string'
        ? text(`Hello, ${name}!`)
        : inputRequired({ inputRequests: { user_name: inputRequired.elicit(nameForm) } })
    },
  },
  test_input_required_result_sampling: {
    description: 'Asks the client’s model a question.',
    run: (_, ctx) => {
      const answer = answerTo<{ content?: { text?: string } }>(ctx, 'capital_question')
      return answer === undefined
        ? inputRequired({ inputRequests: { capital_question: question('What is the capital of France?') } })
        : text(`It says: ${answer.content?.text}`)
    },
  },
  test_input_required_result_list_roots: {
    description: 'Asks the client for its roots.',
    run: (_, ctx) => {
      const roots = answerTo<{ roots?: { uri?: string }[] }>(ctx, 'client_roots')?.roots
      return Array.isArray(roots)
        ? text(`Roots: ${roots.map((root) => root.uri).join(', ')}`)
        : inputRequired({ inputRequests: { client_roots: inputRequired.listRoots() } })
    },
  },
  test_input_required_result_request_state: {
    description: 'Seals a state and gets it back.',
    async run(_, ctx) {
      const state = await stateOf(ctx)
      if (state && acceptedContent(ctx.mcpReq.inputResponses, 'confirm') !== undefined) {
        return text('state-ok')
      }
      return inputRequired({
        inputRequests: { confirm: inputRequired.elicit(okForm) },
        requestState: await states.mint({ nonce: randomUUID() }),
      })
    },
  },
  test_input_required_result_tampered_state: {
    description: 'Refuses a state that was tampered with.',
    async run(_, ctx) {
      const state = await stateOf(ctx)
      if (state && acceptedContent(ctx.mcpReq.inputResponses, 'confirm') !== undefined) {
        return text('integrity-ok')
      }
      return inputRequired({
        inputRequests: { confirm: inputRequired.elicit(okForm) },
        requestState: await states.mint({ nonce: randomUUID() }),
      })
    },
  },
  test_input_required_result_multiple_inputs: {
    description: 'Asks the person, the model and for the roots at once.',
    async run(_, ctx) {
      const name = nameIn(ctx, 'user_name')
      const greeting = answerTo<{ content?: { text?: string } }>(ctx, 'greeting')?.content?.text
      const roots = answerTo<{ roots?: unknown[] }>(ctx, 'client_roots')?.roots
      if (typeof name === 'string' && greeting !== undefined && roots !== undefined) {
        return text(`${greeting} ${name}: ${roots.length} roots`)
      }
      return inputRequired({
        inputRequests: {
          user_name: inputRequired.elicit(nameForm),
          greeting: question('Make a greeting.'),
          client_roots: inputRequired.listRoots(),
        },
        requestState: await states.mint({ nonce: randomUUID() }),
      })
    },
  },
  test_input_required_result_multi_round: {
    description: 'Asks in two rounds; the state says which.',
    async run(_, ctx) {
      const round = ((await stateOf(ctx))?.round as number | undefined) ?? 0
      if (round === 2) return text('Both rounds done.')
      return inputRequired({
        inputRequests: { [`step${round + 1}`]: inputRequired.elicit(nameForm) },
        requestState: await states.mint({ round: round + 1, nonce: randomUUID() }),
      })
    },
  },
  test_input_required_result_capabilities: {
    description: 'Asks only for what the client can do.',
    run: (_, ctx) => {
      if (ctx.mcpReq.inputResponses !== undefined) return text('Answered.')
      const envelope = ctx.mcpReq.envelope as Record<string, unknown> | undefined
      const can = envelope?.[CLIENT_CAPABILITIES_META_KEY] as ClientCapabilities | undefined
      const inputRequests: InputRequests = {
        ...(can?.elicitation ? { user_name: inputRequired.elicit(nameForm) } : {}),
        ...(can?.sampling ? { greeting: question('Make a greeting.') } : {}),
        ...(can?.roots ? { client_roots: inputRequired.listRoots() } : {}),
      }
      return Object.keys(inputRequests).length > 0
        ? inputRequired({ inputRequests })
        : text('There is nothing to ask for.')
    },
  },
}
