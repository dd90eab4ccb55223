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
  'signin-link': () => import('./cli/signin-link.ts'),
  call: () => import('./cli/call.ts'),
  tools: () => import('./cli/tools.ts'),
}

const [command = 'help', ...args] = process.argv.slice(2)

if (command === 'help' || command === '--help' || command === '-h') {
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
    console.error(
      process.env.DONE_DEBUG
        ? error
        : `donectl ${command}: ${error instanceof Error ? error.message : error}`,
    )
    process.exitCode = 1
  }
}
