import { parseArgs } from 'node:util'
import { type Config, dataFolder, readConfig } from '../config.ts'
import { addressOfServer } from './address.ts'

/** Flags of a command; every value is a string or, where declared so, a switch. `most` words may stand beside them. */
export function readFlags<F extends string, S extends string>(
  args: string[],
  flags: readonly F[],
  { switches = [], most = 0 }: { switches?: readonly S[]; most?: number } = {},
): { flags: Partial<Record<F, string>>; switches: Partial<Record<S, boolean>>; words: string[] } {
  const options = Object.fromEntries([
    ...flags.map((name) => [name, { type: 'string' as const }]),
    ...switches.map((name) => [name, { type: 'boolean' as const }]),
  ])
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true, strict: true })
  if (positionals.length > most)
    throw new Error(`"${positionals[most]}" is one word too many. See donectl help.`)
  return {
    flags: values as Partial<Record<F, string>>,
    switches: values as Partial<Record<S, boolean>>,
    words: positionals,
  }
}

/** Settings for a command that works beside a server that may be running. */
export function settings(flags: Partial<Record<'data' | 'port' | 'host' | 'site', string>>): Config {
  const site = addressOfServer(dataFolder(flags, process.env))
  return readConfig({ ...flags, ...(site === undefined ? {} : { site }) }, process.env)
}
