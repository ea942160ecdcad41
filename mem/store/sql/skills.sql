-- name: current
-- A skill as it stands.
SELECT description, body, model_id, revision FROM skill WHERE project = %(project)s AND name = %(name)s

-- name: put
-- Add a skill, or replace it by its next revision.
INSERT INTO skill (project, name, description, body, revision, model_id, embedding)
VALUES (%(project)s, %(name)s, %(description)s, %(body)s, %(revision)s, %(model_id)s, %(embedding)s)
ON CONFLICT (project, name) DO UPDATE
SET description = excluded.description, body = excluded.body, revision = excluded.revision,
    model_id = excluded.model_id, embedding = excluded.embedding

-- name: nearest
-- The skills nearest to a vector, by a scan; those of another dimension belong to another model.
SELECT name, description, body, project, 1 - (embedding <=> %(vector)s) FROM skill
WHERE vector_dims(embedding) = %(dimensions)s AND (%(federated)s OR project IN (%(project)s, '*'))
ORDER BY embedding <=> %(vector)s, name, project LIMIT %(limit)s
