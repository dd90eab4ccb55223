interface OpenRequest {
  /** Who answers it: we ourselves, or the SDK. */
  readonly by: 'here' | 'sdk'
  cancelled(): boolean
  /** Aborted when the request is taken back. Made for who waits on it. */
  gone(): AbortSignal
}

/** The requests of a connection that are not answered yet, by id. */
export function openRequests() {
  const open = new Map<unknown, OpenRequest & { cancel(): void }>()
  let idle = () => {}

  function end(id: unknown): void {
    open.delete(id)
    if (open.size === 0) idle()
  }

  return {
    begin(id: unknown, by: OpenRequest['by']): OpenRequest {
      const request = openRequest(by)
      open.set(id, request)
      return request
    },
    end,
    /** The client takes a request back, if it is open: no answer will come. True where nobody else has to hear of it. */
    takeBack(id: unknown): boolean {
      const request = open.get(id)
      request?.cancel()
      end(id)
      return request?.by === 'here'
    },
    /** Resolves when none is open any more, or after so many milliseconds. */
    answered: (ms: number) =>
      new Promise<void>((resolve) => {
        idle = resolve
        setTimeout(resolve, ms).unref()
        if (open.size === 0) resolve()
      }),
  }
}

function openRequest(by: OpenRequest['by']) {
  let cancelled = false
  let abort: AbortController | undefined
  return {
    by,
    cancelled: () => cancelled,
    gone() {
      abort ??= new AbortController()
      if (cancelled) abort.abort()
      return abort.signal
    },
    cancel() {
      cancelled = true
      abort?.abort()
    },
  }
}
