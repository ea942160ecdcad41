-- name: lock
-- Take the lock that a swap of tables waits for, shared, then those of the names hashed to these keys, in this order.
SELECT CASE WHEN key IS NULL THEN pg_advisory_xact_lock_shared(hashtext('mem.swap'), 0)
            ELSE pg_advisory_xact_lock(key) END
FROM unnest(NULL::bigint || %(keys)s::bigint[]) AS key

-- name: lock_writers_out
-- Wait for all transactions that write, and let no other begin until this one ends.
SELECT pg_advisory_xact_lock(hashtext('mem.swap'), 0)

-- name: lock_head
-- Length and sha of the journal, locked: the last lock that a transaction takes.
SELECT length, sha FROM journal_head FOR UPDATE

-- name: append
-- Add a record and move the head to it.
WITH moved AS (UPDATE journal_head SET length = %(seq)s, sha = %(sha)s)
INSERT INTO journal (seq, sha, previous, key, kind, body)
VALUES (%(seq)s, %(sha)s, %(previous)s, %(key)s, %(kind)s, %(body)s)

-- name: find
-- The record with a key.
SELECT seq, sha, previous, key, kind, body FROM journal WHERE key = %(key)s

-- name: count
-- How many records have a key that begins with a prefix.
SELECT count(*) FROM journal WHERE key >= %(prefix)s AND key < %(behind)s

-- name: page
-- The next records behind a sequence number.
SELECT seq, sha, previous, key, kind, body FROM journal WHERE seq > %(after)s ORDER BY seq LIMIT %(limit)s

-- name: page_within
-- The next records behind a sequence number, as many as have their texts within so many bytes, and at least one.
SELECT seq, sha, previous, key, kind, body FROM (
    SELECT *, sum(octet_length(body)) OVER (ORDER BY seq) - octet_length(body) AS before
    FROM (SELECT * FROM journal WHERE seq > %(after)s ORDER BY seq LIMIT %(limit)s) AS next
) AS measured
WHERE before < %(bytes)s ORDER BY seq

-- name: head
-- Length and sha of the journal.
SELECT length, sha FROM journal_head

-- name: outcomes
-- How the last candidates ended: by their verdict, and where that was good by what was appended.
WITH handed_in AS (
    SELECT substr(key, length('candidate') + 1) AS request
    FROM journal WHERE kind = 'candidate' ORDER BY seq DESC LIMIT %(last)s
), judged AS (
    -- Limits keep to the index of keys: a join was planned as a scan of the whole journal.
    SELECT request, v.body::jsonb #> '{data,verdict}' AS verdict
    FROM handed_in LEFT JOIN LATERAL (SELECT body FROM journal WHERE key = 'verdict' || request LIMIT 1) v ON true
), ended AS (
    SELECT (verdict ->> 'accept')::boolean AS accept, verdict ->> 'duplicate_of' AS duplicate_of,
           a.body::jsonb -> 'data' AS appended
    FROM judged LEFT JOIN LATERAL (SELECT body FROM journal WHERE key = 'appended' || request LIMIT 1) a
      ON (verdict ->> 'accept')::boolean
)
SELECT CASE
    WHEN accept IS NULL THEN 'pending'
    WHEN NOT accept AND duplicate_of IS NULL OR appended ->> 'overtaken_by' IS NOT NULL THEN 'rejected'
    WHEN NOT accept OR appended ->> 'duplicate_of' IS NOT NULL THEN 'duplicate'
    WHEN appended IS NULL THEN 'pending'
    ELSE 'accepted'
END AS outcome, count(*) FROM ended GROUP BY outcome ORDER BY outcome
