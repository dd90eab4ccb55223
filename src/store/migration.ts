/** A step of the schema in the words of each engine; its position in the list is the schema's version. */
export interface Migration {
  sqlite: string
  postgres: string
}

/** The same tables with PostgreSQL's types. Texts compare by their bytes there too, so that cursors mean the same. */
export function asPostgresTypes(sql: string): string {
  return sql
    .replace(/\) STRICT(, WITHOUT ROWID)?;/g, ');')
    .replace(/\bINTEGER\b/g, 'BIGINT')
    .replace(/\bTEXT\b(\[\])?/g, 'TEXT$1 COLLATE "C"')
    .replace(/\bBLOB\b/g, 'BYTEA')
    .replace(/\bREAL\b/g, 'DOUBLE PRECISION')
}
