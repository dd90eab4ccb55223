import { AppError, notFound } from '../model/error.ts'
import type { Source } from '../model/outside.ts'
import { fold, nearest } from '../model/suggest.ts'
import type { ReadTx } from '../store/handle.ts'
import { sourcesOf } from '../store/source.ts'
import type { Row } from '../store/tables.ts'
import type { OpenRead } from './tool.ts'

/** The sources that the caller may reach: those named, or all. An unknown name is `not_found` with the near ones. */
export async function sourcesFor(tx: ReadTx, names?: readonly string[]): Promise<Source[]> {
  if (tx.actor.projects !== undefined) {
    throw new AppError(
      'scope',
      'This credential is narrowed to projects, and outside sources belong to none.',
      {
        next: 'Ask a person for a credential that is not narrowed. Go on with what is in your projects.',
      },
    )
  }
  const all = (await sourcesOf(tx)).map(asSource)
  if (names === undefined || names.length === 0) return all
  return [...new Set(names.map((name) => fold(name.trim())))].map((key) => {
    const found = all.find((source) => fold(source.name) === key)
    if (found) return found
    const known = all.map((source) => source.name)
    const near = nearest(key, known)
    throw notFound(`No source is called "${key.slice(0, 80)}".`, {
      allowed: near.length > 0 ? near : known.slice(0, 10),
      next: 'list_connectors shows them all; a person connects another.',
    })
  })
}

/** Runs one outside call with a deadline, and leaves it at that even where the connector does not heed the signal. */
export async function within<T>(
  port: OpenRead,
  ms: number,
  source: string,
  run: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const signal = AbortSignal.any([port.signal, AbortSignal.timeout(ms)])
  port.signal.throwIfAborted()
  let stop = () => {}
  const late = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason)
    signal.addEventListener('abort', stop)
  })
  try {
    return await Promise.race([run(signal), late])
  } catch (error) {
    throw outsideError(error, source, signal)
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

/** Why an outside call failed, as far as a caller may know: our own words, never a driver's or a path. */
function outsideError(error: unknown, source: string, signal: AbortSignal): AppError {
  if (error instanceof AppError) return error
  const late = signal.aborted
  return new AppError('unavailable', `"${source}" ${late ? 'did not answer in time' : 'failed'}.`, {
    retry: true,
    next: 'Try again in a moment, or go on without it.',
  })
}

function asSource(row: Row<'connectors'>): Source {
  return {
    name: row.name,
    kind: row.kind,
    config: JSON.parse(row.config) as Record<string, unknown>,
    may_save: row.may_save === 1,
  }
}
