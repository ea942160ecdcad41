"""`mem reference`: what is added from files, folders and standard input, what is listed, and what is removed."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mem.cli import documents
from mem.cli.main import app_for
from mem.testing import FakeEmbedder, FakeMemories, FakeReference, FakeState
from tests.unit.cli.instead import open_ports

app = app_for(())


class Counting(FakeEmbedder):
    """The fake embedder, which counts what it embeds."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    async def embed(self, texts):
        self.texts += texts
        return await super().embed(texts)


class Store:
    """The store of the commands, in memory, and how they are called on it."""

    def __init__(self) -> None:
        self.state = FakeState()
        self.embedder = Counting()
        self.reference = FakeReference(self.state)
        self.memories = FakeMemories(self.state)
        self.state.model = (self.embedder.model_id, self.embedder.dimensions)

    def run(self, *arguments: str | Path, code: int = 0, given: bytes | None = None) -> dict:
        """The document that a command prints."""
        result = CliRunner().invoke(app, ["reference", *map(str, arguments), "--format", "json"], input=given)
        assert result.exit_code == code, result.output
        self.said = result.stderr
        return json.loads(result.stdout)

    def fails(self, *arguments: str | Path, code: int) -> str:
        """The one clear line of an error."""
        result = CliRunner().invoke(app, ["reference", *map(str, arguments)])
        assert (result.exit_code, result.stdout) == (code, ""), result.output
        assert result.stderr.startswith("error: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    def sources(self) -> list[str]:
        """Where the chunks that can be found come from."""
        nodes = self.state.nodes.items()
        return sorted(node.source or "" for sha, node in nodes if sha not in self.state.removed)


@pytest.fixture
def store(monkeypatch) -> Store:
    found = Store()
    open_ports(monkeypatch, reference=found.reference, embedder=found.embedder, memories=found.memories)
    return found


@pytest.fixture
def docs(tmp_path) -> Path:
    """A folder of documents in every format, with much that is none."""
    root = tmp_path / "docs"
    for name, text in {
        "a.md": "# One\n\nfirst\n\n# Two\n\nsecond\n",
        "deep/b.rst": "Third\n=====\n\ntext\n",
        "deep/c#1.html": "<h1 id=x>Fourth</h1>text",
        "d.txt": "plain words\n",
        "empty.md": "",
        "image.png": "no",
        ".git/e.md": "no",
        ".hidden.md": "no",
        "node_modules/f.md": "no",
    }.items():
        file = root / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    (root / "loop").symlink_to(root)
    return root


SOURCES = ["docs/a.md#one", "docs/a.md#two", "docs/d.txt", "docs/deep/b.rst#third", "docs/deep/c%231.html#x"]


def test_a_folder_is_added_once(store, docs):
    """Every format, with paths from the folder; what is hidden, installed, linked or no document stays out."""
    told = store.run("add", docs)
    assert told["documents"] == {"added": 4, "changed": 0, "removed": 0, "unchanged": 0, "skipped": 0}
    assert (told["name"], told["chunks"], told["embedded"]) == ("docs", {"added": 5, "removed": 0, "total": 5}, 5)
    assert store.sources() == SOURCES
    assert "docs/empty.md: holds no text" in store.said
    assert len(store.state.vectors) == 5
    records = len(store.state.records)
    again = store.run("add", docs)
    assert again["documents"] == {"added": 0, "changed": 0, "removed": 0, "unchanged": 4, "skipped": 0}
    assert (len(store.state.records), len(store.embedder.texts)) == (records, 5)


def test_a_folder_is_brought_to_what_it_holds_now(store, docs):
    """Changed documents are replaced, those that vanished or became empty removed; only the new is embedded."""
    store.run("add", docs)
    (docs / "a.md").write_text("# One\n\nfirst\n\n# New\n\nthing\n", encoding="utf-8")
    (docs / "d.txt").unlink()
    (docs / "deep" / "b.rst").write_text("", encoding="utf-8")
    expected = [
        {"change": "changed", "source": "docs/a.md", "added": 1, "removed": 1},
        {"change": "removed", "source": "docs/d.txt", "added": 0, "removed": 1},
        {"change": "removed", "source": "docs/deep/b.rst", "added": 0, "removed": 1},
    ]
    planned = store.run("add", docs, "--dry-run")
    assert (planned["dry_run"], sorted(planned["changes"], key=lambda one: one["source"])) == (True, expected)
    assert store.sources() == SOURCES
    told = store.run("add", docs)
    assert sorted(told["changes"], key=lambda one: one["source"]) == expected
    assert (told["embedded"], told["chunks"]["total"]) == (1, 3)
    assert store.sources() == ["docs/a.md#new", "docs/a.md#one", "docs/deep/c%231.html#x"]


def test_a_file_alone_removes_nothing(store, docs):
    """Only a whole folder tells what is gone; a file can be brought up to date in its collection."""
    store.run("add", docs)
    (docs / "d.txt").write_text("other words", encoding="utf-8")
    told = store.run("add", docs / "d.txt", "--name", "docs")
    assert told["changes"] == [{"change": "changed", "source": "docs/d.txt", "added": 1, "removed": 1}]
    assert store.sources() == SOURCES
    assert store.run("add", docs)["documents"]["unchanged"] == 4
    assert store.run("add", docs / "a.md")["name"] == "a.md"
    assert "a.md#one" in store.sources()


def test_two_folders_of_one_name_do_not_replace_each_other(store, docs, tmp_path):
    """The second one has to be named: for itself, or as the first one."""
    store.run("add", docs)
    other = tmp_path / "other" / "docs"
    other.mkdir(parents=True)
    (other / "a.md").write_text("# Mine\n\ntext\n", encoding="utf-8")
    assert "from another place" in store.fails("add", other, code=2)
    assert store.sources() == SOURCES
    store.run("add", other, "--name", "mine")
    assert store.sources() == [*SOURCES, "mine/a.md#mine"]
    assert store.run("add", other, "--name", "docs")["documents"]["removed"] == 3
    assert store.sources() == ["docs/a.md#mine", "mine/a.md#mine"]


def test_files_that_cannot_be_added_are_listed_and_the_others_are(store, docs, monkeypatch):
    """Exit 1 at the end; what such a file said before stays, since it did not vanish."""
    store.run("add", docs)
    (docs / "d.txt").write_bytes(b"gr\xfcn")
    (docs / "gone.md").symlink_to(docs / "nowhere")
    (docs / "zip.md").write_bytes(b"PK\x00\x01")
    (docs / "huge.md").write_bytes(b"x" * 2000)
    (docs / "new.md").write_text("\ufeff# New\r\n\r\ntext\r\n", encoding="utf-8")
    monkeypatch.setattr(documents, "MAX_DOCUMENT_BYTES", 1000)
    told = store.run("add", docs, code=1)
    assert [(Path(one["path"]).name, one["reason"].split(":")[0]) for one in told["skipped"]] == [
        ("d.txt", "byte 2 is not UTF-8 text"),
        ("gone.md", "it cannot be read"),
        ("huge.md", "it is longer than 0 MiB"),
        ("zip.md", "it holds binary data"),
    ]
    assert told["documents"] == {"added": 1, "changed": 0, "removed": 0, "unchanged": 3, "skipped": 4}
    assert store.sources() == sorted([*SOURCES, "docs/new.md#new"])
    assert all(Path(one["path"]).name in store.said for one in told["skipped"])


def test_links_lead_nowhere_out_of_the_folder(store, docs, tmp_path):
    """A folder of somebody else brings in no file of one's own; a link within it is a document of its own."""
    (tmp_path / "diary.md").write_text("# Diary\n\nprivate\n", encoding="utf-8")
    (docs / "out.md").symlink_to(tmp_path / "diary.md")
    (docs / "again.md").symlink_to(docs / "a.md")
    (docs / "self.md").symlink_to(docs / "self.md")
    told = store.run("add", docs, code=1)
    assert [(Path(one["path"]).name, one["reason"].split(":")[0]) for one in told["skipped"]] == [
        ("out.md", "it is a link that leads out of the folder"),
        ("self.md", "it cannot be read"),
    ]
    assert "docs/again.md" in {source.partition("#")[0] for source in store.sources()}


def test_a_name_that_is_no_text_is_skipped(store, tmp_path):
    """Such a document could not be told from others."""
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    Path(os.fsdecode(bytes(tmp_path) + b"/gr\xfcn.md")).write_text("text", encoding="utf-8")
    told = store.run("add", tmp_path, "--name", "n", code=1)
    assert [one["reason"] for one in told["skipped"]] == ["its name is not UTF-8"]
    assert store.sources() == ["n/a.md"]


@pytest.mark.parametrize(
    ("arguments", "given", "source"),
    [
        (("--name", "guide.rst"), b"Title\n=====\n\ntext\n", "guide.rst#title"),
        (("--name", "guide"), b"<!doctype html><h1 id=here>T</h1>text", "guide#here"),
        (("--name", "guide", "--type", "html"), b"<h1 id=here>T</h1>text", "guide#here"),
        (("--name", "guide"), b"# Title\n\ntext\n", "guide#title"),
        (("--name", "guide.md", "--type", "text"), b"# Title\n", "guide.md"),
        (("--name", "guide"), b'<!doctype html><meta charset="iso-8859-1"><h1 id="h">\xfc</h1>text', "guide#h"),
    ],
)
def test_standard_input_is_a_document_of_its_name(store, arguments, given, source):
    """Its type is told, or seen by its name or its text."""
    assert store.run("add", "-", *arguments, given=given)["documents"]["added"] == 1
    assert store.sources() == [source]


def test_what_cannot_be_added_at_all_is_one_clear_line(store, tmp_path):
    """A missing path, a folder without documents, input without a name, and words that are no option each say so."""
    (tmp_path / "a.md").write_text("text", encoding="utf-8")
    (tmp_path / "sub").mkdir()
    assert "does not exist" in store.fails("add", tmp_path / "nowhere", code=2)
    assert "holds no document" in store.fails("add", tmp_path / "sub", code=2)
    assert "--name" in store.fails("add", "-", code=2)
    assert "is no type" in store.fails("add", tmp_path, "--type", "docx", code=2)
    for name in ("a/b", "", "#", "x" * 101, "\x1b[2J"):
        assert "is no name" in store.fails("add", tmp_path, "--name", name, code=2)
    for project in ("*", "a b", ""):
        assert "is no project" in store.fails("add", tmp_path / "a.md", "--project", project, code=2)
    assert not store.state.nodes


def test_documents_are_shared_or_of_a_project(store, docs):
    """The same folder of two owners is kept twice, and one does not remove the other's."""
    store.run("add", docs)
    store.run("add", docs, "--project", "p")
    assert store.run("remove", "docs", "--project", "p") == {"documents": 4, "chunks": 5, "removed": [
        "docs/a.md", "docs/d.txt", "docs/deep/b.rst", "docs/deep/c%231.html"
    ]}  # fmt: skip
    assert store.sources() == SOURCES


def test_collections_and_documents_are_listed(store, docs):
    """With how much they hold, whose they are, and when they changed last; exit 1 where there is nothing."""
    assert store.run("list", code=1) == {"collections": [], "total": {"documents": 0, "chunks": 0}}
    store.run("add", docs)
    store.run("add", docs / "a.md", "--project", "p")
    assert store.run("list") == {
        "collections": [
            {"name": "a.md", "project": "p", "documents": 1, "chunks": 2, "updated_on": "2026-07-02"},
            {"name": "docs", "project": None, "documents": 4, "chunks": 5, "updated_on": "2026-07-02"},
        ],
        "total": {"documents": 5, "chunks": 7},
    }
    assert store.run("list", "--project", "p")["total"] == {"documents": 1, "chunks": 2}
    assert [one["source"] for one in store.run("list", "docs")["documents"]] == [
        "docs/a.md", "docs/d.txt", "docs/deep/b.rst", "docs/deep/c%231.html",
    ]  # fmt: skip
    told = CliRunner().invoke(app, ["reference", "list"]).stdout.splitlines()
    assert told[0].split() == ["name", "project", "documents", "chunks", "updated", "on"]
    assert told[2].split() == ["docs", "(shared)", "4", "5", "2026-07-02"]
    assert told[-1] == "7 chunks of 5 documents in all"


def test_documents_are_removed_by_any_part_of_their_name(store, docs):
    """A document, a folder, or all; with an anchor it is the whole document."""
    store.run("add", docs)
    assert store.run("remove", "docs/deep/")["chunks"] == 2
    assert store.run("remove", "docs/a.md#one")["removed"] == ["docs/a.md"]
    assert store.sources() == ["docs/d.txt"]
    assert CliRunner().invoke(app, ["reference", "remove", "docs"]).stdout == "removed 1 document with 1 chunk\n"
    assert store.run("add", docs)["documents"]["added"] == 4
    assert store.sources() == SOURCES


def test_what_is_not_there_cannot_be_removed(store, docs):
    """The error says where to look, and whose it is where another project has it."""
    assert "mem reference list" in store.fails("remove", "docs", code=1)
    store.run("add", docs, "--project", "p")
    assert "--project p" in store.fails("remove", "docs", code=1)
    assert "mem reference list" in store.fails("remove", "doc", "--project", "p", code=1)


def test_many_documents_are_written_together(store, docs):
    """Each has its record, in the order of the folder."""
    for number in range(150):
        (docs / f"n{number:03}.md").write_text(f"text {number}", encoding="utf-8")
    told = store.run("add", docs)
    assert told["documents"]["added"] == 154
    assert [one["source"] for one in told["changes"]] == sorted(one["source"] for one in told["changes"])
    assert store.said.count("1 new chunk,") >= 150


def test_a_summary_for_people_is_one_line(store, docs):
    """What was done, and how much there is now."""
    told = CliRunner().invoke(app, ["reference", "add", str(docs)]).stdout
    assert told == "docs: 4 added; chunks: 5 new, 0 removed, 5 in all\n"
    (docs / "a.md").unlink()
    told = CliRunner().invoke(app, ["reference", "add", str(docs), "--dry-run"]).stdout
    assert (
        told == "docs: nothing was written; it would be: 1 removed, 3 unchanged; chunks: 0 new, 2 removed, 3 in all\n"
    )
