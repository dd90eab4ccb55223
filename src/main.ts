#!/usr/bin/env node
import { usage } from './cli/usage.ts'

/**
 * `donectl`: each command in a file of its own, loaded only when it is the one, so that `donectl mcp` starts as fast as it
 * can.
 */
const COMMANDS: Record<string, () => Promise<{ run(args: string[]): Promise<number | undefined> }>> = {
  serve: () => import('./cli/serve.ts'),
  mcp: () => import('./cli/mcp.ts'),
  token: () => import('./cli/token.ts'),
  account: () => import('./cli/account.ts'),
  'signin-link': () => import('./cli/signin-link.ts'),
  verify: () => import('./cli/verify.ts'),
  doctor: () => import('./cli/doctor.ts'),
  backup: () => import('./cli/backup.ts'),
  restore: () => import('./cli/restore.ts'),
  'migrate-engine': () => import('./cli/migrate-engine.ts'),
  call: () => import('./cli/call.ts'),
  tools: () => import('./cli/tools.ts'),
}

const [command = 'help', ...args] = process.argv.slice(2)

if (['help', '--help', '-h'].includes(command) || args.includes('--help')) {
  console.log(usage())
} else if (command === '--version' || command === 'version') {
  const { VERSION } = await import('./version.ts')
  console.log(VERSION)
} else if (!Object.hasOwn(COMMANDS, command)) {
  console.error(`donectl has no command "${command}".\n\n${usage()}`)
  process.exitCode = 2
} else {
  try {
    process.exitCode = await (await COMMANDS[command]!()).run(args)
  } catch (error) {
    // What a person at a terminal can act on is the message; the stack is for us, and only on request.
    console.error(process.env.DONE_DEBUG ? error : `donectl ${command}: ${inWords(error)}`)
    // What the command has opened by then would keep the process.
    process.exit(1)
  }
}

/** What the system's own errors mean here, and what to do about them. */
function inWords(error: unknown): string {
  const { code, message, path, port } = error as NodeJS.ErrnoException & { port?: number }
  const meanings: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken, by another program or another Done. Give another with --port.`,
    EACCES: `${path ?? 'The data folder'} can’t be opened by this user.`,
    EPERM: `${path ?? 'The data folder'} can’t be opened by this user.`,
    EROFS: `${path ?? 'The data folder'} is read-only.`,
    EEXIST: `${path ?? 'The data folder'} is a file, not a folder.`,
    ENOTDIR: `${path ?? 'The data folder'} is not in a folder.`,
    SQLITE_NOTADB: 'done.db in the data folder is no database. Restore it from a backup.',
    ERR_PARSE_ARGS_UNKNOWN_OPTION: `${message.split('.')[0]}. See donectl help.`,
  }
  return (
    (code && meanings[code]) || (/file is not a database/.test(message) ? meanings.SQLITE_NOTADB! : message)
  )
}
