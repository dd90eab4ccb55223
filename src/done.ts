import { createHmac, randomUUID } from 'node:crypto'
import { sealKey } from './auth/console.ts'
import { folderConnector } from './connectors/folder.ts'
import { AppError } from './model/error.ts'
import type { Outside } from './model/outside.ts'
import { openStore, type Store } from './store/store.ts'
import { type AccessLog, accessLog } from './tools/access.ts'
import { type Call, callWith } from './tools/call.ts'

/** A Done without doors: the store and the one way to call a tool. */
export interface Done {
  store: Store
  call: Call
  access: AccessLog
  outside: Outside
  close(): Promise<void>
}

export interface DoneOptions {
  dataDir: string
  /** Where people open Done; a function, since a server may learn its port when it listens. */
  site: () => string
  /** Milliseconds since the epoch; the machine's clock by default. */
  clock?: () => number
}

/** Opens a data folder. Refuses an altered schema and a newer one. */
export function openDone(options: DoneOptions): Done {
  const key = sealKey(options.dataDir)
  const store = openStore({
    dir: options.dataDir,
    site: options.site,
    ...(options.clock ? { clock: options.clock } : {}),
    randomId: randomUUID,
    seal: (text) => createHmac('sha256', key).update(text).digest('hex'),
  })
  const access = accessLog(store)
  const call = callWith({ store, outside, access })
  return {
    store,
    call,
    access,
    outside,
    async close() {
      await access.flush()
      await store.close()
    },
  }
}

/** The kinds of outside source that this build has; adding one is one file and one line. */
const KINDS: Record<string, Outside['connect']> = {
  folder: ({ name, config, may_save }) =>
    folderConnector({ name, root: String(config.root), save: may_save }),
}

const outside: Outside = {
  connect(source) {
    const kind = KINDS[source.kind]
    if (!kind)
      throw new AppError(
        'unavailable',
        `"${source.name}" is a ${source.kind}, which this installation can’t reach.`,
      )
    return kind(source)
  },
}
