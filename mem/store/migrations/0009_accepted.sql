-- Whether an acceptance is among the sightings. Since when a failure is known is told only then, since an answer must not
-- change by being given: a lookup of what no one had seen before would be the first sighting that the next one tells.
ALTER TABLE occurrence_count ADD COLUMN accepted boolean NOT NULL DEFAULT false;
UPDATE occurrence_count c SET accepted = true
FROM (SELECT DISTINCT sig_sha, project FROM occurrence WHERE operation = 'accept') AS o
WHERE o.sig_sha = c.sig_sha AND o.project = c.project;
