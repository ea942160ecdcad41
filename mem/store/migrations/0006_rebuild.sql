-- The last rebuild that took effect, so that a repeated swap finds that it was made.

CREATE TABLE last_rebuild (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    run text NOT NULL,
    seq bigint NOT NULL,
    sha text COLLATE "C" NOT NULL
);

-- What the projector would say today, beside what is recorded: no projection of the journal, nothing reads it but who
-- asked for it.
CREATE TABLE regeneration (
    single boolean PRIMARY KEY DEFAULT true CHECK (single),
    run text NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    prompt_sha text COLLATE "C" NOT NULL,
    applied boolean NOT NULL
);

CREATE TABLE proposal (
    node_sha text COLLATE "C" PRIMARY KEY,
    recorded text,
    proposed text,
    refused text
);
COMMENT ON COLUMN proposal.recorded IS 'JSON of the projection as it was.';
COMMENT ON COLUMN proposal.proposed IS 'JSON of the projection as it would be; null where the model refused, for the reason beside.';
