"""Connection strings, and what counts as a blip."""

from __future__ import annotations

import socket

import psycopg
import pytest
from psycopg_pool import PoolTimeout

from mem.domain.errors import ConfigurationError, Unavailable
from mem.store.migrate import migrate
from mem.store.pool import address, is_blip, open_pool


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("postgresql://u:secret@db.example:6432/mem", "db.example:6432"),
        ("postgresql://db.example/mem", "db.example:5432"),
        ("host=db.example port=1 password=secret", "db.example:1"),
        ("dbname=mem", "the local socket:5432"),
    ],
)
def test_address(url, expected):
    """A database is named by host and port."""
    assert address(url) == expected


@pytest.mark.parametrize("url", ["postgresql://u:secret@h:1/db?nonsense=secret", "secret", "mysql://u:secret@h/db"])
def test_no_connection_string(url):
    """What is no connection string is refused without being quoted, since a password may be in it."""
    with pytest.raises(ConfigurationError) as caught:
        address(url)
    assert "secret" not in str(caught.value)
    assert caught.value.__cause__ is None


@pytest.mark.parametrize("call", [open_pool, migrate])
async def test_no_server(call):
    """A database that does not answer is named by host and port, with what to do, and never its password."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    with pytest.raises(Unavailable, match=f"127.0.0.1:{port} does not answer") as caught:
        await call(f"postgresql://u:s3cret@127.0.0.1:{port}/mem")
    assert "s3cret" not in str(caught.value)
    assert "MEM_DATABASE_URL" in caught.value.remedy


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.SerializationFailure(),
        psycopg.errors.DeadlockDetected(),
        psycopg.errors.AdminShutdown(),
        psycopg.errors.CannotConnectNow(),
        psycopg.errors.ConnectionFailure(),
        psycopg.OperationalError("the connection is lost"),
    ],
)
def test_blips(error):
    """Errors that are likely gone within a second are worth another try."""
    assert is_blip(error)


@pytest.mark.parametrize(
    "error",
    [
        psycopg.errors.UniqueViolation(),
        psycopg.errors.QueryCanceled(),
        psycopg.errors.DiskFull(),
        psycopg.InterfaceError(),
        PoolTimeout(),
        ValueError(),
    ],
)
def test_no_blips(error):
    """Other errors are not."""
    assert not is_blip(error)
