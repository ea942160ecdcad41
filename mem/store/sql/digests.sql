-- name: one_moment
-- All that this transaction reads is of one moment.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ

-- name: hold_live
-- Let nobody exchange the live tables meanwhile; a lock takes no snapshot yet.
LOCK TABLE {tables} IN ACCESS SHARE MODE

-- name: columns
-- The columns of a live table, in the order of their names, with their types and whether they are of its primary key.
SELECT a.attname, format_type(a.atttypid, NULL),
       EXISTS (SELECT FROM pg_index i WHERE i.indrelid = a.attrelid AND i.indisprimary AND a.attnum = ANY(i.indkey))
FROM pg_attribute a
WHERE a.attrelid = %(table)s::regclass AND a.attnum > 0 AND NOT a.attisdropped
ORDER BY a.attname

-- name: digest
-- The number of rows that count, and the digest over their digests in the order of the primary key.
SELECT count(*), encode(sha256(coalesce(string_agg(digest, ''::bytea ORDER BY key), ''::bytea)), 'hex')
FROM (SELECT ROW({key})::text COLLATE "C" AS key, sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest
      FROM {table} WHERE {counts}) AS rows

-- name: differences
-- The first rows that only one of two tables has or that differ, and how many there are.
WITH live AS (
    SELECT ROW({key})::text COLLATE "C" AS key, ARRAY[{names}] AS named,
           sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest
    FROM {live} WHERE {counts}
), replayed AS (
    SELECT ROW({key})::text COLLATE "C" AS key, ARRAY[{names}] AS named,
           sha256(convert_to(ROW({columns})::text, 'UTF8')) AS digest
    FROM {replayed} WHERE {counts}
)
SELECT array_to_string(coalesce(live.named, replayed.named), ' '),
       CASE WHEN live.key IS NULL THEN 'missing' WHEN replayed.key IS NULL THEN 'extra' ELSE 'different' END,
       count(*) OVER ()
FROM live FULL JOIN replayed USING (key)
WHERE live.digest IS DISTINCT FROM replayed.digest
ORDER BY key LIMIT {limit}
