-- Nodes, edges, symptom projections and vectors.

CREATE TABLE memory_node (
    sha text COLLATE "C" PRIMARY KEY,
    level text NOT NULL CHECK (level IN ('L0', 'L1', 'L2', 'R')),
    project text COLLATE "C" NOT NULL,
    text text NOT NULL,
    visibility text NOT NULL CHECK (visibility IN ('global', 'user', 'container')),
    owner text COLLATE "C",
    container text COLLATE "C",
    source text COLLATE "C",
    turn integer,
    superseded_by text COLLATE "C" REFERENCES memory_node,
    plain_sha text COLLATE "C" NOT NULL,
    projected text NOT NULL DEFAULT ''
);
COMMENT ON COLUMN memory_node.plain_sha IS 'The sha256 of the text without case and with single spaces: equal for duplicates.';
COMMENT ON COLUMN memory_node.projected IS 'The text of the symptom projection, repeated here for the trigram index.';
CREATE INDEX memory_node_plain ON memory_node (plain_sha) WHERE superseded_by IS NULL AND level IN ('L1', 'L2');
-- Evidence stays out: it is long, and no lexical search asks for it.
CREATE INDEX memory_node_trigrams ON memory_node USING gin ((text || E'\n' || projected) gin_trgm_ops)
    WHERE level IN ('L1', 'L2', 'R');

CREATE TABLE memory_edge (
    child_sha text COLLATE "C" NOT NULL REFERENCES memory_node,
    parent_sha text COLLATE "C" NOT NULL REFERENCES memory_node,
    PRIMARY KEY (child_sha, parent_sha)
);
CREATE INDEX memory_edge_parent ON memory_edge (parent_sha);

CREATE TABLE symptom_projection (
    node_sha text COLLATE "C" PRIMARY KEY REFERENCES memory_node,
    text text NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    prompt_sha text COLLATE "C" NOT NULL
);

CREATE TABLE embedding_index (
    model_id text COLLATE "C" PRIMARY KEY,
    dimensions integer NOT NULL CHECK (dimensions > 0),
    active boolean NOT NULL
);
CREATE UNIQUE INDEX embedding_index_active ON embedding_index (active) WHERE active;

-- The dimension of the column is set, and the HNSW indexes are made, with the first model.
CREATE TABLE memory_vector (
    node_sha text COLLATE "C" NOT NULL REFERENCES memory_node,
    kind text NOT NULL CHECK (kind IN ('text', 'symptom')),
    project text COLLATE "C" NOT NULL,
    level text NOT NULL,
    visibility text NOT NULL,
    owner text COLLATE "C",
    container text COLLATE "C",
    live boolean NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (node_sha, kind)
);
CREATE INDEX memory_vector_scope ON memory_vector (kind, level, project);

CREATE TABLE vector_count (
    project text COLLATE "C" NOT NULL,
    kind text NOT NULL,
    level_group text NOT NULL,
    live bigint NOT NULL,
    PRIMARY KEY (project, kind, level_group)
);

CREATE FUNCTION level_group(level text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
    RETURN CASE WHEN level IN ('L1', 'L2') THEN 'lesson' ELSE level END;

CREATE FUNCTION count_vectors() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF TG_OP = 'TRUNCATE' THEN
        DELETE FROM mem.vector_count;
        RETURN NULL;
    END IF;
    -- Only the transition tables of the event exist, so each event has its own statement. Sorted: no deadlock.
    IF TG_OP = 'INSERT' THEN
        INSERT INTO mem.vector_count AS c
        SELECT project, kind, mem.level_group(level), count(*) FROM added WHERE live GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (project, kind, level_group) DO UPDATE SET live = c.live + excluded.live;
    ELSIF TG_OP = 'DELETE' THEN
        INSERT INTO mem.vector_count AS c
        SELECT project, kind, mem.level_group(level), -count(*) FROM removed WHERE live GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
        ON CONFLICT (project, kind, level_group) DO UPDATE SET live = c.live + excluded.live;
    ELSE
        INSERT INTO mem.vector_count AS c
        SELECT project, kind, mem.level_group(level), sum(change)
        FROM (SELECT project, kind, level, 1 AS change FROM added WHERE live
              UNION ALL SELECT project, kind, level, -1 FROM removed WHERE live) AS changes
        GROUP BY 1, 2, 3 HAVING sum(change) <> 0 ORDER BY 1, 2, 3
        ON CONFLICT (project, kind, level_group) DO UPDATE SET live = c.live + excluded.live;
    END IF;
    RETURN NULL;
END
$$;
CREATE TRIGGER count_added AFTER INSERT ON memory_vector REFERENCING NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_vectors();
CREATE TRIGGER count_changed AFTER UPDATE ON memory_vector REFERENCING OLD TABLE AS removed NEW TABLE AS added
    FOR EACH STATEMENT EXECUTE FUNCTION count_vectors();
CREATE TRIGGER count_removed AFTER DELETE ON memory_vector REFERENCING OLD TABLE AS removed
    FOR EACH STATEMENT EXECUTE FUNCTION count_vectors();
CREATE TRIGGER count_emptied AFTER TRUNCATE ON memory_vector
    FOR EACH STATEMENT EXECUTE FUNCTION count_vectors();
