import type { SqliteConnection } from './sqlite.ts'

/** A large account, for which plans are made; in a small one every plan is quick. */
const ROWS = 1_000_000

/** How much each further column of an index narrows. */
const NARROWS = 1000

/** Conditions of partial indexes that leave nearly every row in; any other leaves few. */
const WIDE = /trash IS NULL|status NOT IN \([^)]*\)|AND|\s/g

/**
 * Tells the planner what it can't guess: that every key begins with the account, and that the account alone narrows
 * nothing. Without it SQLite takes "one account" for ten rows and reads all of it, past the index that names the row
 * (https://www.sqlite.org/fileformat2.html#stat1tab). Fixed figures instead of measured ones, so that no plan changes
 * because the data did.
 */
export function assumeStatistics(db: SqliteConnection): void {
  // Makes the table of statistics, which can't be made by hand.
  db.exec('ANALYZE counters')
  db.exec('DELETE FROM sqlite_stat1')
  const put = db.prepare('INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES (?, ?, ?)')
  for (const { table, name, sql, is_unique, columns } of indexesOf(db)) {
    const condition = /WHERE(.*)$/s.exec(sql ?? '')?.[1] ?? ''
    const rows = condition.replace(WIDE, '') === '' ? ROWS : ROWS / 100
    const matches = Array.from({ length: columns }, (_, i) => Math.max(1, Math.round(rows / NARROWS ** i)))
    if (is_unique) matches[columns - 1] = 1
    put.run([table, name, [rows, ...matches].join(' ')])
  }
  db.exec('ANALYZE sqlite_schema')
}

interface Index {
  table: string
  name: string
  sql: string | null
  is_unique: number
  columns: number
}

function indexesOf(db: SqliteConnection): Index[] {
  return db
    .prepare(
      `SELECT t.name AS "table", i.name AS name, s.sql AS sql, i."unique" AS is_unique, COUNT(*) AS columns
       FROM sqlite_schema t, pragma_index_list(t.name) i, pragma_index_info(i.name) c
       LEFT JOIN sqlite_schema s ON s.name = i.name
       WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%' AND t.name NOT GLOB 'search_words*'
         AND t.name NOT GLOB 'search_parts*'
       GROUP BY t.name, i.name`,
    )
    .all([]) as Index[]
}
