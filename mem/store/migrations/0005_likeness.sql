-- What finds a lesson in other words, what lookups gave out, and the verdicts in their order.

ALTER TABLE memory_node ADD COLUMN bands integer[], ADD COLUMN bands_by text COLLATE "C";
COMMENT ON COLUMN memory_node.bands IS 'The MinHash bands of a lesson: two that say the same share one. Null until computed.';
COMMENT ON COLUMN memory_node.bands_by IS 'The digest of the rules by which they were computed.';
CREATE INDEX memory_node_bands ON memory_node USING gin (bands) WHERE level IN ('L1', 'L2');

CREATE TABLE returned_lesson (
    project text COLLATE "C" NOT NULL,
    node_sha text COLLATE "C" NOT NULL REFERENCES memory_node,
    PRIMARY KEY (project, node_sha)
);
COMMENT ON TABLE returned_lesson IS 'The lessons of other projects that lookups returned to a project.';

CREATE INDEX journal_verdicts ON journal (seq) WHERE kind = 'verdict';
