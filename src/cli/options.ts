import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Config, readConfig } from '../config.ts'

/** Where a running server leaves its address, for commands that print links. */
export const ADDRESS_FILE = 'server.json'

/** Flags of a command; every value is a string or, where declared so, a switch. */
export function readFlags<F extends string, S extends string>(
  args: string[],
  flags: readonly F[],
  switches: readonly S[] = [],
): { flags: Partial<Record<F, string>>; switches: Partial<Record<S, boolean>>; words: string[] } {
  const options = Object.fromEntries([
    ...flags.map((name) => [name, { type: 'string' as const }]),
    ...switches.map((name) => [name, { type: 'boolean' as const }]),
  ])
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
  return {
    flags: values as Partial<Record<F, string>>,
    switches: values as Partial<Record<S, boolean>>,
    words: positionals,
  }
}

/** Settings for a command that works beside a server that may be running. */
export function settings(flags: Partial<Record<'data' | 'port' | 'host' | 'site', string>>): Config {
  const config = readConfig(flags, process.env)
  try {
    const { site } = JSON.parse(readFileSync(join(config.dataDir, ADDRESS_FILE), 'utf8')) as { site: string }
    return { ...config, site }
  } catch {
    return config
  }
}
