-- What tells the failures that no memory explains: since when each is seen, which sightings are recent, and which
-- signatures are of another version of the key algorithm.

-- A worker of the release before, which may run for a while yet, counts today's sightings without naming the day.
ALTER TABLE occurrence_count ADD COLUMN first_seen date NOT NULL DEFAULT ((now() AT TIME ZONE 'UTC')::date);
UPDATE occurrence_count c SET first_seen = o.first_seen
FROM (SELECT sig_sha, project, min(seen_on) AS first_seen FROM occurrence GROUP BY sig_sha, project) AS o
WHERE o.sig_sha = c.sig_sha AND o.project = c.project;

CREATE INDEX occurrence_seen_on ON occurrence (seen_on);
CREATE INDEX failure_signature_algo ON failure_signature (algo);
