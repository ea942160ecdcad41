-- name: unread
-- The texts of those nodes that have no entry, removed chunks left out.
SELECT n.sha, n.text, n.projected FROM memory_node n
WHERE n.sha = ANY(%(shas)s) AND NOT n.removed AND NOT EXISTS (SELECT FROM lexical_entry e WHERE e.node_sha = n.sha)
ORDER BY n.sha

-- name: texts
-- The texts that entries of nodes are made of.
SELECT sha, text, projected FROM memory_node WHERE sha = ANY(%(shas)s) ORDER BY sha

-- name: add
-- Add the entries of nodes and count them, in the order of the terms, so that two writers never wait for each other.
WITH added AS (
    INSERT INTO lexical_entry (node_sha, project, level, visibility, owner, container, source, turn,
                               length, times, terms_by)
    SELECT n.sha, n.project, n.level, n.visibility, n.owner, n.container,
           CASE n.level WHEN 'L0' THEN n.source WHEN 'R' THEN split_part(n.source, '#', 1) END,
           CASE n.level WHEN 'L0' THEN n.turn END,
           made.length, made.times, %(terms_by)s
    FROM unnest(%(shas)s::text[], %(lengths)s::integer[], %(times)s::jsonb[]) AS made (sha, length, times)
    JOIN memory_node n ON n.sha = made.sha
    ON CONFLICT DO NOTHING
    RETURNING level, project, visibility, source, length, times
), counted AS (
    INSERT INTO lexical_frequency AS f (term, level_group, project, nodes)
    SELECT term, mem.level_group(level), project, count(*)
    FROM added, jsonb_object_keys(times) AS term WHERE visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (term, level_group, project) DO UPDATE SET nodes = f.nodes + excluded.nodes
)
INSERT INTO lexical_total AS t (level_group, project, document, nodes, length)
SELECT mem.level_group(level), project, CASE level WHEN 'R' THEN coalesce(source, '') ELSE '' END, count(*), sum(length)
FROM added WHERE visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (level_group, project, document) DO UPDATE
SET nodes = t.nodes + excluded.nodes, length = t.length + excluded.length

-- name: change
-- Change the entries of nodes, and count the terms that came and went.
WITH changed AS (
    UPDATE lexical_entry e SET length = made.length, times = made.times, terms_by = %(terms_by)s
    FROM unnest(%(shas)s::text[], %(lengths)s::integer[], %(times)s::jsonb[]) AS made (sha, length, times),
         lexical_entry before
    WHERE e.node_sha = made.sha AND before.node_sha = made.sha
    RETURNING e.level, e.project, e.visibility, e.source, made.times AS after, before.times AS before,
              made.length - before.length AS longer
), counted AS (
    INSERT INTO lexical_frequency AS f (term, level_group, project, nodes)
    SELECT term, mem.level_group(level), project, sum(change)
    FROM (SELECT level, project, jsonb_object_keys(after - ARRAY(SELECT jsonb_object_keys(before))) AS term, 1 AS change
          FROM changed WHERE visibility = 'global'
          UNION ALL
          SELECT level, project, jsonb_object_keys(before - ARRAY(SELECT jsonb_object_keys(after))), -1
          FROM changed WHERE visibility = 'global') AS changes
    GROUP BY 1, 2, 3 HAVING sum(change) <> 0 ORDER BY 1, 2, 3
    ON CONFLICT (term, level_group, project) DO UPDATE SET nodes = f.nodes + excluded.nodes
)
INSERT INTO lexical_total AS t (level_group, project, document, nodes, length)
SELECT mem.level_group(level), project, CASE level WHEN 'R' THEN coalesce(source, '') ELSE '' END, 0, sum(longer)
FROM changed WHERE visibility = 'global' GROUP BY 1, 2, 3 HAVING sum(longer) <> 0 ORDER BY 1, 2, 3
ON CONFLICT (level_group, project, document) DO UPDATE SET length = t.length + excluded.length

-- name: remove
-- Take out the entries of nodes, and out of the counts.
WITH removed AS (
    DELETE FROM lexical_entry WHERE node_sha = ANY(%(shas)s)
    RETURNING level, project, visibility, source, length, times
), counted AS (
    INSERT INTO lexical_frequency AS f (term, level_group, project, nodes)
    SELECT term, mem.level_group(level), project, -count(*)
    FROM removed, jsonb_object_keys(times) AS term WHERE visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
    ON CONFLICT (term, level_group, project) DO UPDATE SET nodes = f.nodes + excluded.nodes
)
INSERT INTO lexical_total AS t (level_group, project, document, nodes, length)
SELECT mem.level_group(level), project, CASE level WHEN 'R' THEN coalesce(source, '') ELSE '' END, -count(*), -sum(length)
FROM removed WHERE visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
ON CONFLICT (level_group, project, document) DO UPDATE
SET nodes = t.nodes + excluded.nodes, length = t.length + excluded.length

-- name: outdated
-- A page of the nodes whose entries are those of other rules, or of none, removed chunks left out.
SELECT n.sha FROM memory_node n LEFT JOIN lexical_entry e ON e.node_sha = n.sha
WHERE n.sha > %(after)s AND NOT n.removed AND e.terms_by IS DISTINCT FROM %(terms_by)s ORDER BY n.sha LIMIT %(limit)s

-- name: counts
-- How many nodes hold each term, and, where the term is null, how many nodes, terms and documents there are.
SELECT level_group, project, term, nodes, 0, 0 FROM lexical_frequency
WHERE term = ANY(%(terms)s) AND level_group = ANY(%(groups)s) AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
UNION ALL
SELECT level_group, project, NULL, sum(nodes)::bigint, sum(length)::bigint, count(*) FROM lexical_total
WHERE level_group = ANY(%(groups)s) AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s)) AND nodes > 0
GROUP BY level_group, project

-- name: matching
-- The nodes of one project, or of all, that hold any of the chosen terms, and how often each term that was asked for. The
-- index can look up one project together with a term, but no list of them.
SELECT node_sha, level, project, source, turn, length, ARRAY[{times}]
FROM lexical_entry
WHERE level IN ({levels}) AND visibility = 'global' AND (%(project)s::text IS NULL OR project = %(project)s)
  AND times ?| %(chosen)s::text[]

-- name: holding_all
-- The first nodes of one project, or of all, that hold all of the chosen terms, and how often each term that was asked for.
SELECT node_sha, level, project, source, turn, length, ARRAY[{times}]
FROM lexical_entry
WHERE level IN ({levels}) AND visibility = 'global' AND (%(project)s::text IS NULL OR project = %(project)s)
  AND times ?& %(chosen)s::text[]
ORDER BY node_sha LIMIT %(limit)s

-- name: documents
-- How many terms documents have.
SELECT project, document, length FROM lexical_total
WHERE level_group = 'R' AND (project, document) IN (SELECT * FROM unnest(%(projects)s::text[], %(documents)s::text[]))

-- name: at
-- The evidence at places.
SELECT e.node_sha, e.project, e.source, e.turn
FROM unnest(%(projects)s::text[], %(sources)s::text[], %(turns)s::integer[]) AS wanted (project, source, turn)
JOIN lexical_entry e ON e.project = wanted.project AND e.source = wanted.source AND e.turn = wanted.turn
WHERE e.level = 'L0' AND e.visibility = 'global'
