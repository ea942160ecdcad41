-- name: may_read
-- What an audience may read of a table with these columns, live or not: the one place that decides it.
(%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
AND (
    (visibility = 'global' AND (%(others)s OR owner = %(user)s))
    OR (owner = %(user)s
        AND (visibility = 'user' OR (visibility = 'container' AND container = ANY(%(containers)s::text[]))))
)

-- name: live
-- Whether a lesson is not superseded; few are, and they have an index of their own.
NOT EXISTS (SELECT FROM memory_node gone WHERE gone.sha = node_sha AND gone.superseded_by IS NOT NULL)

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
SELECT 'own' AS search, node_sha, 1 - (embedding <=> %(vector)s) AS similarity, live FROM memory_vector
WHERE kind = {kind} AND level IN ('L1', 'L2') AND owner = %(user)s AND {may_read}
ORDER BY (embedding <=> %(vector)s) + 0, node_sha LIMIT %(limit)s

-- name: nearest
-- The same, and those of the lessons that are for everybody, as a lookup finds them, in one statement.
SELECT * FROM ({own}) AS own
UNION ALL
SELECT 'common', node_sha, similarity, {live} FROM ({common}) AS common (node_sha, similarity)

-- name: own_words
-- What a user's own lessons hold of terms: a row for each that holds one, and rows without a sha that count and measure them
-- all, those for everybody apart; and a row for those of others and own ones that are for everybody, of which `shared` is null:
-- how long they are, how many, and how many of them hold each term.
WITH mine AS MATERIALIZED (
    SELECT node_sha, level, project, visibility = 'global' AS shared, length, times FROM lexical_entry
    WHERE level IN ('L1', 'L2') AND owner = %(user)s AND {may_read}
)
SELECT NULL AS node_sha, NULL AS level, NULL AS project, shared, sum(length)::bigint AS length,
       ARRAY[count(*)::integer] AS times, NULL AS live
FROM mine GROUP BY shared
UNION ALL
SELECT node_sha, level, project, shared, length,
       ARRAY(SELECT coalesce((times -> term)::integer, 0) FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (term, place)
             ORDER BY place), {live}
FROM mine WHERE times ?| %(terms)s::text[]
UNION ALL
SELECT NULL, NULL, NULL, NULL, coalesce(sum(length), 0)::bigint, coalesce(sum(nodes), 0)::integer || ARRAY(
    SELECT coalesce(sum(f.nodes), 0)::integer
    FROM unnest(%(terms)s::text[]) WITH ORDINALITY AS t (asked, place)
    LEFT JOIN lexical_frequency f ON f.term = asked AND f.level_group = 'lesson'
         AND (%(readable)s::text[] IS NULL OR f.project = ANY(%(readable)s))
    GROUP BY place ORDER BY place
), NULL
FROM lexical_total WHERE level_group = 'lesson' AND %(others)s AND nodes > 0
     AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))

-- name: matching
-- The lessons for everybody that hold any of the chosen terms, and how often each term that was asked for.
SELECT node_sha, level, project, NULL, NULL, length, ARRAY[{times}], {live} FROM lexical_entry
WHERE level IN ('L1', 'L2') AND visibility = 'global' AND times ?| %(chosen)s::text[]
  AND (%(readable)s::text[] IS NULL OR (project = ANY(%(readable)s)) IS TRUE)

-- name: holding_all
-- The first lessons for everybody that hold all of the chosen terms, and how often each term that was asked for.
SELECT node_sha, level, project, NULL, NULL, length, ARRAY[{times}], {live} FROM lexical_entry
WHERE level IN ('L1', 'L2') AND visibility = 'global' AND times ?& %(chosen)s::text[]
  AND (%(readable)s::text[] IS NULL OR (project = ANY(%(readable)s)) IS TRUE)
ORDER BY node_sha LIMIT %(most)s

-- name: labelled
-- The lessons that carry labels, those with more first, then the user's own, as one measure; a container is a label of own ones
-- alone. All own ones are read, and of each label the first of what is for everybody, in the order of an index.
WITH asked AS MATERIALIZED (
    SELECT label, EXISTS (SELECT FROM failure_signature WHERE tool = label) AS is_tool
    FROM unnest(%(labels)s::text[]) AS label
), mine AS MATERIALIZED (
    SELECT node_sha, project, container FROM lexical_entry
    WHERE owner = %(user)s AND level IN ('L1', 'L2') AND {may_read}
), carried (sha, label) AS (
    SELECT node_sha, project FROM mine WHERE project = ANY(%(labels)s)
    UNION
    SELECT node_sha, container FROM mine WHERE container = ANY(%(labels)s)
    UNION
    SELECT node_sha, tool FROM mine CROSS JOIN LATERAL (
        SELECT tool FROM signature_link l JOIN failure_signature USING (sig_sha)
        WHERE l.node_sha = mine.node_sha AND tool = ANY(%(labels)s) OFFSET 0
    ) AS signed WHERE EXISTS (SELECT FROM asked WHERE is_tool)
    UNION
    SELECT node_sha, label FROM asked CROSS JOIN LATERAL (
        SELECT node_sha FROM lexical_entry
        WHERE project = label AND visibility = 'global' AND level IN ('L1', 'L2') AND %(others)s
          AND (%(readable)s::text[] IS NULL OR (project = ANY(%(readable)s)) IS TRUE)
        ORDER BY node_sha LIMIT {first}
    ) AS of_project
    UNION
    SELECT node_sha, label FROM asked CROSS JOIN LATERAL (
        SELECT node_sha FROM failure_signature JOIN signature_link USING (sig_sha)
        WHERE tool = label AND %(others)s AND (
            -- Row by row, since joined it would be sorted in whole.
            SELECT visibility = 'global' AND level IN ('L1', 'L2')
                   AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
            FROM lexical_entry e WHERE e.node_sha = signature_link.node_sha
        )
        ORDER BY sig_sha, node_sha LIMIT {first}
    ) AS of_tool WHERE is_tool
), ordered AS (
    SELECT sha AS node_sha, count(*) + CASE WHEN EXISTS (SELECT FROM mine WHERE node_sha = sha) THEN 0.5 ELSE 0 END::float8
    AS labels FROM carried GROUP BY sha ORDER BY 2 DESC, sha LIMIT %(limit)s
)
SELECT 'labels', node_sha, labels, {live} FROM ordered

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
    FROM begun b JOIN signature_link l ON l.node_sha = b.sha
    CROSS JOIN LATERAL (SELECT algo FROM failure_signature WHERE sig_sha = l.sig_sha OFFSET 0) AS f
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
    WHERE successor IS NULL AND level IN ('L1', 'L2') AND sha <> of
) AS ranked
WHERE place <= %(limit)s ORDER BY of, by, sha

-- name: snapshot
-- The newest lines of a user's lessons.
SELECT node_sha, line FROM user_snapshot WHERE owner = %(user)s AND {may_read} ORDER BY seq DESC, node_sha LIMIT %(limit)s

-- name: signed
-- The lessons that signatures point at, or that stand for one.
WITH RECURSIVE chain (sha, successor) AS (
    SELECT n.sha, n.superseded_by FROM signature_link l JOIN memory_node n ON n.sha = l.node_sha
    WHERE l.sig_sha = ANY(%(keys)s) AND level IN ('L1', 'L2') AND {may_read}
    UNION
    SELECT n.sha, n.superseded_by FROM chain c JOIN memory_node n ON n.sha = c.successor
)
SELECT sha FROM chain JOIN memory_node USING (sha)
WHERE successor IS NULL AND level IN ('L1', 'L2') AND {may_read}
ORDER BY sha LIMIT %(limit)s

-- name: remembered
-- Live lessons with their projection, the first tool of their signatures, and the time they were learned at.
SELECT sha AS stored_sha, level, project, text, visibility, owner, container, source, turn, projected,
       (SELECT min(f.tool) FROM signature_link l JOIN failure_signature f USING (sig_sha) WHERE l.node_sha = n.sha) AS tool,
       (SELECT j.body::json ->> 'time' FROM journal j
        WHERE j.kind = 'appended' AND (j.body::json #>> '{{data,sha}}') COLLATE "C" = n.sha ORDER BY seq LIMIT 1) AS at
FROM memory_node n
WHERE sha = ANY(%(shas)s) AND superseded_by IS NULL AND level IN ('L1', 'L2') AND {may_read}
