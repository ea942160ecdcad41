-- name: insert_signature
-- Add a signature; one that is there stays.
INSERT INTO failure_signature (sig_sha, sig_coarse, algo, tool, envelope, rule, code, message, excerpt)
VALUES (%(sig_sha)s, %(sig_coarse)s, %(algo)s, %(tool)s, %(envelope)s, %(rule)s, %(code)s, %(message)s, %(excerpt)s)
ON CONFLICT DO NOTHING

-- name: put_signature
-- Add a signature, or correct what identifies it; its envelope and excerpt stay those of the first sighting.
INSERT INTO failure_signature AS f (sig_sha, sig_coarse, algo, tool, envelope, rule, code, message, excerpt)
VALUES (%(sig_sha)s, %(sig_coarse)s, %(algo)s, %(tool)s, %(envelope)s, %(rule)s, %(code)s, %(message)s, %(excerpt)s)
ON CONFLICT (sig_sha) DO UPDATE
SET sig_coarse = excluded.sig_coarse, algo = excluded.algo, tool = excluded.tool, rule = excluded.rule,
    code = excluded.code, message = excluded.message
WHERE (f.sig_coarse, f.algo, f.tool, f.rule, f.code, f.message) IS DISTINCT FROM
      (excluded.sig_coarse, excluded.algo, excluded.tool, excluded.rule, excluded.code, excluded.message)

-- name: stored
-- What identifies signatures, and whether each points at a node.
SELECT sig_sha, sig_coarse, algo, tool, rule, code, message,
       EXISTS (SELECT FROM signature_link l WHERE l.sig_sha = f.sig_sha AND l.node_sha = %(sha)s) AS linked
FROM failure_signature f WHERE sig_sha = ANY(%(sig_shas)s)

-- name: link
-- Make signatures point at a node.
INSERT INTO signature_link (sig_sha, node_sha)
SELECT sig_sha, %(sha)s FROM unnest(%(sig_shas)s::text[]) AS sig_sha ORDER BY sig_sha
ON CONFLICT DO NOTHING

-- name: count
-- Record sightings and count those that are new, the rows in the order of their signatures.
WITH added AS (
    INSERT INTO occurrence (project, operation, request_id, sig_sha, seen_on)
    SELECT %(project)s, %(operation)s, %(request_id)s, sig_sha, %(seen_on)s
    FROM unnest(%(sig_shas)s::text[]) AS sig_sha ORDER BY sig_sha
    ON CONFLICT DO NOTHING
    RETURNING sig_sha
)
INSERT INTO occurrence_count AS c (sig_sha, project, times, last_seen, first_seen, accepted)
SELECT sig_sha, %(project)s, 1, %(seen_on)s, %(seen_on)s, %(operation)s = 'accept' FROM added ORDER BY sig_sha
ON CONFLICT (sig_sha, project) DO UPDATE
SET times = c.times + 1, last_seen = greatest(c.last_seen, excluded.last_seen),
    first_seen = least(c.first_seen, excluded.first_seen), accepted = c.accepted OR excluded.accepted

-- name: linked
-- The signatures that point at a node.
SELECT sig_sha, tool, rule FROM signature_link JOIN failure_signature USING (sig_sha)
WHERE node_sha = %(sha)s ORDER BY sig_sha

-- name: known
-- The nodes that signatures point at, but for those to which signatures of the current version point; and since when.
WITH found AS MATERIALIZED (
    SELECT f.algo, l.sig_sha, n.sha
    FROM failure_signature f JOIN signature_link l USING (sig_sha) JOIN memory_node n ON n.sha = l.node_sha
    WHERE l.sig_sha = ANY(%(sig_shas)s) AND n.visibility = 'global'
      AND (%(seen)s::text[] IS NULL OR n.project = ANY(%(seen)s))
), hit AS (
    SELECT sig_sha, sha FROM found
    WHERE algo = %(algo)s OR NOT EXISTS (
        SELECT FROM signature_link l JOIN failure_signature f USING (sig_sha)
        WHERE l.node_sha = sha AND f.algo = %(algo)s
    )
), since AS (
    SELECT sig_sha, min(first_seen) AS first_seen FROM occurrence_count
    WHERE sig_sha = ANY(%(sig_shas)s) AND (%(counted)s::text[] IS NULL OR project = ANY(%(counted)s))
    GROUP BY sig_sha HAVING bool_or(accepted)
)
SELECT sig_sha, sha, first_seen FROM hit FULL JOIN since USING (sig_sha) ORDER BY sig_sha, sha

-- name: coarse
-- The nodes that signatures with these coarse keys point at, under the same condition.
WITH found AS MATERIALIZED (
    SELECT f.algo, f.sig_coarse, n.sha
    FROM failure_signature f JOIN signature_link l USING (sig_sha) JOIN memory_node n ON n.sha = l.node_sha
    WHERE f.sig_coarse = ANY(%(sig_coarse)s) AND n.visibility = 'global'
      AND (%(seen)s::text[] IS NULL OR n.project = ANY(%(seen)s))
)
SELECT DISTINCT sig_coarse, sha FROM found
WHERE algo = %(algo)s OR NOT EXISTS (
    SELECT FROM signature_link l JOIN failure_signature f USING (sig_sha) WHERE l.node_sha = sha AND f.algo = %(algo)s
)
ORDER BY sig_coarse, sha LIMIT %(limit)s

-- name: seen
-- How often signatures were seen within a reach, and when last.
SELECT sig_sha, sum(times)::bigint, max(last_seen) FROM occurrence_count
WHERE sig_sha = ANY(%(sig_shas)s) AND (%(counted)s::text[] IS NULL OR project = ANY(%(counted)s))
GROUP BY sig_sha
