-- name: named
-- The first nodes that may be read and begin with a prefix.
SELECT sha, level FROM memory_node
WHERE sha >= %(sha)s AND sha < %(behind)s
  AND visibility = 'global' AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
ORDER BY sha LIMIT %(limit)s

-- name: node
-- A node that may be read, its projection, its vectors, and the key and time of the record that first appended it.
SELECT n.sha, n.level, n.project, n.text, n.visibility, n.owner, n.container, n.source, n.turn, n.superseded_by, n.removed,
       p.text AS symptom, p.model_id, p.prompt_sha, v.kinds, a.key, a.time
FROM memory_node n
LEFT JOIN symptom_projection p ON p.node_sha = n.sha
CROSS JOIN LATERAL (
    SELECT array_agg(DISTINCT kind ORDER BY kind DESC) AS kinds FROM memory_vector WHERE node_sha = n.sha
) AS v
LEFT JOIN LATERAL (
    -- Later ones are of duplicates, which brought it their evidence.
    SELECT key, body::json ->> 'time' AS time FROM journal
    WHERE kind = 'appended' AND body::json #>> '{data,sha}' = n.sha ORDER BY seq LIMIT 1
) AS a ON true
WHERE n.sha = %(sha)s AND n.visibility = 'global' AND (%(readable)s::text[] IS NULL OR n.project = ANY(%(readable)s))

-- name: kin
-- The first nodes at the other ends of a node's edges that may be read, how many there are, and how each text begins.
SELECT k.parent, k.level, k.sha, k.source, k.turn, left(n.text, %(characters)s), k.number
FROM (
    SELECT e.parent, n.level, n.sha, n.source, n.turn,
           row_number() OVER (PARTITION BY e.parent ORDER BY n.level, n.source NULLS FIRST, n.turn NULLS FIRST, n.sha) AS place,
           count(*) OVER (PARTITION BY e.parent) AS number
    FROM (
        SELECT true AS parent, parent_sha AS sha FROM memory_edge WHERE child_sha = %(sha)s
        UNION ALL
        SELECT false, child_sha FROM memory_edge WHERE parent_sha = %(sha)s
    ) AS e JOIN memory_node n USING (sha)
    WHERE n.visibility = 'global' AND (%(readable)s::text[] IS NULL OR n.project = ANY(%(readable)s))
) AS k JOIN memory_node n USING (sha)
WHERE k.place <= %(most)s
ORDER BY k.parent, k.place

-- name: line
-- The nodes that stand in a node's place and those whose place it takes, with how far away they are; that are read.
WITH RECURSIVE ahead (sha, path) AS (
    SELECT superseded_by, ARRAY[sha] FROM memory_node WHERE sha = %(sha)s
    UNION ALL
    SELECT n.superseded_by, path || n.sha FROM ahead a JOIN memory_node n USING (sha) WHERE n.sha <> ALL(path)
), behind (sha, path) AS (
    SELECT %(sha)s::text COLLATE "C", ARRAY[]::text[] COLLATE "C"
    UNION ALL
    SELECT n.sha, path || b.sha FROM behind b JOIN memory_node n ON n.superseded_by = b.sha WHERE n.sha <> ALL(path)
)
SELECT f.steps, n.sha, n.superseded_by IS NULL AS live
FROM (
    SELECT sha, cardinality(path) AS steps FROM ahead
    UNION ALL
    SELECT sha, -cardinality(path) FROM behind
) AS f JOIN memory_node n USING (sha)
WHERE f.steps <> 0 AND n.visibility = 'global' AND (%(readable)s::text[] IS NULL OR n.project = ANY(%(readable)s))
ORDER BY f.steps, n.sha

-- name: signatures
-- The signatures that point at a node, one row for each project that may be read and saw them, or one where none did.
SELECT f.sig_sha, f.sig_coarse, f.algo, f.tool, f.rule, f.code, f.message, c.project, c.times, c.first_seen, c.last_seen
FROM signature_link l JOIN failure_signature f USING (sig_sha)
LEFT JOIN occurrence_count c ON c.sig_sha = f.sig_sha AND (%(readable)s::text[] IS NULL OR c.project = ANY(%(readable)s))
WHERE l.node_sha = %(sha)s
ORDER BY f.sig_sha, c.times DESC, c.project
