-- name: outdated
-- A page of the live lessons of one user, or of all, whose line is one of other rules, or missing.
SELECT n.sha FROM memory_node n LEFT JOIN user_snapshot s ON s.node_sha = n.sha
WHERE n.owner IS NOT NULL AND (%(owner)s::text IS NULL OR n.owner = %(owner)s) AND n.level IN ('L1', 'L2')
  AND n.superseded_by IS NULL AND n.sha > %(after)s AND s.line_by IS DISTINCT FROM %(line_by)s
ORDER BY n.sha LIMIT %(limit)s

-- name: hold
-- Live lessons with the records that appended them first, locked against being superseded meanwhile.
SELECT n.sha, n.text, a.seq FROM memory_node n
CROSS JOIN LATERAL (
    SELECT seq FROM journal WHERE kind = 'appended' AND body::json #>> '{data,sha}' = n.sha ORDER BY seq LIMIT 1
) AS a
WHERE n.sha = ANY(%(shas)s) AND n.superseded_by IS NULL ORDER BY n.sha FOR SHARE OF n

-- name: put
-- Enter lessons into the summaries of their owners, live ones alone.
INSERT INTO user_snapshot (node_sha, owner, project, visibility, container, seq, line, line_by)
SELECT n.sha, n.owner, n.project, n.visibility, n.container, new.seq, new.line, %(line_by)s
FROM unnest(%(shas)s::text[], %(seqs)s::bigint[], %(lines)s::text[]) AS new (sha, seq, line)
JOIN memory_node n ON n.sha = new.sha
WHERE n.owner IS NOT NULL AND n.superseded_by IS NULL ORDER BY n.sha
ON CONFLICT (node_sha) DO UPDATE SET line = excluded.line, line_by = excluded.line_by

-- name: drop
-- Take superseded lessons out.
DELETE FROM user_snapshot WHERE node_sha = ANY(%(shas)s)

-- name: count
-- How many lessons the summary of a user has.
SELECT count(*) FROM user_snapshot WHERE owner = %(owner)s
