-- name: lock
-- One migration at a time.
SELECT pg_advisory_lock(hashtext('mem.migrate'))

-- name: prepare
-- The schema and the list of what was applied to it.
CREATE SCHEMA IF NOT EXISTS mem;
CREATE EXTENSION IF NOT EXISTS vector SCHEMA public;
CREATE EXTENSION IF NOT EXISTS pg_trgm SCHEMA public;
CREATE EXTENSION IF NOT EXISTS btree_gin SCHEMA public;
CREATE TABLE IF NOT EXISTS mem.migration (
    version integer PRIMARY KEY,
    name text NOT NULL,
    sha text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- name: pgvector
-- The installed version of pgvector.
SELECT extversion FROM pg_extension WHERE extname = 'vector'

-- name: applied
-- What was applied before.
SELECT version, name, sha FROM mem.migration ORDER BY version

-- name: record
-- Note a migration as applied.
INSERT INTO mem.migration (version, name, sha) VALUES (%(version)s, %(name)s, %(sha)s)

-- name: search_path
-- Where a migration makes its tables and finds its types.
SET LOCAL search_path = mem, public
