-- name: shas
-- The shas of a stretch of the journal.
SELECT seq, sha FROM journal WHERE seq = ANY(%(seqs)s)

-- name: insert
-- Add a record as it stands in an export.
INSERT INTO journal (seq, sha, previous, key, kind, body)
VALUES (%(seq)s, %(sha)s, %(previous)s, %(key)s, %(kind)s, %(body)s)

-- name: insert_embedding
-- Add an embedding as it stands in an export, in the place of one that no record names.
INSERT INTO embedding (model_id, text_sha, embedding) VALUES (%(model_id)s, %(text_sha)s, %(embedding)s)
ON CONFLICT (model_id, text_sha) DO UPDATE SET embedding = excluded.embedding

-- name: move_head
-- The last record that is there.
UPDATE journal_head SET length = %(seq)s, sha = %(sha)s
