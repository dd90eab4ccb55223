import { homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { type Allowed, readAllowed } from './outbound/allow.ts'

/** Every setting of the server: where it comes from, what it defaults to, what it means. */
export interface Config {
  /** `--data`, `DONE_DATA`: the folder with the database, the keys and nothing else. */
  dataDir: string
  /** `DATABASE_URL`: a PostgreSQL database instead of the embedded one, as its owner: `postgres://…`. */
  database?: string
  /** `DONE_DATABASE_ROLES`: how the names of the roles begin that Done makes there. */
  rolePrefix?: string
  /** `DONE_SEAL_KEY`: the key of sign-offs, where no data folder is shared; by default `seal.key` in the folder. */
  sealKey?: string
  /** `--port`, `DONE_PORT`: where the server listens. */
  port: number
  /** `--host`, `DONE_HOST`: the address it binds to. Anything but loopback needs {@link site}. */
  host: string
  /** `--site`, `DONE_SITE`: the address people open, such as `https://done.example.org`. */
  site: string
  /** `DONE_TRUSTED_PROXIES`: addresses and networks whose word on where a request comes from is taken. */
  trustedProxies: readonly string[]
  /** `--allow-outbound`, `DONE_ALLOW_OUTBOUND`: what Done may connect to although it is not public, or not https on port 443. */
  allowOutbound: readonly Allowed[]
  /** `DONE_METRICS_TOKEN`: who sends it as a bearer token may read `/metrics`; without it nothing is counted. */
  metricsToken?: string
  /** `DONE_OWNER`: the name of the person that the first start makes the owner. */
  owner: string
  /**
   * `DONE_ZONE`: the IANA zone of a new account; the machine's own by default. Asked where an account is made: to find the
   * machine's zone takes longer than the first answer over stdio.
   */
  zone(): string
}

type Flags = Partial<Record<'data' | 'port' | 'host' | 'site' | 'allow-outbound', string>>

/** Settings from flags, then the environment, then defaults. Throws on what can’t be, such as a port that is none. */
export function readConfig(flags: Flags, env: NodeJS.ProcessEnv): Config {
  const port = Number(flags.port ?? env.DONE_PORT ?? 4747)
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new Error(`"${flags.port ?? env.DONE_PORT}" is not a port. Give a number from 0 to 65535.`)
  }
  const host = flags.host ?? env.DONE_HOST ?? '127.0.0.1'
  const site = flags.site ?? env.DONE_SITE
  if (site === undefined && !isLoopback(host)) {
    throw new Error(
      `With the host ${host} others can reach Done, so it needs the address that they open: give --site (or DONE_SITE), such as https://done.example.org.`,
    )
  }
  const address = (site ?? `http://${host.includes(':') ? `[${host}]` : host}:${port}`).replace(/\/$/, '')
  if (!URL.canParse(address)) {
    throw new Error(
      `"${address}" is not an address. Give --site as in https://done.example.org, and --host as a name or an IP address.`,
    )
  }
  const { DATABASE_URL: database, DONE_DATABASE_ROLES: rolePrefix, DONE_SEAL_KEY: sealKey } = env
  if (database && !/^postgres(ql)?:\/\//.test(database)) {
    throw new Error(
      'DATABASE_URL is not the address of a PostgreSQL database. Give one as in postgres://user:password@host/database, or take it out of the environment to use the embedded database.',
    )
  }
  if (database && !URL.canParse(database)) {
    throw new Error(
      'DATABASE_URL can’t be read. Write / # ? % and @ in its name and password as %2F %23 %3F %25 and %40.',
    )
  }
  if (database && new URL(database).pathname.length < 2) {
    throw new Error(
      'DATABASE_URL names no database. Give one behind the host, as in postgres://user:password@host/database.',
    )
  }
  if (rolePrefix && !/^[\w-]{1,50}$/.test(rolePrefix)) {
    throw new Error(
      `"${rolePrefix}" can’t be how the names of roles begin. Give DONE_DATABASE_ROLES 1 to 50 letters, digits, dashes and underscores.`,
    )
  }
  const { DONE_METRICS_TOKEN: metricsToken } = env
  if (metricsToken && !/^[!-~]{20,}$/.test(metricsToken)) {
    throw new Error(
      'DONE_METRICS_TOKEN is too short to be a secret, or can’t stand in a header. Give 20 or more letters and digits, as openssl rand -hex 32 makes them.',
    )
  }
  return {
    ...(metricsToken ? { metricsToken } : {}),
    ...(database ? { database } : {}),
    ...(rolePrefix ? { rolePrefix } : {}),
    ...(sealKey ? { sealKey } : {}),
    dataDir: dataFolder(flags, env),
    port,
    host,
    site: address,
    trustedProxies: env.DONE_TRUSTED_PROXIES?.split(',').map((each) => each.trim()) ?? [],
    allowOutbound: readAllowed(flags['allow-outbound'] ?? env.DONE_ALLOW_OUTBOUND ?? ''),
    owner: env.DONE_OWNER ?? 'Owner',
    zone: () => env.DONE_ZONE ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  }
}

/** The folder that the flags or the environment name, from the root: what is printed for a host has to work from anywhere. */
export function dataFolder(flags: Flags, env: NodeJS.ProcessEnv): string {
  return resolve(flags.data ?? env.DONE_DATA ?? join(homedir(), '.done'))
}

/** Whether only this machine reaches the address. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
}
