import { addDays } from './zone.ts'

/** When a project would be finished if work went on as it did. */
export type Forecast =
  | { none: string }
  | {
      /** Dates; `latest` is absent where the pace is too uncertain to say. */
      finish: string
      earliest: string
      latest?: string
      closed_per_day: number
    }

/** Beyond this a date would only pretend to know. */
const FURTHEST_DAYS = 3650

/**
 * The finish from the pace so far: the mean of closed tasks a day, with a range of one standard error either way,
 * counting closings as independent of each other (Poisson: the error of n is the root of n).
 */
export function forecast(open: number, closed: number, days: number, today: string): Forecast {
  if (open === 0) return { none: 'nothing is open' }
  if (closed === 0) return { none: 'no task was closed in this time, so there is no pace' }
  const error = Math.sqrt(closed)
  const date = (rate: number) => {
    const left = Math.ceil((open * days) / rate)
    return rate > 0 && left <= FURTHEST_DAYS ? addDays(today, left) : undefined
  }
  const finish = date(closed)
  if (!finish) return { none: 'at the pace so far it would take more than ten years' }
  const latest = date(closed - error)
  return {
    finish,
    earliest: date(closed + error)!,
    ...(latest ? { latest } : {}),
    closed_per_day: Math.round((closed / days) * 100) / 100,
  }
}
