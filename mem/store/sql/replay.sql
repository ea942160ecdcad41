-- name: show_projections
-- Repeat the projections of nodes in the nodes, for the trigram index.
UPDATE memory_node n SET projected = p.text FROM symptom_projection p
WHERE p.node_sha = n.sha AND n.sha = ANY(%(shas)s) AND n.projected <> p.text

-- name: want_texts
-- Note by which text the vectors of nodes are found; the notes that are new.
INSERT INTO replay_wanted (node_sha, kind, part, text_sha)
SELECT n.sha, 'text', p.part - 1, encode(sha256(convert_to(p.text, 'UTF8')), 'hex')
FROM memory_node n, unnest(coalesce(n.passages, ARRAY[n.text])) WITH ORDINALITY AS p (text, part)
WHERE n.sha = ANY(%(shas)s) AND NOT n.removed
ON CONFLICT DO NOTHING
RETURNING text_sha

-- name: want_symptoms
-- Note by which text the symptom vectors of nodes are found; the notes that are new.
INSERT INTO replay_wanted AS w (node_sha, kind, part, text_sha)
SELECT node_sha, 'symptom', 0, encode(sha256(convert_to(text, 'UTF8')), 'hex') FROM symptom_projection
WHERE node_sha = ANY(%(shas)s) AND text <> ''
ON CONFLICT (node_sha, kind, part) DO UPDATE SET text_sha = excluded.text_sha WHERE w.text_sha <> excluded.text_sha
RETURNING text_sha

-- name: forget_symptoms
-- Take back the notes of projections that were replaced.
DELETE FROM replay_wanted WHERE node_sha = ANY(%(shas)s) AND kind = 'symptom'

-- name: forget_texts
-- Take back the notes of chunks that were removed.
DELETE FROM replay_wanted WHERE node_sha = ANY(%(shas)s)

-- name: embedded
-- Note texts whose embeddings were passed in the journal, and found to be those that it names.
INSERT INTO replay_embedded (text_sha) SELECT unnest(%(text_shas)s::text[]) ON CONFLICT DO NOTHING

-- name: wanted
-- The embeddings of texts that were passed, for each node that has no vector of them yet.
SELECT w.kind, w.node_sha, w.part, e.embedding
FROM replay_wanted w JOIN replay_embedded USING (text_sha)
JOIN embedding e ON e.model_id = %(model_id)s AND e.text_sha = w.text_sha
WHERE w.text_sha = ANY(%(text_shas)s)
  AND NOT EXISTS (
    SELECT FROM memory_vector v WHERE v.node_sha = w.node_sha AND v.kind = w.kind AND v.part = w.part
  )
ORDER BY w.kind, w.node_sha, w.part

-- name: forget_counts
-- Take back the counts of vectors.
DELETE FROM vector_count

-- name: count_vectors
-- Count the live vectors that are for everybody, as the triggers of the live table do with each change.
INSERT INTO vector_count (project, kind, level_group, live)
SELECT project, kind, level_group(level), count(*) FROM memory_vector
WHERE live AND visibility = 'global' GROUP BY 1, 2, 3

-- name: position
-- How far the replay is, locked against another attempt at it.
SELECT run, shape, seq, sha FROM replay_state FOR UPDATE

-- name: advance
-- Move on, in the transaction that did what lies between.
UPDATE replay_state SET seq = %(seq)s, sha = %(sha)s
