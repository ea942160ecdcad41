#!/bin/sh
# The server takes its password from the environment alone; so it stands there for this process, and in no configuration.
set -eu

POSTGRES_PWD=$(cat /run/secrets/temporal_database_password)
export POSTGRES_PWD

exec /etc/temporal/entrypoint.sh
