"""The lexicons of the gate are validated data."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

import pytest
from pydantic import Field

import mem.writing
from mem.domain.errors import RuleError
from mem.parsing.rules import parse
from mem.writing.judging.lexicon import Lexicon, Marks, Phrases
from mem.writing.judging.returned import without_returned
from mem.writing.judging.words import words
from tests.unit.writing.gate_cases import outputs


class Small(Lexicon):
    """A lexicon as small as can be."""

    cues: Phrases
    marks: Marks
    least: int = Field(default=1, ge=1)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("version = 1\ncues = ['a']\nmarks = ['b']\nextra = 1", "extra"),
        ("version = 1\ncues = ['a']", "marks"),
        ("version = 1\ncues = []\nmarks = ['b']", "cues"),
        ("version = 1\ncues = 'a'\nmarks = ['b']", "cues"),
        ("version = 1\ncues = ['(a']\nmarks = ['b']", "cues"),
        ("version = 1\ncues = ['a*']\nmarks = ['b']", "cues"),
        ("version = 1\ncues = ['a']\nmarks = ['(?=b)']", "marks"),
        ("version = 1\ncues = ['a']\nmarks = ['b']\nleast = 0", "least"),
        ("version = 0\ncues = ['a']\nmarks = ['b']", "version"),
        ("version = ", "TOML"),
    ],
    ids=[
        "unknown",
        "missing",
        "none",
        "no list",
        "no pattern",
        "anything",
        "look-ahead",
        "number",
        "version",
        "no toml",
    ],
)
def test_a_faulty_lexicon_is_named(text, named):
    """A lexicon that is wrong is told by file and field, before any candidate is judged by it."""
    with pytest.raises(RuleError) as raised:
        parse("small.toml", text, Small)
    assert "small.toml" in raised.value.cause
    assert named in raised.value.cause


def test_a_phrase_ends_at_the_edge_of_a_word_and_a_mark_does_not():
    """`set` is not found in `setup` by a phrase, and is by a mark; case matters to neither."""
    small = parse("small.toml", "version = 1\ncues = ['set']\nmarks = ['set']", Small)
    assert small.cues.search("the setup") is None
    assert small.cues.search("SET it") is not None
    assert small.marks.search("the setup") is not None


def test_every_rule_file_says_how_to_write_in_it_and_is_read_by_a_rule():
    """A rule file without notes for its authors, or that no rule reads, is not there."""
    names = sorted(item.name for item in files("mem.writing").joinpath("rules").iterdir())
    sources = "\n".join(path.read_text(encoding="utf-8") for path in Path(mem.writing.__path__[0]).rglob("*.py"))
    for name in names:
        text = files("mem.writing").joinpath("rules").joinpath(name).read_text(encoding="utf-8")
        notes = text[: text.index("\nversion")].splitlines()
        assert len(notes) >= 4, name
        assert all(not line or line.startswith("#") for line in notes), name
        assert f'{name}"' in sources, name


@pytest.mark.parametrize("name", sorted(outputs("Pin react.")))
def test_everything_that_we_return_is_recognised_as_ours(name):
    """The lexicon knows each output of this version, and finds the lesson in those that carry one."""
    lesson = 'Pin react in overrides; npm refuses "peers" that disagree.'
    found = without_returned(f"before it\n{outputs(lesson)[name]}\nbehind it")
    assert found.name is not None
    assert found.rest.startswith("before it\n")
    assert found.rest.endswith("\nbehind it")
    assert not {"overrides", "disagree", "matched_kind", "proxy", "413"} & set(words(found.rest))
    if name not in ("accepted", "cut"):
        assert any("overrides" in each and "disagree" in each for each in found.lessons)
