import { serveMcpStdio } from '../src/mcp/stdio.ts'

/** The smallest program around the stdio door: a data folder, presets and, by DONE_TOKEN, an agent. */
const [dataDir = '.', presets] = process.argv.slice(2)
const token = process.env.DONE_TOKEN

await serveMcpStdio({
  presets: presets?.split(','),
  ...(token ? {} : { scopes: ['read', 'write'] }),
  async connect() {
    console.error('the data folder is opened')
    const { actorOfToken } = await import('../src/auth/actor.ts')
    const { ensureAccount, ensureAgent } = await import('../src/auth/console.ts')
    const { openDone } = await import('../src/done.ts')
    const done = await openDone({ dataDir, site: () => 'http://127.0.0.1:4747' })
    const { store, call } = done
    const account = await ensureAccount(store, { owner: 'Ana', zone: () => 'Europe/Madrid' })
    const renew = token ? () => actorOfToken(store, token) : undefined
    const actor = renew ? await renew() : await ensureAgent(store, account, 'local')
    if (!actor) throw new Error('The token in DONE_TOKEN is not good.')
    return { call, actor, onEvents: store.onEvents, renew, close: done.close }
  },
})
