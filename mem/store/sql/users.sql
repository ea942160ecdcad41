-- name: may_read
-- What an audience may read of a table with these columns, live or not: the one place that decides it.
(%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
AND (
    (visibility = 'global' AND (%(others)s OR owner = %(user)s))
    OR (owner = %(user)s
        AND (visibility = 'user' OR (visibility = 'container' AND container = ANY(%(containers)s::text[]))))
)

-- name: known
-- Whether a user has lessons, and which of the containers asked for one of them carries.
SELECT EXISTS (
    SELECT FROM memory_node
    WHERE owner = %(user)s AND level IN ('L1', 'L2') AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
), ARRAY(
    SELECT asked FROM unnest(%(asked)s::text[]) AS asked
    WHERE EXISTS (
        SELECT FROM memory_node
        WHERE owner = %(user)s AND container = asked AND level IN ('L1', 'L2')
          AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
    )
)

-- name: standing
-- The live lessons that stand for readable ones, at the ends of their successors, where they may be read.
WITH RECURSIVE chain (origin, sha, successor) AS (
    SELECT sha, sha, superseded_by FROM memory_node WHERE sha = ANY(%(shas)s)
    UNION
    SELECT c.origin, n.sha, n.superseded_by FROM chain c JOIN memory_node n ON n.sha = c.successor
)
SELECT origin, sha FROM chain JOIN memory_node USING (sha)
WHERE successor IS NULL AND level IN ('L1', 'L2') AND {may_read}

-- name: nearest_own
-- The nearest vectors of a user's own lessons, by a scan of them all; `+ 0` keeps other indexes out.
SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
WHERE kind = {kind} AND level IN ('L1', 'L2') AND owner = %(user)s AND {may_read}
ORDER BY (embedding <=> %(vector)s) + 0, node_sha LIMIT %(limit)s

-- name: nearest_global
-- The nearest vectors of lessons that are for everybody, by the same two ways as `vectors.nearest` and for the same reasons.
WITH route AS MATERIALIZED (
    SELECT coalesce(sum(live), 0) > %(exact_limit)s AS by_index FROM vector_count
    WHERE kind = {kind} AND level_group = 'lesson' AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
)
SELECT * FROM (
    SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
    WHERE kind = {kind} AND level IN ('L1', 'L2') AND visibility = 'global'
      AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
    ORDER BY (embedding <=> %(vector)s) + 0, node_sha LIMIT %(limit)s
) AS scanned WHERE (SELECT NOT by_index FROM route)
UNION ALL
SELECT * FROM (
    SELECT node_sha, 1 - (embedding <=> %(vector)s) FROM memory_vector
    WHERE kind = {kind} AND level IN ('L1', 'L2') AND visibility = 'global'
      AND (%(readable)s::text[] IS NULL OR (project = ANY(%(readable)s)) IS TRUE)
    ORDER BY embedding <=> %(vector)s LIMIT %(limit)s
) AS indexed WHERE (SELECT by_index FROM route)

-- name: own_words
-- What a user's own lessons hold of terms: a row for each that holds one, and rows without a sha that count and measure them
-- all, those for everybody apart.
WITH mine AS MATERIALIZED (
    SELECT node_sha, level, project, visibility = 'global' AS shared, length, times FROM lexical_entry
    WHERE level IN ('L1', 'L2') AND owner = %(user)s AND {may_read}
)
SELECT NULL AS node_sha, NULL AS level, NULL AS project, shared, sum(length)::bigint AS length,
       ARRAY[count(*)::integer] AS times
FROM mine GROUP BY shared
UNION ALL
SELECT node_sha, level, project, shared, length,
       ARRAY(SELECT coalesce((times -> term)::integer, 0) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, place)
             ORDER BY place)
FROM mine WHERE times ?| %(terms)s::text[]

-- name: global_words
-- How many lessons that are for everybody hold each term, and, where the term is null, how many they are and how long.
SELECT term, sum(nodes)::bigint, 0 FROM lexical_frequency
WHERE term = ANY(%(terms)s) AND level_group = 'lesson' AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
GROUP BY term
UNION ALL
SELECT NULL, coalesce(sum(nodes), 0)::bigint, coalesce(sum(length), 0)::bigint FROM lexical_total
WHERE level_group = 'lesson' AND nodes > 0 AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))

-- name: matching
-- The lessons for everybody that hold any of the chosen terms, and how often each term that was asked for.
SELECT node_sha, level, project, NULL, NULL, length, ARRAY[{times}] FROM lexical_entry
WHERE level IN ('L1', 'L2') AND visibility = 'global' AND times ?| %(chosen)s::text[]
  AND (%(readable)s::text[] IS NULL OR (project = ANY(%(readable)s)) IS TRUE)

-- name: holding_all
-- The first lessons for everybody that hold all of the chosen terms, and how often each term that was asked for.
SELECT node_sha, level, project, NULL, NULL, length, ARRAY[{times}] FROM lexical_entry
WHERE level IN ('L1', 'L2') AND visibility = 'global' AND times ?& %(chosen)s::text[]
  AND (%(readable)s::text[] IS NULL OR (project = ANY(%(readable)s)) IS TRUE)
ORDER BY node_sha LIMIT %(most)s

-- name: labelled
-- The lessons that carry a label, or stand for one that does; a container is a label of the user's own lessons alone.
WITH RECURSIVE carried (sha, label) AS (
    SELECT l.node_sha, f.tool FROM failure_signature f JOIN signature_link l USING (sig_sha) WHERE f.tool = ANY(%(labels)s)
    UNION
    SELECT e.node_sha, e.project FROM unnest(%(labels)s::text[]) AS label JOIN lexical_entry e ON e.project = label
    WHERE e.visibility = 'global' AND e.level IN ('L1', 'L2') AND %(others)s
    UNION
    SELECT sha, project FROM memory_node WHERE owner = %(user)s AND level IN ('L1', 'L2') AND project = ANY(%(labels)s)
    UNION
    SELECT sha, container FROM memory_node WHERE owner = %(user)s AND level IN ('L1', 'L2') AND container = ANY(%(labels)s)
), chain (label, sha, successor) AS (
    SELECT label, sha, superseded_by FROM carried JOIN memory_node USING (sha) WHERE level IN ('L1', 'L2') AND {may_read}
    UNION
    SELECT c.label, n.sha, n.superseded_by FROM chain c JOIN memory_node n ON n.sha = c.successor
)
SELECT sha FROM chain JOIN memory_node USING (sha)
WHERE successor IS NULL AND level IN ('L1', 'L2') AND {may_read}
GROUP BY sha, owner ORDER BY count(DISTINCT label) DESC, owner IS NOT DISTINCT FROM %(user)s DESC, sha LIMIT %(limit)s

-- name: neighbours
-- The lessons that edges and signatures tie to others, or to what these stand for; what ties them may be read as well.
WITH RECURSIVE readable AS NOT MATERIALIZED (
    SELECT sha, level, superseded_by FROM memory_node WHERE {may_read}
), behind (of, sha) AS (
    SELECT sha, sha FROM readable WHERE sha = ANY(%(shas)s) AND level IN ('L1', 'L2')
    UNION
    SELECT b.of, n.sha FROM behind b JOIN memory_node n ON n.superseded_by = b.sha
), begun AS MATERIALIZED (
    SELECT of, sha FROM behind JOIN readable USING (sha)
), tied (of, by, sha) AS (
    SELECT b.of, 'edge', e.child_sha FROM begun b JOIN memory_edge e ON e.parent_sha = b.sha
    UNION
    SELECT b.of, 'edge', e.parent_sha FROM begun b JOIN memory_edge e ON e.child_sha = b.sha
    UNION
    SELECT b.of, 'edge', other.child_sha
    FROM begun b JOIN memory_edge e ON e.child_sha = b.sha JOIN readable p ON p.sha = e.parent_sha
    JOIN memory_edge other ON other.parent_sha = p.sha
    UNION
    -- One of an earlier version ties no two that both have some of the current one, by which they are compared.
    SELECT b.of, 'signature', other.node_sha
    FROM begun b JOIN signature_link l ON l.node_sha = b.sha JOIN failure_signature f USING (sig_sha)
    JOIN signature_link other ON other.sig_sha = l.sig_sha
    WHERE f.algo = %(algo)s OR (
        SELECT count(DISTINCT link.node_sha) FROM signature_link link JOIN failure_signature now USING (sig_sha)
        WHERE link.node_sha IN (b.sha, other.node_sha) AND now.algo = %(algo)s
    ) < 2
), chain (of, by, sha, successor) AS (
    SELECT of, by, sha, superseded_by FROM tied JOIN readable USING (sha) WHERE level IN ('L1', 'L2')
    UNION
    SELECT c.of, c.by, n.sha, n.superseded_by FROM chain c JOIN memory_node n ON n.sha = c.successor
)
SELECT sha, of, by FROM (
    SELECT DISTINCT sha, of, by, dense_rank() OVER (PARTITION BY of ORDER BY by, sha) AS place
    FROM chain JOIN readable USING (sha)
    WHERE successor IS NULL AND level IN ('L1', 'L2') AND sha <> ALL(%(shas)s)
) AS ranked
WHERE place <= %(limit)s ORDER BY of, by, sha

-- name: snapshot
-- The newest lines of a user's lessons.
SELECT node_sha, line FROM user_snapshot WHERE owner = %(user)s AND {may_read} ORDER BY seq DESC, node_sha LIMIT %(limit)s
