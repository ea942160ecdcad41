-- What each document of the reference corpus consists of, and chunks that were replaced or removed.

ALTER TABLE memory_node ADD COLUMN removed boolean NOT NULL DEFAULT false;
COMMENT ON COLUMN memory_node.removed IS 'A chunk of reference that no document has any more: nothing finds it, and its sha still opens it.';

CREATE TABLE reference_document (
    project text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    revision integer NOT NULL,
    origin text COLLATE "C" NOT NULL,
    shas text[] COLLATE "C" NOT NULL,
    updated_on date NOT NULL,
    PRIMARY KEY (project, source)
);
COMMENT ON COLUMN reference_document.revision IS 'How often the document was added, changed or removed.';
COMMENT ON COLUMN reference_document.origin IS 'Tells two places apart from which documents of one name come; empty where none is known.';
COMMENT ON COLUMN reference_document.shas IS 'The chunks in order of their shas; none where the document was removed.';

-- Records of earlier versions add to a document, and replace nothing.
INSERT INTO reference_document (project, source, revision, origin, shas, updated_on)
SELECT added.project, added.source, count(DISTINCT added.seq), '', array_agg(DISTINCT n.sha ORDER BY n.sha), max(added.day)
FROM (
    SELECT seq, body::jsonb #>> '{data,source}' AS source, (body::jsonb ->> 'time')::timestamptz AT TIME ZONE 'UTC' AS day,
           node ->> 'project' AS project, node ->> 'source' AS node_source, node ->> 'text' AS text, node ->> 'level' AS level
    FROM journal, jsonb_array_elements(body::jsonb #> '{data,nodes}') AS node
    WHERE kind = 'reference'
) AS added
JOIN memory_node n ON n.level = added.level AND n.project = added.project AND n.text = added.text
    AND n.source IS NOT DISTINCT FROM added.node_source
GROUP BY added.project, added.source;
