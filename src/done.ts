import { createHmac, randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { relative, resolve, sep } from 'node:path'
import { sealKey } from './auth/console.ts'
import { type CredentialUse, credentialUse } from './auth/credential-use.ts'
import { type Envelope, envelopeUnder, keyFor } from './auth/envelope.ts'
import { folderConnector } from './connectors/folder.ts'
import { type Heads, headsIn } from './jobs/heads.ts'
import { AppError, invalid } from './model/error.ts'
import type { Outside } from './model/outside.ts'
import { openStore, type Store } from './store/store.ts'
import { type AccessLog, accessLog } from './tools/access.ts'
import { type Call, callWith } from './tools/call.ts'

/** A Done without doors: the store and the one way to call a tool. */
export interface Done {
  store: Store
  call: Call
  access: AccessLog
  /** When tokens were last used; every door that takes them tells it. */
  credentialUse: CredentialUse
  outside: Outside
  /** How far the log was sealed, as this machine has seen it. */
  heads: Heads
  /** In which secrets are kept that have to be read again. */
  secrets: Envelope
  /** Signs the cookies of the authorization server. */
  cookieKey: string
  /** Answers reads that wait for something to happen with what there is: the process is about to end. */
  stopWaiting(): void
  close(): Promise<void>
}

export interface DoneOptions {
  /** The folder of the embedded database and of the key. */
  dataDir: string
  /** A PostgreSQL database instead of the embedded one: `postgres://…`, as its owner. */
  database?: string | undefined
  /** How the names of the database's roles begin. */
  rolePrefix?: string | undefined
  /** The key that seals sign-offs, 64 hexadecimal digits; by default it lies in the data folder. */
  sealKey?: string | undefined
  /** Where people open Done; a function, since a server may learn its port when it listens. */
  site: () => string
  /** Refuses where there are no data yet, in place of beginning some. */
  existing?: boolean
  /** Told of each transaction of writes: how many it carried, and how many milliseconds it took. */
  committed?: ((writes: number, ms: number) => void) | undefined
  /** Milliseconds since the epoch; the machine's clock by default. */
  clock?: () => number
}

/** Opens a data folder. Refuses an altered schema and a newer one. */
export async function openDone(options: DoneOptions): Promise<Done> {
  const store = await openStore({
    dir: options.dataDir,
    database: options.database,
    rolePrefix: options.rolePrefix,
    site: options.site,
    ...(options.clock ? { clock: options.clock } : {}),
    ...(options.existing ? { existing: true } : {}),
    committed: options.committed,
    randomId: randomUUID,
    sealFor: (isNew) => sealBy(sealKey(options.dataDir, options.sealKey, isNew)),
  })
  const access = accessLog(store)
  const uses = credentialUse(store)
  const outside = outsideOf(options.dataDir)
  const ending = new AbortController()
  const call = callWith({ store, outside, access, ending: ending.signal })
  const key = sealKey(options.dataDir, options.sealKey, false)
  return {
    store,
    call,
    access,
    credentialUse: uses,
    outside,
    heads: headsIn(options.dataDir),
    secrets: envelopeUnder(key),
    cookieKey: keyFor('cookies', key).toString('base64url'),
    stopWaiting: () => ending.abort(),
    async close() {
      await access.flush()
      await uses.flush()
      await store.close()
    },
  }
}

/** The keyed hash over a sign-off's text. */
export function sealBy(key: Buffer): (text: string) => string {
  return (text) => createHmac('sha256', key).update(text).digest('hex')
}

/** The kinds of outside source that this build has; adding one is one file and one line. */
function outsideOf(dataDir: string): Outside {
  const kinds: Record<string, Outside['connect']> = {
    folder: ({ name, config, may_save }) => {
      refuseOwnFolder(dataDir, String(config.root))
      return folderConnector({ name, root: String(config.root), save: may_save })
    },
  }
  return {
    connect(source) {
      const kind = Object.hasOwn(kinds, source.kind) ? kinds[source.kind] : undefined
      if (kind) return kind(source)
      throw new AppError(
        'unavailable',
        `"${source.name}" is a ${source.kind}, which this installation can’t reach.`,
      )
    },
  }
}

/** A source that held Done's own data would hand keys and sign-in links to agents (gate, way 27). */
function refuseOwnFolder(dataDir: string, root: string): void {
  const [data, folder] = [real(dataDir), real(root)]
  const within = (outer: string, inner: string) => !relative(outer, inner).split(sep).includes('..')
  if (within(folder, data) || within(data, folder)) {
    throw invalid('The folder holds Done’s own data, or lies in it.', { next: 'Connect another folder.' })
  }
}

/** Where a path really leads; as it is where it leads nowhere yet. */
function real(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    return resolve(path)
  }
}
