-- name: find
-- The failures that no live and readable memory explains, those seen most first, each with the number of all of them.
WITH RECURSIVE stands_for (origin, sha) AS (
    SELECT sha, sha FROM memory_node n
    WHERE visibility = 'global' AND (%(readable)s::text[] IS NULL OR project = ANY(%(readable)s))
      AND EXISTS (SELECT FROM signature_link l WHERE l.node_sha = n.sha)
    UNION
    SELECT s.origin, n.superseded_by FROM stands_for s JOIN memory_node n USING (sha) WHERE n.superseded_by IS NOT NULL
), explained AS MATERIALIZED (
    -- Who explains a failure: live, or superseded with a live successor.
    SELECT s.origin AS sha FROM stands_for s JOIN memory_node n USING (sha)
    WHERE n.superseded_by IS NULL AND n.visibility = 'global'
      AND (%(readable)s::text[] IS NULL OR n.project = ANY(%(readable)s))
), known AS MATERIALIZED (
    SELECT DISTINCT l.sig_sha FROM explained e JOIN signature_link l ON l.node_sha = e.sha
), twins AS MATERIALIZED (
    -- One failure under two versions of the algorithm. Not <>, which no index finds. A version of it that only others
    -- saw is none for who may not read theirs.
    SELECT o.sig_sha AS other, f.sig_sha AS current
    FROM failure_signature o JOIN failure_signature f USING (tool, rule, message)
    WHERE (o.algo < %(algo)s OR o.algo > %(algo)s) AND f.algo = %(algo)s AND f.code IS NOT DISTINCT FROM o.code
      AND (%(readable)s::text[] IS NULL OR EXISTS (
          SELECT FROM occurrence_count c WHERE c.sig_sha = f.sig_sha AND c.project = ANY(%(readable)s)
      ) OR EXISTS (
          SELECT FROM signature_link l JOIN memory_node n ON n.sha = l.node_sha
          WHERE l.sig_sha = f.sig_sha AND n.project = ANY(%(readable)s)
      ))
), shadowed AS MATERIALIZED (
    SELECT other AS sig_sha FROM twins
    UNION
    SELECT current FROM twins WHERE EXISTS (
        SELECT FROM signature_link l JOIN explained e ON e.sha = l.node_sha
        WHERE l.sig_sha = other AND NOT EXISTS (
            SELECT FROM signature_link m JOIN failure_signature f USING (sig_sha)
            WHERE m.node_sha = l.node_sha AND f.algo = %(algo)s
        )
    )
), counted AS (
    SELECT sig_sha, sum(times)::bigint AS times, max(last_seen) AS last_seen
    FROM (
        SELECT sig_sha, times, last_seen FROM occurrence_count
        WHERE %(since)s::date IS NULL AND (%(counted)s::text[] IS NULL OR project = ANY(%(counted)s))
        UNION ALL
        SELECT sig_sha, 1, seen_on FROM occurrence
        WHERE seen_on >= %(since)s::date AND (%(counted)s::text[] IS NULL OR project = ANY(%(counted)s))
    ) AS sighted
    WHERE %(tool)s::text IS NULL OR sig_sha IN (SELECT sig_sha FROM failure_signature WHERE tool = %(tool)s)
    GROUP BY sig_sha
), gap AS MATERIALIZED (
    SELECT * FROM counted c
    WHERE NOT EXISTS (SELECT FROM known k WHERE k.sig_sha = c.sig_sha)
      AND NOT EXISTS (SELECT FROM shadowed s WHERE s.sig_sha = c.sig_sha)
), page AS MATERIALIZED (
    SELECT g.sig_sha, g.times AS seen_count, g.last_seen, f.sig_coarse, f.tool, f.rule, f.code, f.message
    FROM (SELECT * FROM gap ORDER BY times DESC, last_seen DESC, sig_sha LIMIT %(limit)s) AS g
    JOIN failure_signature f USING (sig_sha)
), variants AS (
    SELECT f.sig_coarse, count(g.sig_sha) AS gaps, count(k.sig_sha) AS known
    FROM failure_signature f LEFT JOIN gap g USING (sig_sha) LEFT JOIN known k USING (sig_sha)
    WHERE f.sig_coarse IN (SELECT sig_coarse FROM page) GROUP BY f.sig_coarse
), places AS (
    SELECT sig_sha, array_agg(project ORDER BY times DESC, project) AS projects
    FROM (
        SELECT sig_sha, project, times FROM page JOIN occurrence_count USING (sig_sha)
        WHERE %(since)s::date IS NULL AND (%(counted)s::text[] IS NULL OR project = ANY(%(counted)s))
        UNION ALL
        SELECT sig_sha, project, count(*) FROM page JOIN occurrence USING (sig_sha)
        WHERE seen_on >= %(since)s::date AND (%(counted)s::text[] IS NULL OR project = ANY(%(counted)s))
        GROUP BY 1, 2
    ) AS sighted
    GROUP BY sig_sha
)
SELECT p.sig_sha, p.sig_coarse, p.tool, p.rule, p.code, p.message, p.seen_count,
       (SELECT min(c.first_seen) FROM occurrence_count c WHERE c.sig_sha = p.sig_sha
        AND (%(counted)s::text[] IS NULL OR c.project = ANY(%(counted)s))) AS first_seen,
       p.last_seen, l.projects, v.gaps - 1 AS variants, v.known AS known_variants, (SELECT count(*) FROM gap) AS total
FROM page p JOIN variants v USING (sig_coarse) JOIN places l USING (sig_sha)
ORDER BY p.seen_count DESC, p.last_seen DESC, p.sig_sha
