-- Answered requests, skills, and the snapshots of users.

CREATE TABLE request_ledger (
    operation text COLLATE "C" NOT NULL,
    scope text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    fingerprint text COLLATE "C" NOT NULL,
    response bytea NOT NULL,
    created_at timestamptz NOT NULL,
    expires_at timestamptz NOT NULL,
    PRIMARY KEY (operation, scope, request_id)
);
CREATE INDEX request_ledger_expiry ON request_ledger (expires_at);

CREATE TABLE skill (
    project text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    description text NOT NULL,
    body text NOT NULL,
    revision integer NOT NULL,
    model_id text COLLATE "C" NOT NULL,
    embedding halfvec NOT NULL,
    PRIMARY KEY (project, name)
);

CREATE TABLE user_snapshot (
    user_hash text COLLATE "C" PRIMARY KEY,
    text text NOT NULL,
    updated_seq bigint NOT NULL
);
