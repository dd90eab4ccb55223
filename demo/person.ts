import type { Server } from './server.ts'

/** Somebody signed in, who decides as people do: by reading what was asked, and then approving or rejecting just that. */
export interface Person {
  approve(request: string): Promise<void>
  reject(request: string, note: string): Promise<void>
  /** Lets a task close without a person. */
  autoOk(task: string): Promise<void>
}

/** Signs the owner in by a one-time link from the console. */
export async function signIn(server: Server): Promise<Person> {
  const link = await server.console('signin-link')
  const entered = await fetch(link, { method: 'POST', redirect: 'manual', headers: { origin: server.site } })
  const cookie = entered.headers.getSetCookie()[0]?.split(';')[0] ?? ''
  if (!cookie) throw new Error(`The sign-in link was not taken: ${entered.status}.`)

  async function ask(method: string, path: string, body?: object): Promise<Record<string, unknown>> {
    const response = await fetch(`${server.site}/api/people${path}`, {
      method,
      headers: { cookie, origin: server.site, ...(body ? { 'content-type': 'application/json' } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    const answer = (await response.json()) as Record<string, unknown>
    if (!response.ok) throw new Error(`${method} ${path}: ${JSON.stringify(answer)}`)
    return answer
  }

  return {
    async approve(request) {
      const { form } = (await ask('GET', `/sign-offs/${request}`)) as {
        form: { version: number; hash: string; nonce: string }
      }
      const { version, hash, nonce } = form
      await ask('POST', `/sign-offs/${request}/approve`, { version, hash, nonce })
    },
    reject: async (request, note) => void (await ask('POST', `/sign-offs/${request}/reject`, { note })),
    autoOk: async (task) => void (await ask('PUT', `/tasks/${task}/auto-ok`, { auto_ok: true })),
  }
}
