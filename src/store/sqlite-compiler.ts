import { type LimitNode, SqliteDialect, SqliteQueryCompiler } from 'kysely'
import type { SqliteConnection } from './sqlite.ts'

/**
 * SQLite looks at what is bound to a bare `LIMIT ?` for its plan, and therefore prepares the statement anew at each use,
 * which takes ten times as long as most of them run. It does not look behind a cast.
 */
class Compiler extends SqliteQueryCompiler {
  protected override visitLimit(node: LimitNode): void {
    this.append('limit cast(')
    this.visitNode(node.limit)
    this.append(' as integer)')
  }
}

/** How queries are built for a connection to the embedded database, and run on it. */
export function sqliteDialect(database: SqliteConnection): SqliteDialect {
  const dialect = new SqliteDialect({ database })
  dialect.createQueryCompiler = () => new Compiler()
  return dialect
}
