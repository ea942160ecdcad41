-- What is read for a user: the own memories through indexes by owner, those of others as far as they are for everybody.

-- Nothing ever wrote the table of this name before.
DROP TABLE user_snapshot;
CREATE TABLE user_snapshot (
    node_sha text COLLATE "C" PRIMARY KEY REFERENCES memory_node,
    owner text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    visibility text NOT NULL,
    container text COLLATE "C",
    seq bigint NOT NULL,
    line text NOT NULL,
    line_by integer NOT NULL
);
COMMENT ON TABLE user_snapshot IS 'The live lessons of each user, a line for each. Existing ones are filled in by `mem migrate`.';
COMMENT ON COLUMN user_snapshot.seq IS 'The record of the journal that appended the lesson.';
COMMENT ON COLUMN user_snapshot.line_by IS 'The version of the rules by which the line was made.';
CREATE INDEX user_snapshot_newest ON user_snapshot (owner, seq DESC);

CREATE INDEX memory_node_owner ON memory_node (owner, container) WHERE owner IS NOT NULL AND level IN ('L1', 'L2');
CREATE INDEX memory_vector_owner ON memory_vector (owner, kind) WHERE owner IS NOT NULL AND level IN ('L1', 'L2');
CREATE INDEX lexical_entry_owner ON lexical_entry (owner) WHERE owner IS NOT NULL AND level IN ('L1', 'L2');
CREATE INDEX lexical_entry_common ON lexical_entry (node_sha) INCLUDE (project)
    WHERE visibility = 'global' AND level IN ('L1', 'L2');

-- Private memories are scanned by owner. In the way of all other searches they would cost time, and by the approximate
-- index hits: so that holds none of them, nor does the count by which a search chooses between the two ways.
DROP INDEX memory_vector_scope;
CREATE INDEX memory_vector_scope ON memory_vector (kind, level, project) WHERE visibility = 'global';

SET LOCAL maintenance_work_mem = '256MB';
DO $$
DECLARE
    found record;
BEGIN
    FOR found IN
        SELECT indexname, indexdef FROM pg_indexes WHERE schemaname = 'mem' AND indexdef LIKE '%USING hnsw%'
    LOOP
        EXECUTE format('DROP INDEX mem.%I', found.indexname);
        EXECUTE found.indexdef || ' AND visibility = ''global''';
    END LOOP;
END
$$;

CREATE OR REPLACE FUNCTION count_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM mem.vector_count;
        RETURN NULL;
    END IF;
    -- Only the transition tables of the event exist, so each event has its own statement. Sorted: no deadlock.
    IF TG_OP = 'INSERT' THEN
        INSERT INTO mem.vector_count AS c
        SELECT project, kind, mem.level_group(level), count(*) FROM added
        WHERE live AND visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (project, kind, level_group) DO UPDATE SET live = c.live + excluded.live;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO mem.vector_count AS c
        SELECT project, kind, mem.level_group(level), -count(*) FROM removed
        WHERE live AND visibility = 'global' GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (project, kind, level_group) DO UPDATE SET live = c.live + excluded.live;
    ELSE
        INSERT INTO mem.vector_count AS c
        SELECT project, kind, mem.level_group(level), sum(change)
        FROM (SELECT project, kind, level, 1 AS change FROM added WHERE live AND visibility = 'global'
              UNION ALL SELECT project, kind, level, -1 FROM removed WHERE live AND visibility = 'global') AS changes
        GROUP BY 1, 2, 3 HAVING sum(change) <> 0 ORDER BY 1, 2, 3
        ON CONFLICT (project, kind, level_group) DO UPDATE SET live = c.live + excluded.live;
    END IF;
    RETURN NULL;
END
$$;
DELETE FROM vector_count;
INSERT INTO vector_count (project, kind, level_group, live)
SELECT project, kind, level_group(level), count(*) FROM memory_vector
WHERE live AND visibility = 'global' GROUP BY 1, 2, 3;
