-- A section of reference is found by its passages: several vectors of one node, of which the best counts.

ALTER TABLE memory_node ADD COLUMN passages text[] COLLATE "C";
COMMENT ON COLUMN memory_node.passages IS 'What is embedded of a section of reference, part by part; null: the text itself.';

ALTER TABLE memory_vector ADD COLUMN part smallint NOT NULL DEFAULT 0;
COMMENT ON COLUMN memory_vector.part IS 'Which passage of the node it is of; 0 where there is one vector alone.';
ALTER TABLE memory_vector DROP CONSTRAINT memory_vector_pkey;
ALTER TABLE memory_vector ADD PRIMARY KEY (node_sha, kind, part);
