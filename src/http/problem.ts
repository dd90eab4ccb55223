import type { Context } from 'hono'
import { AppError, type ErrorCode, tellRefusal } from '../model/error.ts'
import type { AppDeps } from './app.ts'
import { metadataOf } from './resource-metadata.ts'

/** The status of each code, here and nowhere else. */
export const STATUS = {
  unknown_argument: 400,
  invalid_value: 400,
  not_found: 404,
  conflict: 409,
  already_claimed: 409,
  blocked: 409,
  needs_approval: 409,
  scope: 403,
  people_only: 403,
  rate_limited: 429,
  too_large: 413,
  unavailable: 503,
  internal: 500,
} as const satisfies Record<ErrorCode, number>

/** Sends a refusal; `status` where HTTP has one of its own for it, such as 415. */
export function sendProblem(
  c: Context,
  error: AppError,
  status: number = STATUS[error.code],
  headers: Record<string, string> = {},
): Response {
  return c.json({ error: tellRefusal(error) }, status as 400, headers)
}

/**
 * RFC 6750, 3: without a credential the challenge names no error; one that is not good is `invalid_token`. Where one is to be
 * had stands in the metadata (RFC 9728, 5.1).
 */
export function sendUnauthorized(c: Context, { origins }: AppDeps, given: boolean): Response {
  const message = given
    ? 'The credential is not good: it never was, has expired or was revoked.'
    : 'This needs a credential.'
  const error = new AppError('scope', message, {
    retry: false,
    next: 'Send "Authorization: Bearer" and a token. A person makes one at the console of the server: node dist/donectl.js token create --name NAME --scope write, with the same --data.',
  })
  const metadata = metadataOf(origins().get(c.req.header('host')!.toLowerCase())!, '')
  const challenge = `Bearer realm="Done", ${given ? 'error="invalid_token", ' : ''}scope="read write", resource_metadata="${metadata}"`
  return sendProblem(c, error, 401, { 'www-authenticate': challenge })
}
