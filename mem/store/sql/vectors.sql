-- name: lock_nodes
-- The nodes that get vectors, locked in the order of their shas against being superseded meanwhile.
SELECT sha FROM memory_node WHERE sha = ANY(%(shas)s) ORDER BY sha FOR SHARE

-- name: insert
-- Add the vectors of nodes, live where the node is, none of removed chunks; one that is there stays.
INSERT INTO memory_vector (node_sha, kind, part, project, level, visibility, owner, container, live, embedding)
SELECT n.sha, %(kind)s, new.part, n.project, n.level, n.visibility, n.owner, n.container, n.superseded_by IS NULL,
       new.embedding
FROM unnest(%(shas)s::text[], %(parts)s::smallint[], %(embeddings)b::halfvec[]) AS new (sha, part, embedding)
JOIN memory_node n ON n.sha = new.sha
WHERE NOT n.removed ORDER BY n.sha, new.part
ON CONFLICT DO NOTHING

-- name: delete_symptoms
-- Take out the symptom vectors of nodes whose projection is replaced, which also lowers the counts.
DELETE FROM memory_vector WHERE node_sha = ANY(%(shas)s) AND kind = 'symptom'

-- name: kinds
-- Which vectors a node has, `text` first.
SELECT DISTINCT kind FROM memory_vector WHERE node_sha = %(sha)s ORDER BY kind DESC

-- name: missing_parts
-- The passages of nodes that have no vector yet; of a node without passages the text; removed chunks need none.
SELECT n.sha, p.part - 1, p.text
FROM memory_node n, unnest(coalesce(n.passages, ARRAY[n.text])) WITH ORDINALITY AS p (text, part)
WHERE n.sha = ANY(%(shas)s) AND NOT n.removed AND NOT EXISTS (
    SELECT FROM memory_vector v WHERE v.node_sha = n.sha AND v.kind = 'text' AND v.part = p.part - 1
)
ORDER BY n.sha, p.part

-- name: nearest
-- The nearest vectors: where few are within reach by a scan of them all, else by the partial HNSW index. Left to itself
-- the planner takes the index for small projects, too, and then misses most of them; the branch that the counts rule out
-- is never executed. `+ 0` keeps the HNSW index out of the one, `IS TRUE` that on projects out of the other. Comes unordered.
WITH route AS MATERIALIZED (
    SELECT coalesce(sum(live), 0) > %(exact_limit)s AS by_index FROM vector_count
    WHERE kind = {kind} AND level_group = {level_group} AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
)
SELECT * FROM (
    SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
    WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
      AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
    ORDER BY (embedding <=> %(vector)s) + 0, node_sha LIMIT %(limit)s
) AS scanned WHERE (SELECT NOT by_index FROM route)
UNION ALL
SELECT * FROM (
    SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
    WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
      AND (%(seen)s::text[] IS NULL OR (project = ANY(%(seen)s)) IS TRUE)
    ORDER BY embedding <=> %(vector)s LIMIT %(limit)s
) AS indexed WHERE (SELECT by_index FROM route)

-- name: nearest_by_part
-- The same for nodes with several vectors: the nearest of each counts, so that of an index more are read than are wanted.
WITH route AS MATERIALIZED (
    SELECT coalesce(sum(live), 0) > %(exact_limit)s AS by_index FROM vector_count
    WHERE kind = {kind} AND level_group = {level_group} AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
)
SELECT * FROM (
    SELECT node_sha, 1 - min((embedding <=> %(vector)s) + 0) FROM memory_vector
    WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
      AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
    GROUP BY node_sha ORDER BY 2 DESC, node_sha LIMIT %(limit)s
) AS scanned WHERE (SELECT NOT by_index FROM route)
UNION ALL
SELECT * FROM (
    SELECT node_sha, 1 - min(distance) FROM (
        SELECT node_sha, embedding <=> %(vector)s AS distance FROM memory_vector
        WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
          AND (%(seen)s::text[] IS NULL OR (project = ANY(%(seen)s)) IS TRUE)
        ORDER BY embedding <=> %(vector)s LIMIT %(parts)s
    ) AS parts GROUP BY node_sha ORDER BY 2 DESC, node_sha LIMIT %(limit)s
) AS indexed WHERE (SELECT by_index FROM route)
