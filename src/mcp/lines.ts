import type { Readable, Writable } from 'node:stream'

/**
 * Hands on the lines of a stream as they become whole, without their ends. `tooLong` is called for a line of more bytes than
 * `most`, and nothing after that; `ended` once the stream has, or has failed.
 */
export function readLines(
  input: Readable,
  most: number,
  on: { line(text: string): void; tooLong(): void; ended(): void },
): void {
  let parts: Buffer[] = []
  let size = 0
  let over = false

  function take(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(NEWLINE); end >= 0 && !over; end = chunk.indexOf(NEWLINE, start)) {
      keep(chunk.subarray(start, end))
      start = end + 1
      if (over) return
      const line = parts.length === 1 ? parts[0]! : Buffer.concat(parts)
      parts = []
      size = 0
      on.line(line.toString('utf8').replace(/\r$/, ''))
    }
    if (start < chunk.length) keep(chunk.subarray(start))
  }

  function keep(part: Buffer): void {
    size += part.length
    if (size <= most) parts.push(part)
    else {
      over = true
      parts = []
      input.off('data', take)
      input.pause()
      on.tooLong()
    }
  }

  function end(): void {
    if (over) return
    over = true
    on.ended()
  }

  input.on('data', take)
  input.once('end', end)
  input.once('error', end)
  input.once('close', end)
}

const NEWLINE = 0x0a

/** Writes lines; those of one turn of the event loop go out together. */
export function lineWriter(stdout: Writable, failed: () => void) {
  let joined = false
  stdout.on('error', (error) => {
    console.error(error.message)
    failed()
  })
  return {
    /** Resolves when there is room for more. */
    line(text: string): Promise<void> | void {
      if (!joined) {
        joined = true
        stdout.cork()
        setImmediate(() => {
          joined = false
          stdout.uncork()
        })
      }
      if (!stdout.write(`${text}\n`)) return new Promise((resolve) => stdout.once('drain', resolve))
    },
  }
}
