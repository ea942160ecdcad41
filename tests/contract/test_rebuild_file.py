"""The file that `mem rebuild --from-log FILE` reads."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from mem.cli.export_file import import_export
from mem.domain.errors import InvalidRequest, JournalCorrupt
from mem.domain.journal import GENESIS, Head
from mem.domain.replaying import Progress
from mem.store.export import export_stored
from tests.contract.parts import postgres_parts
from tests.contract.rebuilding import write_some


@pytest.fixture
async def export(pool) -> str:
    """An export, as a command prints it."""
    await write_some(postgres_parts(pool))
    return "".join([f"{line}\n" async for line in export_stored(pool)])


@pytest.fixture
def empty(postgres_server, postgres_template, monkeypatch):
    """The parts of another database, which is the one that the environment names."""
    url = postgres_server.create("from_a_file", postgres_template)
    monkeypatch.setenv("MEM_DATABASE_URL", url)
    yield url
    postgres_server.execute("DROP DATABASE from_a_file WITH (FORCE)")


async def test_a_file_is_imported(pool, export, empty, tmp_path):
    """The database gets the journal's head, and whoever watches sees it coming."""
    path, watched = tmp_path / "journal.jsonl", list[Progress]()
    path.write_text(export, encoding="utf-8")
    head = await postgres_parts(pool).journal.head()
    assert await import_export(str(path), watched.append) == head
    assert [(at.phase, at.done, at.total) for at in watched] == [
        ("read", 0, None), ("import", 0, head.length), ("import", head.length, head.length),
    ]  # fmt: skip
    assert await import_export(str(path), None) == head


async def test_standard_input_is_read_as_often_as_it_takes(pool, export, empty, monkeypatch):
    """It is kept meanwhile, since it is checked to its end before it is imported."""
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(export.encode())))
    assert await import_export("-", None) == await postgres_parts(pool).journal.head()


async def test_what_is_no_export_is_refused(empty, tmp_path, export):
    """A file that is not there, no text, or of other lines than these, is told apart."""
    with pytest.raises(InvalidRequest, match=r"nowhere cannot be read"):
        await import_export(str(tmp_path / "nowhere"), None)
    path = tmp_path / "file"
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(InvalidRequest, match="not UTF-8"):
        await import_export(str(path), None)
    for text in export[: len(export) // 2], "", "{}\n", export.replace("it failed", "it worked", 1):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(JournalCorrupt):
            await import_export(str(path), None)


async def test_an_empty_journal_has_a_file_too(empty, tmp_path):
    """Its head alone."""
    path = tmp_path / "empty"
    path.write_text(f'{{"head":{{"count":0,"sha":"{GENESIS}"}}}}\n', encoding="utf-8")
    assert await import_export(str(path), None) == Head(0, GENESIS)
