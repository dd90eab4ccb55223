/** A PostgreSQL server with its defaults, so that a commit is on disk before it is answered. */
export interface PostgresServer {
  /** The address of an empty database of that name, as its owner. */
  database(name: string): Promise<string>
  version: string
  remove(): Promise<void>
}

export async function startPostgres(): Promise<PostgresServer> {
  const { default: pg } = await import('pg')
  const { newServer } = await import('../../test/postgres.ts')
  const { url, remove } = await newServer()
  const address = (database: string) => url.replace(/postgres$/, database)
  const ask = async (sql: string) => {
    const client = new pg.Client(address('postgres'))
    await client.connect()
    try {
      return (await client.query(sql)).rows
    } finally {
      await client.end()
    }
  }
  const [{ server_version }] = (await ask('SHOW server_version')) as [{ server_version: string }]
  return {
    version: server_version,
    async database(name) {
      await ask(`CREATE DATABASE ${name}`)
      return address(name)
    },
    remove,
  }
}
