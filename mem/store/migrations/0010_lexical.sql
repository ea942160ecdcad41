-- The terms of each node for a search by words, how many nodes hold each, and how many and how long they are in all.
-- Existing nodes are filled in by `mem migrate`, page by page.

CREATE TABLE lexical_entry (
    node_sha text COLLATE "C" PRIMARY KEY REFERENCES memory_node,
    project text COLLATE "C" NOT NULL,
    level text NOT NULL,
    visibility text NOT NULL,
    owner text COLLATE "C",
    container text COLLATE "C",
    source text COLLATE "C",
    turn integer,
    length integer NOT NULL,
    times jsonb NOT NULL,
    terms_by text COLLATE "C" NOT NULL
);
COMMENT ON COLUMN lexical_entry.source IS 'Where evidence comes from, and the document of a chunk, which is its source before "#".';
COMMENT ON COLUMN lexical_entry.times IS 'How often the text holds each of its terms. In an array a term is searched for from the first one on, here by halves.';
COMMENT ON COLUMN lexical_entry.terms_by IS 'The digest of the rules by which they were made.';
-- One for each group of levels that is searched together; without a list of pending rows, which every search would read.
CREATE INDEX lexical_entry_lesson ON lexical_entry USING gin (project, times) WITH (fastupdate = off)
    WHERE level IN ('L1', 'L2');
CREATE INDEX lexical_entry_evidence ON lexical_entry USING gin (project, times) WITH (fastupdate = off)
    WHERE level = 'L0';
CREATE INDEX lexical_entry_reference ON lexical_entry USING gin (project, times) WITH (fastupdate = off)
    WHERE level = 'R';
CREATE INDEX lexical_entry_turn ON lexical_entry (project, source, turn) WHERE level = 'L0';

-- Both count what is for everybody alone, since nothing else is searched.
CREATE TABLE lexical_frequency (
    term text COLLATE "C" NOT NULL,
    level_group text NOT NULL,
    project text COLLATE "C" NOT NULL,
    nodes bigint NOT NULL,
    PRIMARY KEY (term, level_group, project)
) WITH (fillfactor = 80);

CREATE TABLE lexical_total (
    level_group text NOT NULL,
    project text COLLATE "C" NOT NULL,
    document text COLLATE "C" NOT NULL,
    nodes bigint NOT NULL,
    length bigint NOT NULL,
    PRIMARY KEY (level_group, project, document)
);
COMMENT ON COLUMN lexical_total.document IS 'The document of chunks of reference; empty for all else.';
