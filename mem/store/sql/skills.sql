-- name: current
-- A skill as it stands.
SELECT description, body, model_id, removed, revision FROM skill WHERE project = %(project)s AND name = %(name)s

-- name: put
-- Add a skill, or replace it by its next revision.
INSERT INTO skill (project, name, description, body, revision, model_id, embedding)
VALUES (%(project)s, %(name)s, %(description)s, %(body)s, %(revision)s, %(model_id)s, %(embedding)s)
ON CONFLICT (project, name) DO UPDATE
SET description = excluded.description, body = excluded.body, revision = excluded.revision,
    model_id = excluded.model_id, embedding = excluded.embedding, removed = false

-- name: remove
-- Take a skill out, by its next revision.
UPDATE skill SET removed = true, revision = %(revision)s WHERE project = %(project)s AND name = %(name)s

-- name: listed
-- The skills that a project sees, or all of them; the name of what is shared comes before that of any project.
SELECT name, description, body, project, revision FROM skill
WHERE NOT removed AND (%(project)s::text IS NULL OR project IN (%(project)s, '*'))
ORDER BY project, name

-- name: nearest
-- The skills nearest to a vector, by a scan; those of another dimension belong to another model.
SELECT name, description, body, project, 1 - (embedding <=> %(vector)s) FROM skill
WHERE NOT removed AND vector_dims(embedding) = %(dimensions)s AND (%(seen)s::text[] IS NULL OR project = ANY(%(seen)s))
ORDER BY embedding <=> %(vector)s, name, project LIMIT %(limit)s
