-- name: enter
-- For this transaction: unqualified names are those of the shadow schema, statements take as long as they take, and
-- none takes more than one processor: lookups go on meanwhile.
SELECT set_config('search_path', %(path)s, true), set_config('statement_timeout', '0', true),
       set_config('maintenance_work_mem', '256MB', true), set_config('max_parallel_maintenance_workers', '0', true),
       set_config('max_parallel_workers_per_gather', '0', true)

-- name: exists
-- Whether a schema has the state of a replay.
SELECT to_regclass(%(state)s) IS NOT NULL

-- name: create
-- A schema with the state of a replay, and with its notes: of which text each vector is, and which embeddings it passed.
CREATE SCHEMA {schema};
CREATE TABLE {schema}.replay_state (run text NOT NULL, shape text NOT NULL, seq bigint NOT NULL, sha text NOT NULL);
CREATE TABLE {schema}.replay_wanted (
    node_sha text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    part smallint NOT NULL,
    text_sha text COLLATE "C" NOT NULL,
    PRIMARY KEY (node_sha, kind, part)
);
CREATE INDEX replay_wanted_text ON {schema}.replay_wanted (text_sha);
CREATE TABLE {schema}.replay_embedded (text_sha text COLLATE "C" PRIMARY KEY)

-- name: start
-- The state before the first record.
INSERT INTO replay_state (run, shape, seq, sha) VALUES (%(run)s, %(shape)s, 0, %(sha)s)

-- name: shape
-- What the tables of a replay depend on besides the journal: the schema's version and the active model.
SELECT concat_ws(' ', (SELECT max(version) FROM mem.migration),
                 (SELECT concat_ws(' ', model_id, dimensions) FROM embedding_index WHERE active))

-- name: create_table
-- An empty table like a live one, without indexes.
CREATE TABLE {schema}.{table} (LIKE mem.{table} INCLUDING ALL EXCLUDING INDEXES)

-- name: keys
-- The primary and unique keys of the live tables, as statements.
SELECT format('ALTER TABLE %%I ADD CONSTRAINT %%I %%s', t.relname, k.conname, pg_get_constraintdef(k.oid, true))
FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
WHERE t.relnamespace = 'mem'::regnamespace AND t.relname = ANY(%(tables)s) AND k.contype IN ('p', 'u')
ORDER BY t.relname, k.conname

-- name: indexes
-- The indexes and foreign keys of the tables of a schema, as statements.
SELECT c.relname AS name, pg_get_indexdef(i.indexrelid, 0, true) AS statement
FROM pg_index i JOIN pg_class t ON t.oid = i.indrelid JOIN pg_class c ON c.oid = i.indexrelid
WHERE t.relnamespace = to_regnamespace(%(schema)s) AND t.relname = ANY(%(tables)s)
  AND NOT EXISTS (SELECT FROM pg_constraint k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
UNION ALL
SELECT k.conname, format('ALTER TABLE %%I ADD CONSTRAINT %%I %%s', t.relname, k.conname, pg_get_constraintdef(k.oid, true))
FROM pg_constraint k JOIN pg_class t ON t.oid = k.conrelid
WHERE t.relnamespace = to_regnamespace(%(schema)s) AND t.relname = ANY(%(tables)s) AND k.contype = 'f'
ORDER BY name

-- name: triggers
-- The triggers of the live tables, as statements.
SELECT pg_get_triggerdef(g.oid, true)
FROM pg_trigger g JOIN pg_class t ON t.oid = g.tgrelid
WHERE t.relnamespace = 'mem'::regnamespace AND t.relname = ANY(%(tables)s) AND NOT g.tgisinternal
ORDER BY t.relname, g.tgname

-- name: analyze
-- Let the planner know what was loaded.
ANALYZE {tables}

-- name: lock_migration
-- No migration changes the tables meanwhile.
SELECT pg_advisory_xact_lock(hashtext('mem.migrate'))

-- name: lock_timeout
-- How long a statement of this transaction waits for a lock.
SELECT set_config('lock_timeout', %(milliseconds)s, true)

-- name: lock_live
-- Let nobody read the live tables.
LOCK TABLE {tables} IN ACCESS EXCLUSIVE MODE

-- name: drop_live
-- The tables that are being replaced.
DROP TABLE {tables}

-- name: move
-- Make a table of the shadow schema a live one; its indexes and foreign keys come along.
ALTER TABLE {schema}.{table} SET SCHEMA mem

-- name: swapped
-- Up to which record a run rebuilt the live tables, if it is the last one that did.
SELECT seq, sha FROM mem.last_rebuild WHERE run = %(run)s

-- name: note_swap
-- Note whose tables the live ones are.
INSERT INTO mem.last_rebuild (run, seq, sha) VALUES (%(run)s, %(seq)s, %(sha)s)
ON CONFLICT (single) DO UPDATE SET run = excluded.run, seq = excluded.seq, sha = excluded.sha

-- name: drop
-- A shadow schema with all that is in it.
DROP SCHEMA IF EXISTS {schema} CASCADE
