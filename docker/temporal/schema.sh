#!/bin/sh
# Temporal's tables at the version of these tools; does nothing where they are. The databases are there already. Server,
# port, user and plugin stand in the environment (SQL_HOST and so on).
set -eu

SQL_PASSWORD=$(cat /run/secrets/temporal_database_password)
export SQL_PASSWORD
versions=/etc/temporal/schema/postgresql/v12

temporal-sql-tool --db temporal setup-schema -v 0.0
temporal-sql-tool --db temporal update-schema -d "$versions/temporal/versioned"
temporal-sql-tool --db temporal_visibility setup-schema -v 0.0
temporal-sql-tool --db temporal_visibility update-schema -d "$versions/visibility/versioned"
