"""Brings a database to the schema of this version, one numbered migration after the other."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files
from typing import LiteralString, NamedTuple

import psycopg

from mem.domain.canonical import sha256_hex
from mem.domain.errors import ConfigurationError
from mem.store.pool import Connection, address, connect
from mem.store.queries import sql

OLDEST_PGVECTOR = (0, 8, 4)
"""Versions before it can corrupt an HNSW index during vacuum."""


class Migration(NamedTuple):
    """One numbered file of `migrations/`."""

    version: int
    name: str
    script: LiteralString

    @property
    def sha(self) -> str:
        """The digest by which a changed file is noticed."""
        return sha256_hex(self.script)


def migrations() -> list[Migration]:
    """The migrations of this version, in order."""
    found = [path for path in files("mem.store").joinpath("migrations").iterdir() if path.name.endswith(".sql")]
    return [
        Migration(int(path.name[:4]), path.name, path.read_text(encoding="utf-8"))
        for path in sorted(found, key=lambda path: path.name)
    ]


async def migrate(url: str) -> list[str]:
    """Apply what is missing, each migration in a transaction of its own; returns their names.

    Raises:
        ConfigurationError: pgvector is missing or too old, an applied migration has changed, or a newer version of
            this program migrated the database.
        Unavailable: the database does not answer.
    """
    async with await connect(url) as connection:
        await connection.execute(sql("migrate.lock"))
        await _prepare(connection, url)
        missing = _missing(migrations(), await _applied(connection))
        for migration in missing:
            await _apply(connection, migration)
    return [migration.name for migration in missing]


async def _prepare(connection: Connection, url: str) -> None:
    try:
        await connection.execute(sql("migrate.prepare"))
    except (psycopg.errors.FeatureNotSupported, psycopg.errors.UndefinedFile) as error:
        raise ConfigurationError(
            f"Postgres at {address(url)} lacks an extension: {str(error).splitlines()[0]}.",
            "Install pgvector and the contrib package that has pg_trgm and btree_gin.",
        ) from error
    except psycopg.errors.InsufficientPrivilege as error:
        raise ConfigurationError(
            f"The user may not prepare the database at {address(url)}: {str(error).splitlines()[0]}.",
            "Have its owner run `mem migrate`, or create the extensions vector, pg_trgm and btree_gin.",
        ) from error
    row = await (await connection.execute(sql("migrate.pgvector"))).fetchone()
    check_pgvector(row[0] if row else "0")


def check_pgvector(version: str) -> None:
    """Refuse a pgvector that can corrupt its indexes.

    Raises:
        ConfigurationError: the version is too old.
    """
    if tuple(int(part) for part in version.split(".")[:3]) < OLDEST_PGVECTOR:
        oldest = ".".join(str(part) for part in OLDEST_PGVECTOR)
        raise ConfigurationError(
            f"pgvector {version} is too old; {oldest} or newer is needed.",
            "Install it and run ALTER EXTENSION vector UPDATE.",
        )


async def _applied(connection: Connection) -> dict[int, tuple[str, str]]:
    rows = await (await connection.execute(sql("migrate.applied"))).fetchall()
    return {version: (name, sha) for version, name, sha in rows}


def _missing(known: list[Migration], applied: Mapping[int, tuple[str, str]]) -> list[Migration]:
    if unknown := set(applied) - {migration.version for migration in known}:
        raise ConfigurationError(
            f"The database has migration {max(unknown)}, which this version does not know.", "Install a newer mem."
        )
    for migration in known:
        if migration.version in applied and applied[migration.version][1] != migration.sha:
            raise ConfigurationError(
                f"Migration {migration.name} was applied in another form.",
                "Restore the file as it was, and put the change into a new migration.",
            )
    return [migration for migration in known if migration.version not in applied]


async def _apply(connection: Connection, migration: Migration) -> None:
    async with connection.transaction():
        await connection.execute(sql("migrate.search_path"))
        await connection.execute(migration.script)
        await connection.execute(
            sql("migrate.record"), {"version": migration.version, "name": migration.name, "sha": migration.sha}
        )
