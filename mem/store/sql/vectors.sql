-- name: lock_nodes
-- The nodes that get vectors, locked in the order of their shas against being superseded meanwhile.
SELECT sha FROM memory_node WHERE sha = ANY(%(shas)s) ORDER BY sha FOR SHARE

-- name: insert
-- Add the vectors of nodes, live where the node is; one that is there stays.
INSERT INTO memory_vector (node_sha, kind, project, level, visibility, owner, container, live, embedding)
SELECT n.sha, %(kind)s, n.project, n.level, n.visibility, n.owner, n.container, n.superseded_by IS NULL, new.embedding
FROM unnest(%(shas)s::text[], %(embeddings)b::halfvec[]) AS new (sha, embedding) JOIN memory_node n ON n.sha = new.sha
ORDER BY n.sha
ON CONFLICT DO NOTHING

-- name: delete_symptoms
-- Take out the symptom vectors of nodes whose projection is replaced, which also lowers the counts.
DELETE FROM memory_vector WHERE node_sha = ANY(%(shas)s) AND kind = 'symptom'

-- name: kinds
-- Which vectors a node has, `text` first.
SELECT kind FROM memory_vector WHERE node_sha = %(sha)s ORDER BY kind DESC

-- name: nearest
-- The nearest vectors: where few are within reach by a scan of them all, else by the partial HNSW index. Left to itself
-- the planner takes the index for small projects, too, and then misses most of them; the branch that the counts rule out
-- is never executed. `+ 0` keeps the HNSW index out of the one, `IS TRUE` that on projects out of the other. Comes unordered.
WITH route AS MATERIALIZED (
    SELECT coalesce(sum(live), 0) > %(exact_limit)s AS by_index FROM vector_count
    WHERE kind = {kind} AND level_group = {level_group} AND (%(federated)s OR project IN (%(project)s, '*'))
)
SELECT * FROM (
    SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
    WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
      AND (%(federated)s OR project IN (%(project)s, '*'))
    ORDER BY (embedding <=> %(vector)s) + 0, node_sha LIMIT %(limit)s
) AS scanned WHERE (SELECT NOT by_index FROM route)
UNION ALL
SELECT * FROM (
    SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
    WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
      AND (%(federated)s OR (project IN (%(project)s, '*')) IS TRUE)
    ORDER BY embedding <=> %(vector)s LIMIT %(limit)s
) AS indexed WHERE (SELECT by_index FROM route)
