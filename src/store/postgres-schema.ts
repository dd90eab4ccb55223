import type { Migration } from './migration.ts'
import { TABLES } from './tables.ts'
import { asPostgres, rules } from './triggers.ts'

/**
 * The three roles by which Done works (spec: gate, "In the database too"). None owns anything, and none is a member of
 * another: what a role may do is what it was granted and what the triggers let it.
 */
export interface Roles {
  /** Everything but what needs a person. */
  app: string
  /** Persons' own calls: it alone may insert sign-offs, close gated tasks and raise auto-OK. */
  people: string
  /** Reads, and has no grant to write. */
  read: string
}

/** The schema that everything stands in. */
export const SCHEMA = 'done'

/** Tables that are asked before the account is known, or by the installation's own jobs: account 0 is Done itself. */
const OF_THE_INSTALLATION = new Set([
  'people',
  'agents',
  'tokens',
  'grants',
  'oauth_artifacts',
  'sessions',
  'session_use',
  'sign_in_links',
  'passwords',
  'passkeys',
  'invitations',
  'replies',
  'access',
  'refusals',
  'commits',
])

/** What is not content of one account. */
const WITHOUT_ACCOUNT = new Set(['installation', 'accounts'])

const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`
const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

/** Tables, indexes and constraints up to a version; functions, triggers, policies and grants are laid anew each time. */
export function tablesOf(migrations: readonly Migration[]): string {
  return migrations.map(({ postgres }) => postgres).join('\n')
}

/** Everything beside the tables, as one script. It may be run on what it has made before. */
export function wallsOf(schema: string, roles: Roles): string {
  return [...functions(schema, roles), ...triggers(schema), ...policies(), ...grants(schema, roles)].join(
    ';\n',
  )
}

function functions(schema: string, { people }: Roles): string[] {
  // Bound when they are made: nothing that a session puts in front of the names can take their place.
  const bound = (signature: string, value: string) =>
    `CREATE OR REPLACE FUNCTION ${signature} LANGUAGE sql STABLE RETURN ${value}`
  const define = (signature: string, body: string, how: string) =>
    `CREATE OR REPLACE FUNCTION ${signature} LANGUAGE sql ${how} AS $$ ${body} $$`
  // They pass row-level security by, so they look at one account, or give numbers of accounts and nothing of theirs.
  const asOwner = `STABLE SECURITY DEFINER ${only(schema)}`
  return [
    bound('done_account() RETURNS bigint', `NULLIF(current_setting('done.account', true), '')::bigint`),
    bound(
      'done_actor() RETURNS text',
      `CASE WHEN current_user = ${literal(people)} THEN 'person' ELSE 'token' END`,
    ),
    bound('done_effect() RETURNS text', `COALESCE(current_setting('done.effect', true), 'none')`),
    bound('done_tx() RETURNS text', `COALESCE(current_setting('done.tx', true), 'none')`),
    define(
      'done_documents(wanted text[], whole text[]) RETURNS TABLE (account bigint, doc bigint, kind text, object bigint, task bigint)',
      `SELECT d.account, d.doc, d.kind, d.object, d.task FROM search_docs d WHERE d.account = done_account() AND d.pieces @> wanted
        AND (SELECT COALESCE(bool_and(position(w in d.folded) > 0), true) FROM unnest(whole) w) ORDER BY d.doc DESC`,
      asOwner,
    ),
    define(
      'done_lapsed(moment bigint, most bigint) RETURNS SETOF bigint',
      `SELECT DISTINCT account FROM tasks WHERE claim_until <= moment AND status = 'in_progress' AND trash IS NULL LIMIT most`,
      asOwner,
    ),
    define(
      'done_unsealed(most bigint) RETURNS SETOF bigint',
      `SELECT c.account FROM counters c WHERE c.kind = 'event'
        AND c.last > COALESCE((SELECT MAX(s.last) FROM seals s WHERE s.account = c.account), 0) LIMIT most`,
      asOwner,
    ),
    define(
      'done_newest(followed bigint[]) RETURNS TABLE (account bigint, id bigint)',
      `SELECT c.account, c.last FROM counters c WHERE c.account = ANY (followed) AND c.kind = 'event'`,
      asOwner,
    ),
  ]
}

/** Names inside a function mean what stands in the schema, whatever temporary table or path a session has. */
const only = (schema: string): string => `SET search_path = ${quoted(schema)}, pg_temp`

function triggers(schema: string): string[] {
  return rules().flatMap(({ name, on, table, of, when, why }) => [
    `CREATE OR REPLACE FUNCTION ${name}() RETURNS trigger LANGUAGE plpgsql ${only(schema)} AS $$ BEGIN
      IF ${asPostgres(when)} THEN RAISE EXCEPTION ${literal(why)} USING ERRCODE = 'check_violation'; END IF;
      RETURN ${on === 'DELETE' ? 'OLD' : 'NEW'};
    END $$`,
    `CREATE OR REPLACE TRIGGER ${name} BEFORE ${on}${of ? ` OF ${of}` : ''} ON ${table} FOR EACH ROW EXECUTE FUNCTION ${name}()`,
  ])
}

/** The second wall between accounts: a query that forgot its condition still sees one account. */
function policies(): string[] {
  return Object.keys(TABLES)
    .filter((table) => table !== 'installation')
    .flatMap((table) => {
      const column = table === 'accounts' ? 'id' : 'account'
      const installation =
        OF_THE_INSTALLATION.has(table) || table === 'accounts' ? ' OR done_account() = 0' : ''
      return [
        `ALTER TABLE ${table} ENABLE ROW LEVEL SECURITY`,
        `DROP POLICY IF EXISTS one_account ON ${table}`,
        `CREATE POLICY one_account ON ${table} USING (${column} = done_account()${installation})`,
      ]
    })
}

function grants(schema: string, { app, people, read }: Roles): string[] {
  const writers = `${quoted(app)}, ${quoted(people)}`
  const all = `${writers}, ${quoted(read)}`
  const tables = Object.keys(TABLES).filter((table) => !WITHOUT_ACCOUNT.has(table) && table !== 'sign_offs')
  return [
    `REVOKE ALL ON ALL FUNCTIONS IN SCHEMA ${quoted(schema)} FROM PUBLIC`,
    `GRANT USAGE ON SCHEMA ${quoted(schema)} TO ${all}`,
    `GRANT EXECUTE ON ALL FUNCTIONS IN SCHEMA ${quoted(schema)} TO ${all}`,
    `GRANT SELECT ON ALL TABLES IN SCHEMA ${quoted(schema)} TO ${all}`,
    `GRANT INSERT, UPDATE, DELETE ON ${tables.join(', ')} TO ${writers}`,
    `GRANT INSERT, UPDATE ON accounts TO ${writers}`,
    `GRANT INSERT ON sign_offs TO ${quoted(people)}`,
  ]
}

/**
 * What stands in a schema, one line for each thing, in words that do not tell how the schema is called: to compare what is
 * there with what this program builds (gate G8). Takes the schema's name and the names of the roles.
 */
export const DESCRIBE = `
WITH tables AS (SELECT c.oid, c.relname, c.relkind, c.relrowsecurity, c.relacl FROM pg_class c
  WHERE c.relnamespace = $1::text::regnamespace AND c.relkind IN ('r', 'p', 'v', 'm', 'f', 'S'))
SELECT format('table %s %s %s', relname, relkind, relrowsecurity) FROM tables
UNION ALL SELECT format('column %s.%s %s %s %s %s', t.relname, a.attname, format_type(a.atttypid, a.atttypmod),
    a.attnotnull, (SELECT collname FROM pg_collation WHERE oid = a.attcollation), a.attidentity)
  FROM tables t JOIN pg_attribute a ON a.attrelid = t.oid WHERE a.attnum > 0 AND NOT a.attisdropped AND t.relkind <> 'S'
UNION ALL SELECT format('default %s.%s %s', t.relname, a.attname, pg_get_expr(d.adbin, d.adrelid))
  FROM tables t JOIN pg_attrdef d ON d.adrelid = t.oid JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum = d.adnum
UNION ALL SELECT format('constraint %s %s %s %s', t.relname, c.conname, c.convalidated, pg_get_constraintdef(c.oid))
  FROM tables t JOIN pg_constraint c ON c.conrelid = t.oid WHERE c.contype <> 'n'
UNION ALL SELECT format('index %s %s', i.indisvalid, pg_get_indexdef(i.indexrelid))
  FROM tables t JOIN pg_index i ON i.indrelid = t.oid
UNION ALL SELECT format('trigger %s %s %s', g.tgname, g.tgenabled, pg_get_triggerdef(g.oid))
  FROM tables t JOIN pg_trigger g ON g.tgrelid = t.oid WHERE NOT g.tgisinternal
UNION ALL SELECT format('rule %s', pg_get_ruledef(r.oid)) FROM tables t JOIN pg_rewrite r ON r.ev_class = t.oid
UNION ALL SELECT format('policy %s %s %s %s %s %s', t.relname, p.polname, p.polcmd, p.polpermissive,
    pg_get_expr(p.polqual, p.polrelid), pg_get_expr(p.polwithcheck, p.polrelid))
  FROM tables t JOIN pg_policy p ON p.polrelid = t.oid
UNION ALL SELECT format('function %s(%s) %s %s %s %s %s', p.proname, pg_get_function_identity_arguments(p.oid), l.lanname,
    p.prosecdef, p.provolatile, p.proconfig, COALESCE(pg_get_function_sqlbody(p.oid), p.prosrc))
  FROM pg_proc p JOIN pg_language l ON l.oid = p.prolang WHERE p.pronamespace = $1::text::regnamespace
UNION ALL SELECT format('grant %s %s %s', g.name, COALESCE(r.rolname, 'PUBLIC'), a.privilege_type)
  FROM (SELECT relname AS name, relacl AS acl FROM tables
    UNION ALL SELECT proname, proacl FROM pg_proc WHERE pronamespace = $1::text::regnamespace
    UNION ALL SELECT 'the schema', nspacl FROM pg_namespace WHERE oid = $1::text::regnamespace) g,
    aclexplode(g.acl) a LEFT JOIN pg_roles r ON r.oid = a.grantee WHERE a.grantee = 0 OR r.rolname = ANY ($2)
UNION ALL SELECT format('grant of columns %s', t.relname) FROM tables t
  JOIN pg_attribute a ON a.attrelid = t.oid WHERE a.attacl IS NOT NULL`
