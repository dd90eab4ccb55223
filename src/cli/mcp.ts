import { serveMcpStdio } from '../mcp/stdio.ts'
import { readFlags, settings } from './options.ts'

/**
 * `donectl mcp`: MCP on stdin and stdout, with or without a server beside it. The first answer needs neither the database
 * nor the catalogue, so both are loaded at the first call.
 */
export async function run(args: string[]): Promise<number> {
  const { flags } = readFlags(args, ['data', 'tools'])
  const config = settings(flags)
  const token = process.env.DONE_TOKEN
  await serveMcpStdio({
    presets: flags.tools?.split(','),
    ...(token === undefined ? { scopes: ['read', 'write'] as const } : {}),
    toolFile: async () => (await import('../mcp/built-list.ts')).BUILT_LIST,
    connect: async () => {
      const [{ openHere }, { localAgent }, { actorOfToken }, { startJobs }] = await Promise.all([
        import('./place.ts'),
        import('./agent.ts'),
        import('../auth/actor.ts'),
        import('../jobs/poller.ts'),
      ])
      const done = await openHere(config)
      const actor = await localAgent(done, config, token)
      const jobs = startJobs(done)
      return {
        call: done.call,
        actor,
        onEvents: done.store.onEvents,
        ...(token !== undefined ? { renew: () => actorOfToken(done.store, token) } : {}),
        async close() {
          await jobs.stop()
          await done.close()
        },
      }
    },
  })
  return 0
}
