#!/bin/bash
# The databases and their owners, made once with the cluster. No role reaches the other's.
set -euo pipefail

make_role() { # name, file of its password
    # psql reads the file and quotes what stands in it, so that no list of processes and no log shows it.
    psql --set ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" --dbname postgres --set name="$1" --set file="$2" <<'SQL'
\set password `cat :file`
SET log_statement = 'none';
CREATE ROLE :"name" LOGIN PASSWORD :'password';
SQL
}

make_database() { # name, owner
    psql --set ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" --dbname postgres --set name="$1" --set owner="$2" <<'SQL'
CREATE DATABASE :"name" OWNER :"owner";
REVOKE ALL ON DATABASE :"name" FROM PUBLIC;
SQL
}

make_role mem "${SECRETS:-/run/secrets}/mem_database_password"
make_role temporal "${SECRETS:-/run/secrets}/temporal_database_password"
make_database mem mem
make_database temporal temporal
make_database temporal_visibility temporal

# The extension vector is trusted in no release that is supported; pg_trgm and btree_gin would be.
psql --set ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" --dbname mem <<'SQL'
CREATE EXTENSION IF NOT EXISTS vector;
SQL
# Temporal's visibility schema wants it, and its owner may not make it.
psql --set ON_ERROR_STOP=1 --quiet --username "$POSTGRES_USER" --dbname temporal_visibility <<'SQL'
CREATE EXTENSION IF NOT EXISTS btree_gin;
SQL
