import type { Context } from 'hono'
import { AppError } from '../model/error.ts'

/** The text of a request's body, of at most so many bytes. What is longer is refused before it is read to its end. */
export async function bodyText(c: Context, most: number): Promise<string> {
  const length = c.req.header('content-length')
  if (Number(length ?? 0) > most) throw tooLarge(most)
  // With a length the server itself reads no further; without one the body is counted as it comes.
  if (length !== undefined && c.req.header('transfer-encoding') === undefined) return c.req.text()
  if (c.req.header('transfer-encoding') === undefined) return ''
  const parts: Uint8Array[] = []
  let size = 0
  for await (const part of c.req.raw.body ?? []) {
    size += part.length
    if (size > most) throw tooLarge(most)
    parts.push(part)
  }
  return Buffer.concat(parts).toString('utf8')
}

function tooLarge(most: number): AppError {
  return new AppError('too_large', `A request may have at most ${most} bytes here.`, {
    next: 'Send a file of at most 10 MiB, or a link to it.',
  })
}
