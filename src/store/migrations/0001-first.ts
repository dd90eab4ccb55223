import { asPostgresTypes, type Migration } from '../migration.ts'

const tables = `
CREATE TABLE installation (id INTEGER PRIMARY KEY CHECK (id = 1), key_check TEXT NOT NULL,
  credentials INTEGER NOT NULL DEFAULT 0) STRICT;

CREATE TABLE accounts (id INTEGER PRIMARY KEY, name TEXT NOT NULL, zone TEXT NOT NULL, lease_ms INTEGER NOT NULL,
  created_at INTEGER NOT NULL) STRICT;

CREATE TABLE counters (account INTEGER NOT NULL, kind TEXT NOT NULL, last INTEGER NOT NULL,
  PRIMARY KEY (account, kind)) STRICT, WITHOUT ROWID;

CREATE TABLE people (account INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')), zone TEXT, login TEXT, login_key TEXT,
  left_at INTEGER, created_at INTEGER NOT NULL, PRIMARY KEY (account, id)) STRICT;
CREATE UNIQUE INDEX people_by_login ON people (login_key, account) WHERE login_key IS NOT NULL;

CREATE TABLE passwords (account INTEGER NOT NULL, id INTEGER NOT NULL, person INTEGER NOT NULL, hash TEXT NOT NULL,
  replaced_at INTEGER, created_at INTEGER NOT NULL, PRIMARY KEY (account, id),
  FOREIGN KEY (account, person) REFERENCES people (account, id)) STRICT;
CREATE UNIQUE INDEX passwords_in_use ON passwords (account, person) WHERE replaced_at IS NULL;

CREATE TABLE authenticators (account INTEGER NOT NULL, id INTEGER NOT NULL, person INTEGER NOT NULL,
  secret TEXT NOT NULL, last_step INTEGER NOT NULL, confirmed_at INTEGER, removed_at INTEGER, created_at INTEGER NOT NULL,
  PRIMARY KEY (account, id), FOREIGN KEY (account, person) REFERENCES people (account, id)) STRICT;
CREATE UNIQUE INDEX authenticators_in_use ON authenticators (account, person)
  WHERE confirmed_at IS NOT NULL AND removed_at IS NULL;

CREATE TABLE passkeys (account INTEGER NOT NULL, id INTEGER NOT NULL, person INTEGER NOT NULL,
  credential TEXT NOT NULL UNIQUE, public_key TEXT NOT NULL, counter INTEGER NOT NULL, name_of_site TEXT NOT NULL,
  name TEXT NOT NULL, removed_at INTEGER, created_at INTEGER NOT NULL, PRIMARY KEY (account, id),
  FOREIGN KEY (account, person) REFERENCES people (account, id)) STRICT;
CREATE INDEX passkeys_in_use ON passkeys (account, person) WHERE removed_at IS NULL;

CREATE TABLE recovery_codes (account INTEGER NOT NULL, id INTEGER NOT NULL, person INTEGER NOT NULL, hash TEXT NOT NULL,
  used_at INTEGER, replaced_at INTEGER, created_at INTEGER NOT NULL, PRIMARY KEY (account, id),
  FOREIGN KEY (account, person) REFERENCES people (account, id)) STRICT;
CREATE INDEX recovery_codes_left ON recovery_codes (account, person) WHERE used_at IS NULL AND replaced_at IS NULL;

CREATE TABLE invitations (account INTEGER NOT NULL, id INTEGER NOT NULL, hash TEXT NOT NULL UNIQUE, name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'member', 'owner')), expires_at INTEGER NOT NULL, used_at INTEGER,
  revoked_at INTEGER, person INTEGER, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  PRIMARY KEY (account, id)) STRICT;

CREATE TABLE agents (account INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, owner INTEGER NOT NULL,
  stop_at INTEGER, stop_by INTEGER, created_at INTEGER NOT NULL,
  PRIMARY KEY (account, id), FOREIGN KEY (account, owner) REFERENCES people (account, id)) STRICT;

CREATE TABLE tokens (account INTEGER NOT NULL, id INTEGER NOT NULL, agent INTEGER NOT NULL, prefix TEXT NOT NULL,
  hash TEXT NOT NULL UNIQUE, scopes TEXT NOT NULL CHECK (scopes IN ('read', 'read write')), presets TEXT, projects TEXT,
  expires_at INTEGER, revoked_at INTEGER, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  PRIMARY KEY (account, id), FOREIGN KEY (account, agent) REFERENCES agents (account, id)) STRICT;

CREATE TABLE grants (account INTEGER NOT NULL, id INTEGER NOT NULL, agent INTEGER NOT NULL, person INTEGER NOT NULL,
  client TEXT NOT NULL, client_name TEXT NOT NULL, returns_to TEXT NOT NULL, resource TEXT NOT NULL,
  scopes TEXT NOT NULL CHECK (scopes IN ('read', 'read write')), presets TEXT, projects TEXT, expires_at INTEGER NOT NULL,
  revoked_at INTEGER, created_at INTEGER NOT NULL,
  PRIMARY KEY (account, id), FOREIGN KEY (account, agent) REFERENCES agents (account, id),
  FOREIGN KEY (account, person) REFERENCES people (account, id)) STRICT;

CREATE TABLE sign_in_links (account INTEGER NOT NULL, hash TEXT NOT NULL PRIMARY KEY, person INTEGER NOT NULL,
  began TEXT NOT NULL, wants_code INTEGER NOT NULL CHECK (wants_code IN (0, 1)), expires_at INTEGER NOT NULL,
  used_at INTEGER, created_at INTEGER NOT NULL) STRICT;

CREATE TABLE sessions (account INTEGER NOT NULL, id TEXT NOT NULL PRIMARY KEY, hash TEXT NOT NULL UNIQUE,
  person INTEGER NOT NULL, began TEXT NOT NULL, signed_in_at INTEGER NOT NULL, expires_at INTEGER NOT NULL,
  revoked_at INTEGER) STRICT;

CREATE TABLE projects (account INTEGER NOT NULL, id INTEGER NOT NULL, name TEXT NOT NULL, name_key TEXT NOT NULL,
  description TEXT NOT NULL, auto_ok_default INTEGER NOT NULL CHECK (auto_ok_default IN (0, 1)),
  second_person INTEGER NOT NULL DEFAULT 0 CHECK (second_person IN (0, 1)), archived_at INTEGER, trash INTEGER, version INTEGER NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL, PRIMARY KEY (account, id)) STRICT;
CREATE UNIQUE INDEX projects_by_name ON projects (account, name_key) WHERE trash IS NULL;

CREATE TABLE tasks (account INTEGER NOT NULL, id INTEGER NOT NULL, title TEXT NOT NULL, description TEXT NOT NULL,
  project INTEGER, parent INTEGER, priority INTEGER NOT NULL CHECK (priority BETWEEN 0 AND 3), due TEXT, scheduled TEXT,
  estimate INTEGER, assignee TEXT, recurrence TEXT, recurrence_anchor TEXT,
  auto_ok INTEGER NOT NULL CHECK (auto_ok IN (0, 1)),
  status TEXT NOT NULL CHECK (status IN ('open', 'in_progress', 'blocked', 'awaiting_approval', 'done', 'cancelled')),
  claimed_by TEXT, claimed_at INTEGER, claim_until INTEGER, blocked_by INTEGER, closed_at INTEGER, closed_by TEXT,
  changed_since_sign_off INTEGER NOT NULL DEFAULT 0, succeeds INTEGER, trash INTEGER, version INTEGER NOT NULL,
  content_version INTEGER NOT NULL, content_hash TEXT NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account, id),
  FOREIGN KEY (account, project) REFERENCES projects (account, id),
  FOREIGN KEY (account, parent) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX tasks_by_urgency ON tasks (account, priority, COALESCE(due, '~'), id)
  WHERE trash IS NULL AND status NOT IN ('done', 'cancelled');
CREATE INDEX tasks_by_project ON tasks (account, project, priority, COALESCE(due, '~'), id) WHERE trash IS NULL;
CREATE INDEX tasks_by_status ON tasks (account, project, status) WHERE trash IS NULL;
CREATE INDEX tasks_by_assignee ON tasks (account, assignee, priority, COALESCE(due, '~'), id) WHERE trash IS NULL;
CREATE INDEX tasks_open_by_assignee ON tasks (account, assignee, priority, COALESCE(due, '~'), id)
  WHERE trash IS NULL AND assignee IS NOT NULL AND status NOT IN ('done', 'cancelled');
CREATE INDEX tasks_by_closer ON tasks (account, closed_by, closed_at) WHERE closed_by IS NOT NULL;
CREATE INDEX tasks_by_claim ON tasks (account, claimed_by) WHERE claimed_by IS NOT NULL;
CREATE INDEX tasks_by_lease ON tasks (claim_until) WHERE claim_until IS NOT NULL;
CREATE INDEX tasks_by_parent ON tasks (account, parent, id) WHERE parent IS NOT NULL;
CREATE INDEX tasks_by_title ON tasks (account, title, created_at);
CREATE INDEX tasks_by_update ON tasks (account, updated_at, id) WHERE trash IS NULL;
CREATE INDEX tasks_by_creation ON tasks (account, created_at, id) WHERE trash IS NULL;
CREATE INDEX tasks_by_due ON tasks (account, due, id) WHERE trash IS NULL AND due IS NOT NULL;
CREATE INDEX tasks_by_schedule ON tasks (account, scheduled, id) WHERE trash IS NULL AND scheduled IS NOT NULL;
CREATE INDEX tasks_blocked ON tasks (account, id) WHERE trash IS NULL AND status = 'blocked';
CREATE INDEX tasks_by_blocker ON tasks (account, blocked_by) WHERE blocked_by IS NOT NULL;
CREATE INDEX tasks_by_close ON tasks (account, closed_at, id) WHERE trash IS NULL AND closed_at IS NOT NULL;
CREATE INDEX tasks_by_trash ON tasks (account, trash) WHERE trash IS NOT NULL;
CREATE UNIQUE INDEX tasks_one_successor ON tasks (account, succeeds) WHERE succeeds IS NOT NULL;

CREATE TABLE steps (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, title TEXT NOT NULL,
  description TEXT NOT NULL, position TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'in_progress', 'done', 'skipped', 'failed')), trash INTEGER,
  version INTEGER NOT NULL, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, updated_at INTEGER NOT NULL,
  PRIMARY KEY (account, id), FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX steps_by_task ON steps (account, task, position);

CREATE TABLE dependencies (account INTEGER NOT NULL, task INTEGER NOT NULL, depends_on INTEGER NOT NULL,
  removed_at INTEGER, created_at INTEGER NOT NULL, created_by TEXT NOT NULL,
  PRIMARY KEY (account, task, depends_on),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id),
  FOREIGN KEY (account, depends_on) REFERENCES tasks (account, id)) STRICT, WITHOUT ROWID;
CREATE INDEX dependencies_by_target ON dependencies (account, depends_on, task);

CREATE TABLE labels (account INTEGER NOT NULL, name_key TEXT NOT NULL, name TEXT NOT NULL, color TEXT,
  renamed_to TEXT, trash INTEGER, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, PRIMARY KEY (account, name_key)) STRICT;

CREATE TABLE task_labels (account INTEGER NOT NULL, task INTEGER NOT NULL, label TEXT NOT NULL, removed_at INTEGER,
  trash INTEGER, PRIMARY KEY (account, task, label),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id),
  FOREIGN KEY (account, label) REFERENCES labels (account, name_key)) STRICT, WITHOUT ROWID;
CREATE INDEX task_labels_by_label ON task_labels (account, label, task);

CREATE TABLE comments (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, text TEXT NOT NULL,
  author TEXT NOT NULL, origin TEXT, reply_to INTEGER, trash INTEGER, version INTEGER NOT NULL,
  created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL, PRIMARY KEY (account, id),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX comments_by_task ON comments (account, task, id);
CREATE INDEX comments_by_author ON comments (account, author, created_at);

CREATE TABLE notes (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, step INTEGER, run INTEGER,
  kind TEXT NOT NULL, text TEXT NOT NULL, by TEXT NOT NULL, at INTEGER NOT NULL, PRIMARY KEY (account, id)) STRICT;
CREATE INDEX notes_by_task ON notes (account, task, kind, id);
CREATE INDEX notes_by_run ON notes (account, run, id) WHERE run IS NOT NULL;

CREATE TABLE runs (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, agent TEXT NOT NULL, goal TEXT,
  outcome TEXT CHECK (outcome IN ('succeeded', 'failed', 'cancelled')), progress INTEGER, tokens INTEGER, cost REAL,
  started_at INTEGER NOT NULL, last_sign_at INTEGER NOT NULL, signs INTEGER NOT NULL, lease_until INTEGER NOT NULL,
  ended_at INTEGER, PRIMARY KEY (account, id), FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX runs_by_task ON runs (account, task, id);
CREATE INDEX runs_by_agent ON runs (account, agent, id);
CREATE INDEX runs_open ON runs (account, agent, id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX runs_one_open ON runs (account, task, agent) WHERE ended_at IS NULL;

CREATE TABLE run_events (account INTEGER NOT NULL, run INTEGER NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL,
  text TEXT NOT NULL, progress INTEGER, late INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (account, run, seq)) STRICT, WITHOUT ROWID;

CREATE TABLE artifacts (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, run INTEGER,
  title TEXT NOT NULL, kind TEXT NOT NULL CHECK (kind IN ('link', 'text', 'file')), url TEXT, text TEXT, file_name TEXT,
  media_type TEXT, size INTEGER NOT NULL, sha256 TEXT NOT NULL, origin TEXT, trash INTEGER, created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL, PRIMARY KEY (account, id),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX artifacts_by_task ON artifacts (account, task, id);
CREATE TABLE artifact_bytes (account INTEGER NOT NULL, artifact INTEGER NOT NULL, bytes BLOB NOT NULL,
  PRIMARY KEY (account, artifact)) STRICT;

CREATE TABLE requests (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL,
  target TEXT NOT NULL CHECK (target IN ('done', 'cancelled')),
  state TEXT NOT NULL CHECK (state IN ('pending', 'approved', 'rejected', 'stale', 'withdrawn')),
  content_version INTEGER NOT NULL, content_hash TEXT NOT NULL, former_status TEXT NOT NULL, asked_by TEXT NOT NULL,
  asked_at INTEGER NOT NULL, decided_by TEXT, decided_at INTEGER, note TEXT, PRIMARY KEY (account, id),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE UNIQUE INDEX requests_one_pending ON requests (account, task) WHERE state = 'pending';
CREATE INDEX requests_by_task ON requests (account, task, id);
CREATE INDEX requests_by_asker ON requests (account, asked_by, state, id);
CREATE INDEX requests_by_state ON requests (account, state, id);

CREATE TABLE sign_offs (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER NOT NULL, request INTEGER,
  content_version INTEGER NOT NULL, content_hash TEXT NOT NULL,
  target TEXT NOT NULL CHECK (target IN ('done', 'cancelled')), approver TEXT NOT NULL, session TEXT NOT NULL,
  began TEXT NOT NULL, policy TEXT NOT NULL, assertion TEXT, tx TEXT NOT NULL, seal TEXT NOT NULL,
  at INTEGER NOT NULL, PRIMARY KEY (account, id),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX sign_offs_by_task ON sign_offs (account, task, id);

CREATE TABLE questions (account INTEGER NOT NULL, id INTEGER NOT NULL, task INTEGER, text TEXT NOT NULL, choices TEXT,
  asked_by TEXT NOT NULL, asked_of TEXT NOT NULL, holds_task INTEGER NOT NULL, answer TEXT, answered_by TEXT,
  answered_at INTEGER, asked_at INTEGER NOT NULL, PRIMARY KEY (account, id)) STRICT;
CREATE INDEX questions_by_task ON questions (account, task, id);
CREATE INDEX questions_open ON questions (account, asked_of, id) WHERE answered_at IS NULL;

CREATE TABLE notifications (account INTEGER NOT NULL, id INTEGER NOT NULL, recipient TEXT NOT NULL, kind TEXT NOT NULL,
  event INTEGER NOT NULL, task INTEGER, object TEXT, at INTEGER NOT NULL, read_at INTEGER,
  PRIMARY KEY (account, id)) STRICT;
CREATE INDEX notifications_by_recipient ON notifications (account, recipient, id);
CREATE INDEX notifications_unread ON notifications (account, recipient, id) WHERE read_at IS NULL;

CREATE TABLE events (account INTEGER NOT NULL, id INTEGER NOT NULL, at INTEGER NOT NULL, actor TEXT NOT NULL,
  tool TEXT NOT NULL, kind TEXT NOT NULL, task INTEGER, project INTEGER, object TEXT, data TEXT, seal TEXT NOT NULL,
  PRIMARY KEY (account, id)) STRICT, WITHOUT ROWID;
CREATE INDEX events_by_task ON events (account, task, id) WHERE task IS NOT NULL;
CREATE INDEX events_by_project ON events (account, project, id) WHERE project IS NOT NULL;
CREATE INDEX events_by_actor ON events (account, actor, id);
CREATE INDEX events_by_kind ON events (account, kind, id);
CREATE INDEX events_by_time ON events (account, at, id);

CREATE TABLE seals (account INTEGER NOT NULL, id INTEGER NOT NULL, first INTEGER NOT NULL, last INTEGER NOT NULL,
  digest TEXT NOT NULL, states TEXT NOT NULL, seal TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (account, id)) STRICT, WITHOUT ROWID;
CREATE TABLE amendments (account INTEGER NOT NULL, id INTEGER NOT NULL,
  subject TEXT NOT NULL CHECK (subject IN ('event', 'request')), number INTEGER NOT NULL, was TEXT NOT NULL,
  became TEXT NOT NULL, by TEXT NOT NULL, at INTEGER NOT NULL, seal TEXT NOT NULL,
  PRIMARY KEY (account, id)) STRICT, WITHOUT ROWID;
CREATE INDEX amendments_by_subject ON amendments (account, subject, number, id);

CREATE TABLE trash (account INTEGER NOT NULL, id INTEGER NOT NULL, kind TEXT NOT NULL, object TEXT NOT NULL,
  title TEXT NOT NULL, task INTEGER, project INTEGER, by TEXT NOT NULL, at INTEGER NOT NULL, restored_at INTEGER,
  PRIMARY KEY (account, id)) STRICT;
CREATE INDEX trash_in ON trash (account, id) WHERE restored_at IS NULL;
CREATE INDEX trash_by_object ON trash (account, object);

CREATE TABLE views (account INTEGER NOT NULL, name_key TEXT NOT NULL, name TEXT NOT NULL, filter TEXT NOT NULL,
  trash INTEGER, created_at INTEGER NOT NULL, created_by TEXT NOT NULL, PRIMARY KEY (account, name_key)) STRICT;

CREATE TABLE calendar_links (account INTEGER NOT NULL, task INTEGER NOT NULL, uid TEXT NOT NULL, calendar TEXT,
  title TEXT, starts TEXT, ends TEXT, url TEXT, removed_at INTEGER, created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL, PRIMARY KEY (account, task, uid),
  FOREIGN KEY (account, task) REFERENCES tasks (account, id)) STRICT;
CREATE INDEX calendar_links_by_start ON calendar_links (account, starts);

CREATE TABLE connectors (account INTEGER NOT NULL, name_key TEXT NOT NULL, name TEXT NOT NULL, kind TEXT NOT NULL,
  config TEXT NOT NULL, may_save INTEGER NOT NULL, removed_at INTEGER, created_at INTEGER NOT NULL,
  created_by TEXT NOT NULL, PRIMARY KEY (account, name_key)) STRICT;

CREATE TABLE context_saves (account INTEGER NOT NULL, id INTEGER NOT NULL, connector TEXT NOT NULL, title TEXT NOT NULL,
  place TEXT, mark TEXT NOT NULL, task INTEGER, state TEXT NOT NULL CHECK (state IN ('intended', 'saved', 'failed')),
  uri TEXT, actor TEXT NOT NULL, key TEXT, args_hash TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (account, id)) STRICT;
CREATE INDEX context_saves_by_actor ON context_saves (account, actor, args_hash);

CREATE TABLE replies (account INTEGER NOT NULL, actor TEXT NOT NULL, key TEXT NOT NULL, tool TEXT NOT NULL,
  args_hash TEXT NOT NULL, answer TEXT NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (account, actor, key)) STRICT, WITHOUT ROWID;
CREATE INDEX replies_by_age ON replies (at);

CREATE TABLE access (account INTEGER NOT NULL, credential TEXT NOT NULL, actor TEXT NOT NULL, tool TEXT NOT NULL,
  bucket INTEGER NOT NULL, calls INTEGER NOT NULL, refusals INTEGER NOT NULL,
  PRIMARY KEY (account, actor, bucket, tool, credential)) STRICT, WITHOUT ROWID;
CREATE INDEX access_by_age ON access (bucket);
CREATE TABLE tries (account INTEGER NOT NULL, key TEXT NOT NULL, count INTEGER NOT NULL, until INTEGER NOT NULL,
  PRIMARY KEY (account, key)) STRICT, WITHOUT ROWID;
CREATE TABLE oauth_artifacts (account INTEGER NOT NULL, kind TEXT NOT NULL, hash TEXT NOT NULL, grant_account INTEGER,
  of_grant INTEGER, other_hash TEXT, scopes TEXT, audience TEXT, sealed TEXT NOT NULL, used_at INTEGER, expires_at INTEGER,
  PRIMARY KEY (account, kind, hash)) STRICT, WITHOUT ROWID;
CREATE INDEX oauth_artifacts_by_other ON oauth_artifacts (account, kind, other_hash) WHERE other_hash IS NOT NULL;
CREATE INDEX oauth_artifacts_by_grant ON oauth_artifacts (account, grant_account, of_grant) WHERE of_grant IS NOT NULL;
CREATE INDEX oauth_artifacts_by_age ON oauth_artifacts (expires_at);
CREATE TABLE commits (account INTEGER NOT NULL, lane TEXT NOT NULL, batch INTEGER NOT NULL, at INTEGER NOT NULL,
  PRIMARY KEY (account, lane)) STRICT, WITHOUT ROWID;
CREATE TABLE session_use (account INTEGER NOT NULL, session TEXT NOT NULL, last_used_at INTEGER NOT NULL,
  PRIMARY KEY (account, session)) STRICT, WITHOUT ROWID;
CREATE TABLE token_use (account INTEGER NOT NULL, token INTEGER NOT NULL, last_used_at INTEGER NOT NULL,
  PRIMARY KEY (account, token)) STRICT, WITHOUT ROWID;
CREATE TABLE grant_use (account INTEGER NOT NULL, of_grant INTEGER NOT NULL, last_used_at INTEGER NOT NULL,
  PRIMARY KEY (account, of_grant)) STRICT, WITHOUT ROWID;
`

/** What numbers its rows by itself, and full text, is each engine's own. */
const refusals = `account INTEGER NOT NULL, credential TEXT NOT NULL, actor TEXT NOT NULL, tool TEXT NOT NULL,
  code TEXT NOT NULL, message TEXT NOT NULL, gate INTEGER NOT NULL, at INTEGER NOT NULL`
const refusalsBy = `
CREATE INDEX refusals_by_time ON refusals (account, at);
CREATE INDEX refusals_by_age ON refusals (gate, at);
`

const sqlite = `
CREATE TABLE refusals (seq INTEGER PRIMARY KEY, ${refusals}) STRICT;${refusalsBy}
CREATE TABLE search_docs (doc INTEGER PRIMARY KEY, account INTEGER NOT NULL, kind TEXT NOT NULL,
  object INTEGER NOT NULL, task INTEGER, project INTEGER, at INTEGER NOT NULL) STRICT;
CREATE UNIQUE INDEX search_docs_by_object ON search_docs (account, kind, object);
CREATE VIRTUAL TABLE search_words USING fts5(text, content='', contentless_delete=1, prefix='1 2',
  tokenize='unicode61 remove_diacritics 2');
CREATE VIRTUAL TABLE search_parts USING fts5(text, content='', contentless_delete=1, tokenize='trigram');
`

const postgres = `
CREATE TABLE refusals (seq INTEGER GENERATED ALWAYS AS IDENTITY, ${refusals}, PRIMARY KEY (account, seq));${refusalsBy}
CREATE TABLE search_docs (doc INTEGER GENERATED ALWAYS AS IDENTITY, account INTEGER NOT NULL, kind TEXT NOT NULL,
  object INTEGER NOT NULL, task INTEGER, project INTEGER, at INTEGER NOT NULL, folded TEXT NOT NULL,
  pieces TEXT[] NOT NULL, PRIMARY KEY (account, kind, object));
CREATE INDEX search_docs_by_doc ON search_docs (account, doc);
CREATE INDEX search_docs_by_piece ON search_docs USING gin (pieces);
`

/** The first schema. A migration is frozen once released: a change of the schema is a new file. */
export const first: Migration = { sqlite: tables + sqlite, postgres: asPostgresTypes(tables + postgres) }
