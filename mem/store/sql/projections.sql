-- name: insert
-- Make a projection the one of its node, unless it has one.
INSERT INTO symptom_projection (node_sha, text, model_id, prompt_sha)
VALUES (%(sha)s, %(text)s, %(model_id)s, %(prompt_sha)s)
ON CONFLICT DO NOTHING

-- name: replace
-- Make a projection the one of its node, whatever it had before.
INSERT INTO symptom_projection (node_sha, text, model_id, prompt_sha)
VALUES (%(sha)s, %(text)s, %(model_id)s, %(prompt_sha)s)
ON CONFLICT (node_sha) DO UPDATE
SET text = excluded.text, model_id = excluded.model_id, prompt_sha = excluded.prompt_sha

-- name: show
-- Repeat the projection in the node, for the trigram index; the node's own text.
UPDATE memory_node SET projected = %(text)s WHERE sha = %(sha)s RETURNING text

-- name: of_node
-- The projection of a node.
SELECT text, model_id, prompt_sha FROM symptom_projection WHERE node_sha = %(sha)s
