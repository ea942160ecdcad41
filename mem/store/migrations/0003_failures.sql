-- Failure signatures, what they point at, and how often they were seen.

CREATE TABLE failure_signature (
    sig_sha text COLLATE "C" PRIMARY KEY,
    sig_coarse text COLLATE "C" NOT NULL,
    algo integer NOT NULL,
    tool text COLLATE "C" NOT NULL,
    envelope text COLLATE "C",
    rule text COLLATE "C" NOT NULL,
    code text,
    message text NOT NULL,
    excerpt text NOT NULL
);
CREATE INDEX failure_signature_coarse ON failure_signature (sig_coarse);
CREATE INDEX failure_signature_tool ON failure_signature (tool);

CREATE TABLE signature_link (
    sig_sha text COLLATE "C" NOT NULL REFERENCES failure_signature,
    node_sha text COLLATE "C" NOT NULL REFERENCES memory_node,
    PRIMARY KEY (sig_sha, node_sha)
);
CREATE INDEX signature_link_node ON signature_link (node_sha);

CREATE TABLE occurrence (
    project text COLLATE "C" NOT NULL,
    operation text COLLATE "C" NOT NULL,
    request_id text COLLATE "C" NOT NULL,
    sig_sha text COLLATE "C" NOT NULL REFERENCES failure_signature,
    seen_on date NOT NULL,
    PRIMARY KEY (project, operation, request_id, sig_sha)
);

CREATE TABLE occurrence_count (
    sig_sha text COLLATE "C" NOT NULL REFERENCES failure_signature,
    project text COLLATE "C" NOT NULL,
    times bigint NOT NULL,
    last_seen date NOT NULL,
    PRIMARY KEY (sig_sha, project)
);
