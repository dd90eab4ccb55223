import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Done, openDone } from '../src/done.ts'
import { TABLES } from '../src/store/tables.ts'
import { asAdmin, copyDatabase, type DatabaseOptions, leaveDatabase } from './database.ts'

/** Data of a test's own, with a Done that is open on them. */
export interface Place {
  dir: string
  /** Its database, where that is not the one in the folder. */
  database: DatabaseOptions
  done: Done
  /** Closes it, or keeps it for the next test. */
  giveBack(): Promise<void>
  /** Closes it and leaves its data until the process ends, so that they can be a pattern. */
  leave(): Promise<void>
}

/** What a place begins with: data that nobody has open. */
export type Pattern = Pick<Place, 'dir' | 'database'>

/** A fresh copy of the pattern, by a clock of the test's own. */
export async function takePlace(pattern: Pattern, clock: () => number): Promise<Place> {
  return pattern.database.database === undefined ? newPlace(pattern, clock) : usedPlace(pattern, clock)
}

async function newPlace(pattern: Pattern, clock: () => number): Promise<Place> {
  const dir = mkdtempSync(join(tmpdir(), 'done-'))
  cpSync(pattern.dir, dir, { recursive: true })
  const database = await copyDatabase(pattern.database)
  const done = await openDone({ dataDir: dir, ...database, site: () => SITE, clock })
  return {
    dir,
    database,
    done,
    async giveBack() {
      await done.close()
      rmSync(dir, { recursive: true, force: true })
    },
    async leave() {
      removeAtExit(dir)
      await done.close()
      await leaveDatabase(database)
    },
  }
}

export function removeAtExit(dir: string): void {
  process.once('exit', () => rmSync(dir, { recursive: true, force: true }))
}

const SITE = 'http://127.0.0.1:4747'

interface Kept extends Place {
  goBy(clock: () => number): void
}

const kept = new Map<Pattern, Kept[]>()

/**
 * A place on PostgreSQL is kept for the next test of the process that begins with the same pattern, its rows put back to what they
 * were: to make a database and to connect to it takes longer than most tests.
 */
async function usedPlace(pattern: Pattern, clock: () => number): Promise<Place> {
  const place = kept.get(pattern)?.pop() ?? (await newKept(pattern))
  place.goBy(clock)
  // A test may put something in the place of a function of Done's, but not of the next test's.
  return { ...place, done: { ...place.done } }
}

async function newKept(pattern: Pattern): Promise<Kept> {
  let clock = Date.now
  const place: Kept = {
    ...(await newPlace(pattern, () => clock())),
    goBy(another) {
      clock = another
    },
    async giveBack() {
      const { access, credentialUse } = place.done
      await access.flush()
      await credentialUse.flush()
      await asAdmin(place.database.database!, PUT_BACK)
      for (const name of readdirSync(place.dir))
        rmSync(join(place.dir, name), { recursive: true, force: true })
      cpSync(pattern.dir, place.dir, { recursive: true })
      kept.set(pattern, [...(kept.get(pattern) ?? []), place])
    },
  }
  await asAdmin(place.database.database!, KEEP)
  return place
}

const tables = Object.keys(TABLES)

/**
 * The pattern's rows are kept beside the schema, where nothing of ours looks; a copy of a kept place has another's there. The
 * function is planned once a connection.
 */
const KEEP = `DROP SCHEMA IF EXISTS pattern CASCADE; CREATE SCHEMA pattern;
  ${tables.map((table) => `CREATE TABLE pattern.${table} AS TABLE done.${table}`).join('; ')};
  CREATE FUNCTION pattern.put_back() RETURNS void LANGUAGE plpgsql SET session_replication_role = replica AS $$ BEGIN
    ${tables.map((table) => `DELETE FROM done.${table}; INSERT INTO done.${table} OVERRIDING SYSTEM VALUE SELECT * FROM pattern.${table}`).join('; ')};
    PERFORM setval('done.refusals_seq_seq', (SELECT COALESCE(MAX(seq), 0) FROM done.refusals) + 1, false),
      setval('done.search_docs_doc_seq', (SELECT COALESCE(MAX(doc), 0) FROM done.search_docs) + 1, false);
  END $$`

const PUT_BACK = 'SELECT pattern.put_back()'
