-- name: find
-- The response to a request, unless it has expired.
SELECT fingerprint, response FROM request_ledger
WHERE operation = %(operation)s AND scope = %(scope)s AND request_id = %(request_id)s AND expires_at > %(now)s

-- name: before
-- The response to a request, unless it has expired, and the fingerprint of the request's record in the journal.
SELECT r.fingerprint, r.response, j.body::jsonb -> 'data' ->> 'fingerprint'
FROM (SELECT) AS request
LEFT JOIN request_ledger r ON r.operation = %(operation)s AND r.scope = %(scope)s AND r.request_id = %(request_id)s
                          AND r.expires_at > %(now)s
LEFT JOIN journal j ON j.key = %(journal_key)s

-- name: store
-- Store a response; only an expired one gives way.
INSERT INTO request_ledger AS r (operation, scope, request_id, fingerprint, response, created_at, expires_at)
VALUES (%(operation)s, %(scope)s, %(request_id)s, %(fingerprint)s, %(response)s, %(now)s, %(expires_at)s)
ON CONFLICT (operation, scope, request_id) DO UPDATE
SET fingerprint = excluded.fingerprint, response = excluded.response, created_at = excluded.created_at,
    expires_at = excluded.expires_at
WHERE r.expires_at <= excluded.created_at

-- name: expire
-- Delete a batch of expired rows, passing over those that another batch holds.
DELETE FROM request_ledger WHERE (operation, scope, request_id) IN (
    SELECT operation, scope, request_id FROM request_ledger WHERE expires_at <= %(now)s
    ORDER BY expires_at LIMIT %(limit)s FOR UPDATE SKIP LOCKED
)

-- name: returned
-- Note which lessons of other projects a lookup gave out.
INSERT INTO returned_lesson (project, node_sha)
SELECT %(project)s, sha FROM memory_node WHERE sha = ANY(%(shas)s) AND project <> %(project)s ORDER BY sha
ON CONFLICT DO NOTHING
