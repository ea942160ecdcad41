"""The tokens of a file or of the environment: what is refused, and what is said about it."""

from __future__ import annotations

import pytest

from mem.domain.errors import ConfigurationError
from mem.domain.rights import Token, entry_of, hash_of
from mem.gateway.tokens import find_tokens
from mem.settings import Settings

ENTRY = entry_of(Token(name="ci", sha256=hash_of(b"s"), read=["a", "b"], write=["a"]))
OTHER = entry_of(Token(name="other", sha256=hash_of(b"t"), all_projects=True, admin=["*"]))


@pytest.fixture(autouse=True)
def _clean(monkeypatch):
    for name in ("MEM_TOKENS", "MEM_TOKENS_FILE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tokens.toml"
    path.write_text(ENTRY)
    path.chmod(0o600)
    return path


def _of(file):
    return find_tokens(Settings(tokens_file=file))


def _replace(file, text: str, mode: int = 0o600) -> None:
    new = file.with_suffix(".new")
    new.write_text(text)
    new.chmod(mode)
    new.replace(file)


def test_entries_are_read_as_they_are_printed(file):
    """What the command prints is what the file holds; a comment may stand beside it."""
    file.write_text(f"# whose it is\n{ENTRY}\n\n{OTHER}\n")
    tokens = _of(file)
    ci, other = tokens.rights_of(b"s"), tokens.rights_of(b"t")
    assert (ci.name, ci.readable, ci.may("write", "a"), ci.may("write", "b")) == ("ci", ["a", "b"], True, False)
    assert (other.readable, other.may("admin", "x"), other.may("write")) == (None, True, False)
    assert tokens.rights_of(b"u") is None


def test_the_environment_holds_the_same(monkeypatch):
    """The text of such a file stands in MEM_TOKENS; its value is not shown."""
    monkeypatch.setenv("MEM_TOKENS", ENTRY)
    settings = Settings()
    assert find_tokens(settings).rights_of(b"s").name == "ci"
    assert hash_of(b"s") not in repr(settings)


def test_nothing_set_is_no_tokens(monkeypatch):
    """A variable that is set to nothing names nothing."""
    for name in ("MEM_TOKENS", "MEM_TOKENS_FILE"):
        monkeypatch.setenv(name, " ")
    assert find_tokens(Settings()) is None


def test_two_places_are_one_too_many(file):
    """Which of them counts nobody can say."""
    with pytest.raises(ConfigurationError, match="both set"):
        find_tokens(Settings(tokens_file=file, tokens=ENTRY))


@pytest.mark.parametrize("mode", [0o602, 0o620, 0o604, 0o644, 0o666])
def test_a_file_that_lies_open_is_refused(file, mode):
    """What others may change, or everybody may read, is no secret; the remedy is a command."""
    file.chmod(mode)
    with pytest.raises(ConfigurationError) as caught:
        _of(file)
    assert f"mode {mode:04o}" in caught.value.cause
    assert caught.value.remedy == f"Run `chmod 600 {file}`."


@pytest.mark.parametrize("mode", [0o400, 0o600, 0o440, 0o640])
def test_a_file_for_its_owner_or_a_group_is_read(file, mode):
    """A group may read it, as where a secret is mounted."""
    file.chmod(mode)
    assert _of(file).rights_of(b"s") is not None


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    """Missing, or a folder: the error says what to set."""
    for path in (tmp_path / "missing.toml", tmp_path):
        with pytest.raises(ConfigurationError) as caught:
            _of(path)
        assert str(path) in caught.value.cause
        assert "MEM_TOKENS_FILE" in caught.value.remedy


@pytest.mark.parametrize(
    ("content", "place"),
    [
        ("[[token]]\nname = memtok_secret", "line 2"),
        ("[[token]]\nname = 'a'\nsha256 = 'memtok_secret'", "token.0.sha256"),
        ("[[token]]\nname = 'a'\nsecret = 'memtok_secret'", "token.0.secret"),
        ("[[tokens]]\nname = 'a'", "tokens"),
        ("[[token]]\nname = 'a'", "token.0.sha256"),
        (f"{ENTRY}\n{ENTRY}", "two tokens have the same name"),
        (b"\xff\xfe", "UTF-8"),
    ],
)
def test_a_malformed_file_is_told_by_its_place(file, content, place):
    """The error names the place and a remedy, and quotes nothing that may be a secret."""
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(ConfigurationError) as caught:
        _of(file)
    assert place in caught.value.cause
    assert "memtok_secret" not in str(caught.value)
    assert "mem token new" in caught.value.remedy


def test_a_changed_file_counts_at_once(file):
    """A token that is added is known, and one that is taken out is not any more."""
    tokens = _of(file)
    _replace(file, OTHER)
    assert (tokens.rights_of(b"t").name, tokens.rights_of(b"s")) == ("other", None)
    _replace(file, "")
    assert tokens.rights_of(b"t") is None


@pytest.mark.parametrize("spoil", ["malformed", "open", "gone"])
def test_a_file_that_cannot_be_used_any_more_changes_nothing(file, spoil):
    """What was in force stays so: nobody is let in who was not, and nobody shut out by a slip; mended, it counts."""
    tokens = _of(file)
    match spoil:
        case "malformed":
            _replace(file, "[[token]")
        case "open":
            _replace(file, OTHER, mode=0o666)
        case _:
            file.unlink()
    assert (tokens.rights_of(b"s").name, tokens.rights_of(b"t")) == ("ci", None)
    _replace(file, OTHER)
    assert (tokens.rights_of(b"s"), tokens.rights_of(b"t").name) == (None, "other")
