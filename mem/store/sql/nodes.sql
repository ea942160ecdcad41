-- name: by_prefix
-- The first shas that begin with a prefix: enough to tell one from several.
SELECT sha FROM memory_node WHERE sha >= %(prefix)s AND sha < %(behind)s ORDER BY sha LIMIT 5

-- name: by_sha
-- Nodes by their shas.
SELECT level, project, text, visibility, owner, container, source, turn, sha AS stored_sha, superseded_by, removed
FROM memory_node WHERE sha = ANY(%(shas)s)

-- name: equal
-- A live lesson with the same plain text, project, visibility, owner and container, other than the excluded ones.
SELECT sha FROM memory_node
WHERE plain_sha = %(plain_sha)s AND superseded_by IS NULL AND level IN ('L1', 'L2')
  AND project = %(project)s AND visibility = %(visibility)s
  AND owner IS NOT DISTINCT FROM %(owner)s AND container IS NOT DISTINCT FROM %(container)s
  AND sha <> ALL(%(excluded)s)
ORDER BY sha LIMIT 1

-- name: near
-- The lessons of one project, visibility, owner and container that share the most bands with a text.
SELECT sha, text, superseded_by FROM memory_node
WHERE bands && %(bands)s::integer[] AND level IN ('L1', 'L2')
  AND project = %(project)s AND visibility = %(visibility)s
  AND owner IS NOT DISTINCT FROM %(owner)s AND container IS NOT DISTINCT FROM %(container)s
  AND sha <> ALL(%(excluded)s)
ORDER BY (SELECT count(*) FROM unnest(bands) AS band WHERE band = ANY(%(bands)s::integer[])) DESC, sha LIMIT %(limit)s

-- name: returned
-- The lessons of other projects that lookups returned to one, and that share the most bands with a text.
SELECT n.sha, n.text, n.project FROM returned_lesson r JOIN memory_node n ON n.sha = r.node_sha
WHERE r.project = %(project)s AND n.bands && %(bands)s::integer[]
  AND (%(readable)s::text[] IS NULL OR n.project = ANY(%(readable)s))
ORDER BY (SELECT count(*) FROM unnest(n.bands) AS band WHERE band = ANY(%(bands)s::integer[])) DESC, n.sha LIMIT %(limit)s

-- name: without_bands
-- A page of the lessons whose bands are those of other rules, or of none.
SELECT sha, text FROM memory_node
WHERE level IN ('L1', 'L2') AND sha > %(after)s AND bands_by IS DISTINCT FROM %(bands_by)s ORDER BY sha LIMIT %(limit)s

-- name: put_bands
-- Store the bands of a lesson.
UPDATE memory_node SET bands = %(bands)s, bands_by = %(bands_by)s WHERE sha = %(sha)s

-- name: existing
-- Those of the shas that are nodes.
SELECT sha FROM memory_node WHERE sha = ANY(%(shas)s)

-- name: insert
-- Add a node; one that is there stays.
INSERT INTO memory_node (sha, level, project, text, visibility, owner, container, source, turn, plain_sha,
                         bands, bands_by, passages)
VALUES (%(sha)s, %(level)s, %(project)s, %(text)s, %(visibility)s, %(owner)s, %(container)s, %(source)s, %(turn)s,
        %(plain_sha)s, %(bands)s, %(bands_by)s, %(passages)s)
ON CONFLICT DO NOTHING

-- name: link_parents
-- Add the edges from a node to its parents.
INSERT INTO memory_edge (child_sha, parent_sha)
SELECT %(sha)s, parent FROM unnest(%(parents)s::text[]) AS parent ORDER BY parent
ON CONFLICT DO NOTHING

-- name: lock_for_change
-- Lock nodes in the order of their shas, against a vector that is being added.
SELECT sha FROM memory_node WHERE sha = ANY(%(shas)s) ORDER BY sha FOR NO KEY UPDATE

-- name: supersede
-- Name the successor of nodes that have none yet.
UPDATE memory_node SET superseded_by = %(successor)s WHERE sha = ANY(%(shas)s) AND superseded_by IS NULL

-- name: retire_vectors
-- Mark the vectors of superseded nodes, which also lowers the counts.
UPDATE memory_vector SET live = false WHERE node_sha = ANY(%(shas)s) AND live

-- name: of_level
-- Those of the nodes that are of a level.
SELECT sha FROM memory_node WHERE sha = ANY(%(shas)s) AND level = %(level)s ORDER BY sha

-- name: lineages
-- For each sha the live node at the end of its chain of successors, its projection, and the superseded shas on the way;
-- nothing that may not be told of.
WITH RECURSIVE chain (origin, sha, successor, path) AS (
    SELECT sha, sha, superseded_by, ARRAY[]::text[] COLLATE "C" FROM memory_node WHERE sha = ANY(%(shas)s)
    UNION ALL
    SELECT c.origin, n.sha, n.superseded_by, c.path || c.sha
    FROM chain c JOIN memory_node n ON n.sha = c.successor
    WHERE n.sha <> ALL(c.path)
)
SELECT c.origin, CASE WHEN %(told)s::text[] IS NULL THEN c.path ELSE ARRAY(
           SELECT p.sha FROM unnest(c.path) WITH ORDINALITY AS p (sha, place) JOIN memory_node m USING (sha)
           WHERE m.project = ANY(%(told)s) ORDER BY p.place
       ) END AS path, n.level, n.project, n.text, n.visibility, n.owner, n.container, n.source, n.turn,
       n.sha AS stored_sha, n.superseded_by, n.projected
FROM chain c JOIN memory_node n ON n.sha = c.sha
WHERE c.successor IS NULL AND NOT n.removed AND (%(told)s::text[] IS NULL OR n.project = ANY(%(told)s))

-- name: evidence
-- The L0 nodes below a node, at any depth.
WITH RECURSIVE below (sha) AS (
    SELECT parent_sha FROM memory_edge WHERE child_sha = %(sha)s
    UNION
    SELECT e.parent_sha FROM below b JOIN memory_edge e ON e.child_sha = b.sha
)
SELECT n.level, n.project, n.text, n.visibility, n.owner, n.container, n.source, n.turn, n.sha AS stored_sha,
       n.superseded_by
FROM below b JOIN memory_node n ON n.sha = b.sha
WHERE n.level = 'L0'
ORDER BY n.source NULLS FIRST, n.turn NULLS FIRST, n.sha

-- name: lessons
-- A page of the lessons, superseded ones included.
SELECT sha FROM memory_node WHERE level IN ('L1', 'L2') AND sha > %(after)s ORDER BY sha LIMIT %(limit)s

-- name: projects
-- The projects that have nodes for all to read, by a scan: asked only where a question found nothing.
SELECT project FROM memory_node WHERE visibility = 'global' AND NOT removed GROUP BY project ORDER BY project

-- name: parents
-- The direct parents of nodes, and those of the lessons among these, as far as they may be told of.
WITH direct AS (
    SELECT e.child_sha, n.level, n.sha, n.source, n.turn
    FROM memory_edge e JOIN memory_node n ON n.sha = e.parent_sha
    WHERE e.child_sha = ANY(%(shas)s) AND (%(told)s::text[] IS NULL OR n.project = ANY(%(told)s))
)
SELECT child_sha, level, sha, source, turn FROM direct
UNION
SELECT e.child_sha, n.level, n.sha, n.source, n.turn
FROM direct d JOIN memory_edge e ON e.child_sha = d.sha JOIN memory_node n ON n.sha = e.parent_sha
WHERE d.level = 'L1' AND (%(told)s::text[] IS NULL OR n.project = ANY(%(told)s))
ORDER BY child_sha, level, source NULLS FIRST, turn NULLS FIRST, sha

-- name: lexical
-- The nodes whose text or projection holds the words that are most like the query, by trigrams.
SELECT sha, word_similarity(%(text)s, text || E'\n' || projected)::float8 AS similarity
FROM memory_node
WHERE %(text)s <%% (text || E'\n' || projected)
  AND level IN ({levels}) AND visibility = 'global' AND NOT removed AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
ORDER BY 2 DESC, sha LIMIT %(limit)s

-- name: by_tool
-- Lessons whose signatures carry a tool, superseded ones included: the own project first, then by occurrences.
WITH counted AS (
    SELECT l.node_sha, coalesce(sum(o.times), 0) AS times
    FROM failure_signature f
    JOIN signature_link l USING (sig_sha)
    LEFT JOIN occurrence_count o ON o.sig_sha = f.sig_sha AND (%(counted)s::text[] IS NULL OR o.project = ANY(%(counted)s))
    WHERE f.tool = %(tool)s
    GROUP BY l.node_sha
)
SELECT n.sha FROM counted c JOIN memory_node n ON n.sha = c.node_sha
WHERE n.level IN ('L1', 'L2') AND n.visibility = 'global'
  AND (%(seen)s::text[] IS NULL OR n.project = ANY(%(seen)s))
ORDER BY n.project = %(project)s DESC, c.times DESC, n.sha LIMIT %(limit)s
