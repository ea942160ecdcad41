-- What a turn reads comes from indexes in the order in which it is read, so that no more of it is read than is wanted.

DROP INDEX lexical_entry_common;
CREATE INDEX lexical_entry_common ON lexical_entry (project, node_sha) WHERE visibility = 'global' AND level IN ('L1', 'L2');
DROP INDEX failure_signature_tool;
CREATE INDEX failure_signature_tool ON failure_signature (tool, sig_sha);
-- Few are superseded: whether one is takes next to nothing.
CREATE INDEX memory_node_gone ON memory_node (sha) WHERE superseded_by IS NOT NULL;
