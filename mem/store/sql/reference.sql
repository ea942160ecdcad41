-- name: held
-- Documents as they stand, removed ones included.
SELECT project, source, shas, revision FROM reference_document
WHERE (project, source) IN (SELECT * FROM unnest(%(projects)s::text[], %(sources)s::text[]))

-- name: documents
-- The documents that have chunks: of one project or all, below one name or all.
SELECT project, source, shas, origin, updated_on FROM reference_document
WHERE shas <> '{}' AND (%(project)s::text IS NULL OR project = %(project)s)
  AND (%(within)s::text IS NULL OR source = %(within)s OR starts_with(source, %(within)s || '/'))
ORDER BY project, source

-- name: put
-- Add chunks to a document and take others away, by its next revision.
INSERT INTO reference_document AS d (project, source, revision, origin, shas, updated_on)
VALUES (%(project)s, %(source)s, 1, %(origin)s, ARRAY(SELECT unnest(%(added)s::text[]) COLLATE "C" AS sha ORDER BY sha),
        %(updated_on)s)
ON CONFLICT (project, source) DO UPDATE
SET revision = d.revision + 1, origin = excluded.origin, updated_on = excluded.updated_on,
    shas = ARRAY(SELECT sha FROM (
        (SELECT unnest(d.shas) AS sha UNION SELECT unnest(excluded.shas)) EXCEPT SELECT unnest(%(removed)s::text[])
    ) AS kept ORDER BY sha COLLATE "C")

-- name: remove
-- Mark chunks that no document has any more.
UPDATE memory_node SET removed = true WHERE sha = ANY(%(shas)s) AND NOT removed

-- name: restore
-- Take the mark from chunks that a document has again.
UPDATE memory_node SET removed = false WHERE sha = ANY(%(shas)s) AND removed

-- name: delete_vectors
-- Take out the vectors of removed chunks, which also lowers the counts.
DELETE FROM memory_vector WHERE node_sha = ANY(%(shas)s)
