-- name: current
-- The regeneration whose proposals are kept, locked.
SELECT run, model_id, prompt_sha, applied FROM regeneration FOR UPDATE

-- name: begin
-- Make a run the one whose proposals are kept.
INSERT INTO regeneration (run, model_id, prompt_sha, applied)
VALUES (%(run)s, %(model_id)s, %(prompt_sha)s, false)
ON CONFLICT (single) DO UPDATE
SET run = excluded.run, model_id = excluded.model_id, prompt_sha = excluded.prompt_sha, applied = excluded.applied

-- name: clear
-- Throw away what an earlier run proposed.
DELETE FROM proposal

-- name: made
-- Those of the nodes for which there is a proposal.
SELECT node_sha FROM proposal WHERE node_sha = ANY(%(shas)s)

-- name: insert
-- Keep a proposal; one that is there stays, so that a step that is repeated shows what it showed.
INSERT INTO proposal (node_sha, recorded, proposed, refused)
VALUES (%(sha)s, %(recorded)s, %(proposed)s, %(refused)s)
ON CONFLICT DO NOTHING

-- name: find
-- The proposal for a node.
SELECT recorded, proposed, refused FROM proposal WHERE node_sha = %(sha)s

-- name: page
-- The next proposals behind a sha.
SELECT node_sha, recorded, proposed, refused FROM proposal
WHERE node_sha > %(after)s ORDER BY node_sha LIMIT %(limit)s

-- name: applied
-- Note that all proposals were applied, so that the next run makes new ones.
UPDATE regeneration SET applied = true WHERE run = %(run)s
