-- name: find
-- The recorded embeddings of these texts under a model.
SELECT text_sha, embedding FROM embedding WHERE model_id = %(model_id)s AND text_sha = ANY(%(text_shas)s)

-- name: insert
-- Record embeddings; one that is there stays.
INSERT INTO embedding (model_id, text_sha, embedding)
SELECT %(model_id)s, text_sha, embedding
FROM unnest(%(text_shas)s::text[], %(embeddings)s::bytea[]) AS new (text_sha, embedding)
ORDER BY text_sha
ON CONFLICT DO NOTHING
