"""The SQL files and the numbered migrations."""

from __future__ import annotations

import re
from pathlib import Path

import mem.store
from mem.store.migrate import migrations
from mem.store.queries import sql

STORE = Path(mem.store.__file__).parent
_FILES = sorted((STORE / "sql").glob("*.sql"))
_NAMES = [
    f"{path.stem}.{name}" for path in _FILES for name in re.findall(r"(?m)^-- name: (\w+)", path.read_text("utf-8"))
]


def test_every_statement_is_described():
    """Each named statement has its description on the next line, and a text."""
    for path in _FILES:
        for block in path.read_text(encoding="utf-8").split("-- name: ")[1:]:
            _, about, statement = block.split("\n", 2)
            assert about.startswith("-- "), block
            assert statement.strip(), block


def test_every_statement_is_found_and_used():
    """Each statement loads under its name, none twice, and some module asks for it."""
    code = "".join(path.read_text(encoding="utf-8") for path in STORE.glob("*.py"))
    assert len(_NAMES) == len(set(_NAMES))
    for name in _NAMES:
        assert sql(name)
        assert f'"{name}"' in code, name


def test_migrations_are_numbered_without_gaps():
    """Migrations count from 1 without gaps."""
    assert [migration.version for migration in migrations()] == list(range(1, len(migrations()) + 1))
