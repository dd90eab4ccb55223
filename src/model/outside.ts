/**
 * The port to an outside source: what a tool of the open world gets instead of a transaction. Drive, Slack, Notion,
 * a folder and other MCP servers stand behind it, and nothing above it knows which.
 *
 * What a connector answers was written by others; whoever passes it on marks it as material. A connector refuses
 * with an AppError: `not_found` for what is not there or not to be seen (the two read the same), `unavailable` where
 * the source can't answer now. An aborted call rejects with the signal's own reason.
 */

/** One hit of a search. */
export interface OutsideItem {
  /** Where `read` finds it; stable as long as the source keeps the item in its place. */
  uri: string
  title: string
  /** Plain text around the hit, on one line. */
  snippet: string
  author?: string
  /** ISO 8601, UTC. */
  modified?: string
  /** 0 to 1, the higher the better the fit. Comparable within one connector only. */
  rank: number
}

/** A piece of an item's text. Offsets and totals count UTF-16 units, as JavaScript's strings do. */
export interface OutsideText {
  uri: string
  title: string
  text: string
  /** Where `text` begins: the offset asked for, or one less where that would have split a character. */
  offset: number
  /** The length of the whole text. */
  total: number
  /** Where to go on; absent at the end. */
  next_offset?: number
  author?: string
  /** ISO 8601, UTC. */
  modified?: string
  /** Differs when the text differs, so that pages of two versions are not taken for one text. */
  revision?: string
}

/** What is to be saved outside. */
export interface OutsideSave {
  title: string
  text: string
  /** Where in the source, in its own words (a folder, a channel, a page); its top when absent. */
  place?: string
  /** Unique per intent: a repeat of the same save carries the same mark, another save never does. */
  mark: string
}

/** What a connector may be able to do. */
type ConnectorAbility = 'search' | 'read' | 'save'

/** One connected source. */
export interface Connector {
  readonly kind: string
  readonly can: readonly ConnectorAbility[]

  /** Whether the source answers now. `detail` is for people and holds no secret and no path of the host. */
  health(): Promise<{ state: 'ok' | 'unavailable'; detail?: string }>

  /**
   * Items that hold all words of the query, best first. `incomplete` says what was left out of the search, so that
   * "nothing found" is not read as "not there".
   */
  search(
    query: string,
    options: { limit: number; offset: number; signal: AbortSignal },
  ): Promise<{ items: OutsideItem[]; total: number; incomplete?: string }>

  /** At most `limit` characters of one item, from `offset`. */
  read(uri: string, options: { offset: number; limit: number; signal: AbortSignal }): Promise<OutsideText>

  /**
   * Adds a new item; never changes or replaces one. If it rejects, the outcome is known only where it rejects with
   * an AppError: then nothing was saved.
   */
  save(item: OutsideSave, options: { signal: AbortSignal }): Promise<{ uri: string; title: string }>

  /**
   * Whether a save of this item has reached the source: asked when its outcome is unknown, before it is repeated.
   * It gets the whole item, since not every source can keep a mark. Undefined means that it is not there and that an
   * attempt which is still on its way will not arrive any more, as far as the source can tell.
   */
  saved(
    item: OutsideSave,
    options: { signal: AbortSignal },
  ): Promise<{ uri: string; title: string } | undefined>
}

/** A connected source as the account's own rows describe it. */
export interface Source {
  name: string
  kind: string
  /** Whatever the kind needs, such as the folder's root; written by a person, never shown to agents. */
  config: Record<string, unknown>
  may_save: boolean
}

/** Where tools of the open world find the connectors; made by main, so that tools know none of them. */
export interface Outside {
  /** Throws `unavailable` for a kind that this installation does not have. */
  connect(source: Source): Connector
}
