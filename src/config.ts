import { homedir } from 'node:os'
import { join } from 'node:path'

/** Every setting of the server: where it comes from, what it defaults to, what it means. */
export interface Config {
  /** `--data`, `DONE_DATA`: the folder with the database, the keys and nothing else. */
  dataDir: string
  /** `--port`, `DONE_PORT`: where the server listens. */
  port: number
  /** `--host`, `DONE_HOST`: the address it binds to. Anything but loopback needs {@link site}. */
  host: string
  /** `--site`, `DONE_SITE`: the address people open, such as `https://done.example.org`. */
  site: string
  /** `DONE_OWNER`: the name of the person that the first start makes the owner. */
  owner: string
  /** `DONE_ZONE`: the IANA zone of a new account; the machine's own by default. */
  zone: string
}

type Flags = Partial<Record<'data' | 'port' | 'host' | 'site', string>>

/** Settings from flags, then the environment, then defaults. Throws on a port that is none. */
export function readConfig(flags: Flags, env: NodeJS.ProcessEnv): Config {
  const port = Number(flags.port ?? env.DONE_PORT ?? 4747)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`"${flags.port ?? env.DONE_PORT}" is not a port. Give a number from 0 to 65535.`)
  }
  const host = flags.host ?? env.DONE_HOST ?? '127.0.0.1'
  return {
    dataDir: flags.data ?? env.DONE_DATA ?? join(homedir(), '.done'),
    port,
    host,
    site: (
      flags.site ??
      env.DONE_SITE ??
      `http://${host.includes(':') ? `[${host}]` : host}:${port}`
    ).replace(/\/$/, ''),
    owner: env.DONE_OWNER ?? 'Owner',
    zone: env.DONE_ZONE ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}
