import type { Connection } from '../tools/call.ts'

interface Lazy {
  presets: readonly string[] | undefined
  gone(): AbortSignal
}

/**
 * The getter stands once, on what all connections inherit from: as a part of each it would give every one a shape of its
 * own, and collecting those costs as much as the rest of the door.
 */
const LAZY = {
  get signal(): AbortSignal {
    return (this as unknown as Lazy).gone()
  },
}

/** What a connection adds to a call. Its signal is made only where somebody waits on it: that is dear, and rare. */
export function connectionOf(presets: Lazy['presets'], gone: Lazy['gone']): Connection {
  const connection: Lazy & Connection = Object.create(LAZY)
  connection.presets = presets
  connection.gone = gone
  return connection
}
