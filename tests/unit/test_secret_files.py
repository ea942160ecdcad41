"""Secrets that stand in files."""

from __future__ import annotations

import os

import pytest
from pydantic import ValidationError

from mem.clients.temporal.connection import temporal_environment
from mem.domain.errors import ConfigurationError
from mem.domain.faults import told
from mem.settings import Settings

NAMES = {
    "MEM_DATABASE_URL": "postgresql://mem:secret@db/mem",
    "MEM_TOKENS": "[[token]]\nname = 'ci'",
    "OPENAI_API_KEY": "sk-file",
    "MEM_RERANK_KEY": "sk-rerank",
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder of secrets, and an environment that names none."""
    for name in (*NAMES, "TEMPORAL_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MEM_SECRETS_DIR", str(tmp_path))
    return tmp_path


def values() -> dict[str, str]:
    settings = Settings()
    secrets = {"MEM_TOKENS": settings.tokens, "OPENAI_API_KEY": settings.openai_api_key}
    secrets["MEM_RERANK_KEY"] = settings.rerank_key
    return {"MEM_DATABASE_URL": settings.database_url} | {name: key.get_secret_value() for name, key in secrets.items()}


@pytest.mark.parametrize("spelled", [str.upper, str.lower])
def test_each_secret_may_stand_in_a_file(folder, spelled):
    """A file that is called as the variable gives its value, without the line end that an editor leaves."""
    for name, value in NAMES.items():
        (folder / spelled(name)).write_text(f"{value}\n")
    assert values() == NAMES


def test_what_is_no_secret_is_not_read_from_a_file(folder):
    """A file decides nothing but the secrets."""
    (folder / "MEM_TASK_QUEUE").write_text("other")
    assert Settings().task_queue == "mem"


@pytest.mark.parametrize(("given", "expected"), [("postgresql://env", "postgresql://env"), ("", "postgresql://file")])
def test_the_environment_counts_before_a_file(folder, monkeypatch, given, expected):
    """A variable that names something overrules the file; one that is set to nothing does not."""
    (folder / "MEM_DATABASE_URL").write_text("postgresql://file")
    monkeypatch.setenv("MEM_DATABASE_URL", given)
    assert Settings().database_url == expected


def fault() -> str:
    with pytest.raises(ValidationError) as refused:
        Settings()
    return told(refused.value)


def test_an_empty_file_is_refused(folder):
    """A mount that came up empty is told, and no process starts without its secret."""
    (folder / "MEM_RERANK_KEY").write_text("\n")
    assert fault().startswith("rerank_key")
    assert "MEM_RERANK_KEY is empty; write the secret into it" in fault()


def test_a_file_that_everybody_may_change_is_refused(folder):
    """Nobody else may put in another secret; that others may read it is how mounts are made."""
    file = folder / "MEM_DATABASE_URL"
    file.write_text("postgresql://file")
    file.chmod(0o644)
    assert Settings().database_url == "postgresql://file"
    file.chmod(0o646)
    assert f"run `chmod o-w {file}`" in fault()


def test_a_file_that_cannot_be_read_is_refused(folder):
    """A folder in the place of the file, which Docker makes where the source is missing, is told with its path."""
    (folder / "MEM_DATABASE_URL").mkdir()
    assert "MEM_DATABASE_URL cannot be read: is a directory" in fault()


def test_a_link_that_leads_nowhere_is_refused(folder):
    """A key whose mount is broken is no key that nobody wanted: nothing would be encrypted."""
    (folder / "MEM_PAYLOAD_KEY").symlink_to(folder / "gone")
    assert "MEM_PAYLOAD_KEY cannot be read: no such file" in fault()


def test_a_pipe_is_refused(folder):
    """It would be waited for for ever, by the second reader at the latest."""
    os.mkfifo(folder / "OPENAI_API_KEY")
    assert "is a pipe" in fault()


def test_what_an_editor_puts_before_a_text_is_no_part_of_the_secret(folder):
    """The mark of UTF-8 at its beginning, and the line end of Windows."""
    (folder / "MEM_DATABASE_URL").write_bytes(b"\xef\xbb\xbfpostgresql://file\r\n")
    assert Settings().database_url == "postgresql://file"


@pytest.mark.parametrize("content", [b"\xff\xfe", b"sk-\xe9"])
def test_a_file_that_is_no_text_is_refused_without_quoting_it(folder, content):
    """What stands in a secret file is never told."""
    (folder / "MEM_RERANK_KEY").write_bytes(content)
    assert "no text in UTF-8" in fault()
    assert "sk-" not in fault()


def test_a_folder_that_is_named_and_missing_is_refused(folder, monkeypatch):
    """It is told once, not for each secret."""
    monkeypatch.setenv("MEM_SECRETS_DIR", str(folder / "none"))
    assert fault().count("is no folder") == 1


def test_temporals_key_that_cannot_be_read_is_told(folder):
    """By the path of its file."""
    (folder / "TEMPORAL_API_KEY").mkdir()
    with pytest.raises(ConfigurationError, match="TEMPORAL_API_KEY cannot be read: is a directory"):
        temporal_environment()


def test_temporals_key_may_stand_in_a_file(folder, monkeypatch):
    """The key is handed to Temporal's own configuration, unless the environment names one, or none on purpose."""
    (folder / "TEMPORAL_API_KEY").write_text("key-file\n")
    assert temporal_environment()["TEMPORAL_API_KEY"] == "key-file"
    assert "TEMPORAL_API_KEY" not in os.environ
    monkeypatch.setenv("TEMPORAL_API_KEY", "key-env")
    assert temporal_environment()["TEMPORAL_API_KEY"] == "key-env"
    monkeypatch.setenv("TEMPORAL_API_KEY", "")
    assert "TEMPORAL_API_KEY" not in temporal_environment()
