-- What tells of one memory which request brought it and what it supersedes; and skills that were taken out again.

CREATE INDEX journal_appended ON journal ((body::json #>> '{data,sha}') COLLATE "C", seq) WHERE kind = 'appended';
CREATE INDEX memory_node_superseded ON memory_node (superseded_by) WHERE superseded_by IS NOT NULL;

ALTER TABLE skill ADD COLUMN removed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN skill.removed IS 'Taken out: the row stays for the number of its revision, and no read finds it.';
