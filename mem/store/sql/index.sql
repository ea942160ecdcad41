-- name: active
-- The model whose vectors are searched, and their dimension.
SELECT model_id, dimensions FROM embedding_index WHERE active

-- name: activate
-- Make a model the active one.
INSERT INTO embedding_index (model_id, dimensions, active) VALUES (%(model_id)s, %(dimensions)s, true)

-- name: set_dimensions
-- Fix the dimension of the vector column, as an HNSW index needs it.
ALTER TABLE memory_vector ALTER COLUMN embedding TYPE halfvec({dimensions})

-- name: create_hnsw
-- A partial HNSW index over one kind of one group of levels, of what is for everybody.
CREATE INDEX {name} ON memory_vector USING hnsw (embedding halfvec_cosine_ops)
WHERE kind = {kind} AND level IN ({levels}) AND visibility = 'global'
