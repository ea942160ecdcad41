-- The append-only journal, its head, and the embeddings that it names by digest.

CREATE TABLE journal (
    seq bigint PRIMARY KEY CHECK (seq > 0),
    sha text COLLATE "C" NOT NULL,
    previous text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL UNIQUE,
    kind text COLLATE "C" NOT NULL,
    body text NOT NULL
);
COMMENT ON COLUMN journal.body IS 'The canonical JSON exactly as hashed; jsonb would not keep its bytes.';

CREATE TABLE journal_head (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    length bigint NOT NULL,
    sha text COLLATE "C" NOT NULL
);
INSERT INTO journal_head (length, sha) VALUES (0, repeat('0', 64));

CREATE FUNCTION refuse_journal_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'the journal is append-only: % is refused', TG_OP USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER journal_is_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON journal
    FOR EACH STATEMENT EXECUTE FUNCTION refuse_journal_change();
-- ALWAYS: a session in replica mode is refused too.
ALTER TABLE journal ENABLE ALWAYS TRIGGER journal_is_append_only;

CREATE TABLE embedding (
    model_id text COLLATE "C" NOT NULL,
    text_sha text COLLATE "C" NOT NULL,
    embedding bytea NOT NULL,
    PRIMARY KEY (model_id, text_sha)
);
COMMENT ON COLUMN embedding.embedding IS 'float32, little-endian';
