/** An answer of which only the id differs from one request to the next. It stands last, so that all before it is made once. */
export interface Fixed {
  readonly head: string
  /** The rest, by id. */
  tail(id: string | number): string
}

/** The answer with this result. */
export function fixed(result: Record<string, unknown>): Fixed {
  return {
    head: `{"jsonrpc":"2.0","result":${JSON.stringify(result)},"id":`,
    tail: (id) => `${JSON.stringify(id)}}`,
  }
}
