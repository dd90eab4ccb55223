import { request } from 'node:http'
import type { AppError } from '../src/model/error.ts'
import { textOf } from '../src/tools/text.ts'
import type { HttpWorld } from './http.ts'

/** An answer or a refusal, as a model reads it. */
export async function saidBy(call: Promise<Record<string, unknown>>): Promise<string> {
  try {
    const output = await call
    return `${JSON.stringify(output)}\n${textOf(output)}`
  } catch (error) {
    const { code, message, details } = error as AppError
    if (!code) throw error
    return JSON.stringify({ code, message, ...details })
  }
}

export type Input = Record<string, unknown>
type Place = readonly (string | number)[]

/** What a call names that could be taken for something hidden. */
export const wordsOf = (input: Input): string[] =>
  JSON.stringify(input).match(/\b[A-Z]\d{4}\b|canary \w+/g) ?? []

/** Every place of these calls where an id stands. */
export function probesOf(calls: readonly Input[]): { input: Input; place: Place }[] {
  const found = new Map<string, { input: Input; place: Place }>()
  for (const input of calls)
    for (const place of placesIn(input)) {
      const key = place.join('.')
      if (!found.has(key)) found.set(key, { input, place })
    }
  return [...found.values()]
}

function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value === 'string') return /^[A-Z]\d+$/.test(value) ? [at] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, each]) => placesIn(each, [...at, key]))
}

export function put(input: Input, [key, ...rest]: Place, id: string): Input {
  const copy = (Array.isArray(input) ? [...input] : { ...input }) as Input
  copy[key!] = rest.length === 0 ? id : put(copy[key!] as Input, rest, id)
  return copy
}

/** The first seconds of `GET /api/events?after=E0`. */
export function streamed(door: HttpWorld, token: string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const sent = request(
      {
        port: door.server.port,
        path: '/api/events?after=E0',
        agent: false,
        headers: { host: door.host, authorization: `Bearer ${token}` },
      },
      (response) => {
        response.on('data', (part) => {
          text += part
        })
        setTimeout(() => {
          sent.destroy()
          resolve(text)
        }, 1000)
      },
    )
    sent.on('error', (error) => (sent.destroyed ? undefined : reject(error)))
    sent.end()
  })
}
