import {
  acceptedContent,
  type ElicitInputParams,
  type GetPromptResult,
  type InputRequiredResult,
  inputRequired,
  type ReadResourceResult,
  type Server,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server'
import { promptNamed, promptsFor } from '../../src/mcp/prompts.ts'
import { callTool, type Door, serverFor } from '../../src/mcp/protocol.ts'
import { readResource, resourcesFor, resourceTemplatesFor } from '../../src/mcp/resources.ts'
import { image, PIXEL, resource, TOOLS } from './tools.ts'

/**
 * What the conformance suite wants to find on a server, laid over our own: its tools, prompts and resources stand beside
 * ours, and whatever is not one of them is answered by the product's own functions. In no build but this one.
 */

const PROMPTS: Record<
  string,
  {
    args: string[]
    get(args: Record<string, string>, ctx: ServerContext): GetPromptResult | InputRequiredResult
  }
> = {
  test_simple_prompt: { args: [], get: () => said('This is a simple prompt for testing.') },
  test_prompt_with_arguments: {
    args: ['arg1', 'arg2'],
    get: ({ arg1, arg2 }) => said(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
  },
  test_prompt_with_embedded_resource: {
    args: ['resourceUri'],
    get: ({ resourceUri }) => ({
      messages: [
        {
          role: 'user',
          content: resource(resourceUri!, 'text/plain', 'Embedded resource content for testing.'),
        },
        ...said('Work with the resource above.').messages,
      ],
    }),
  },
  test_prompt_with_image: {
    args: [],
    get: () => ({
      messages: [{ role: 'user', content: image }, ...said('Look at the image above.').messages],
    }),
  },
  test_input_required_result_prompt: {
    args: [],
    get: (_, ctx) => {
      const form: ElicitInputParams = {
        message: 'What about?',
        requestedSchema: {
          type: 'object',
          properties: { context: { type: 'string' } },
          required: ['context'],
        },
      }
      const context = acceptedContent<{ context?: unknown }>(ctx.mcpReq.inputResponses, 'user_context')
      return typeof context?.context === 'string'
        ? said(`It is about this: ${context.context}`)
        : inputRequired({ inputRequests: { user_context: inputRequired.elicit(form) } })
    },
  },
}

function said(what: string): GetPromptResult {
  return { messages: [{ role: 'user', content: { type: 'text', text: what } }] }
}

const RESOURCES = [
  { uri: 'test://static-text', name: 'static-text', mimeType: 'text/plain' },
  { uri: 'test://static-binary', name: 'static-binary', mimeType: 'image/png' },
  { uri: 'test://watched-resource', name: 'watched-resource', mimeType: 'text/plain' },
]

function readFixture(uri: string): ReadResourceResult | undefined {
  const id = /^test:\/\/template\/(.+)\/data$/.exec(uri)?.[1]
  if (id !== undefined) {
    const data = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
    return { contents: [{ uri, mimeType: 'application/json', text: data }] }
  }
  const { mimeType } = RESOURCES.find((each) => each.uri === uri) ?? {}
  if (mimeType === undefined) return undefined
  return {
    contents: [
      mimeType === 'image/png'
        ? { uri, mimeType, blob: PIXEL }
        : { uri, mimeType, text: 'This is the content of the static text resource.' },
    ],
  }
}

/** The product's server for this connection, with the fixtures beside its own. */
export function fixtureServer(door: Door, era: 'modern' | 'legacy'): Server {
  const server = serverFor(door, era)
  server.registerCapabilities({
    logging: {},
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    prompts: { listChanged: true },
  })
  const listed = Object.entries(TOOLS).map(([name, { description, inputSchema }]): Tool => {
    return { name, description, inputSchema: inputSchema ?? { type: 'object' } }
  })
  const own = <T>(record: Record<string, T>, name: string) =>
    Object.hasOwn(record, name) ? record[name] : undefined

  server.setRequestHandler('tools/list', () => ({ tools: [...(door.tools as unknown as Tool[]), ...listed] }))
  server.setRequestHandler('tools/call', ({ params }, ctx) => {
    const fixture = own(TOOLS, params.name)
    return fixture ? fixture.run(params.arguments ?? {}, ctx) : callTool(door, server, params, ctx)
  })
  server.setRequestHandler('prompts/list', () => ({
    prompts: [
      ...promptsFor(door.names).prompts,
      ...Object.entries(PROMPTS).map(([name, { args }]) => ({
        name,
        description: 'A prompt of the conformance suite.',
        arguments: args.map((each) => ({ name: each, required: true })),
      })),
    ],
  }))
  server.setRequestHandler('prompts/get', ({ params }, ctx) => {
    const args = params.arguments ?? {}
    return own(PROMPTS, params.name)?.get(args, ctx) ?? promptNamed(door.names, params.name, args)
  })
  server.setRequestHandler('resources/list', () => ({
    resources: [...resourcesFor(door.names).resources, ...RESOURCES],
  }))
  server.setRequestHandler('resources/templates/list', () => ({
    resourceTemplates: [
      ...resourceTemplatesFor(door.names).resourceTemplates,
      { uriTemplate: 'test://template/{id}/data', name: 'template', mimeType: 'application/json' },
    ],
  }))
  server.setRequestHandler(
    'resources/read',
    async ({ params }) =>
      readFixture(params.uri) ?? readResource(await door.caller(), params.uri, { presets: door.presets }),
  )
  if (era === 'legacy') {
    server.setRequestHandler('resources/subscribe', () => ({}))
    server.setRequestHandler('resources/unsubscribe', () => ({}))
  }
  return server
}
