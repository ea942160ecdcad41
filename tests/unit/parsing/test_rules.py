"""Rule files: they are data, and a wrong one says where it is wrong."""

from __future__ import annotations

from importlib import resources

import pytest

from mem.domain.errors import RuleError
from mem.parsing.lines import classifier
from mem.parsing.rules import Classes, RuleFile, of_file, parse, tool_rules

GOOD = """
version = 1
tool = "x"
[[rule]]
id = "x.y"
hints = ["boom"]
anchor = 'boom'
"""


def test_all_packaged_rules_load() -> None:
    """Every rule of the package compiles, and no id stands twice."""
    ids = [rule.id for rule in tool_rules()]
    assert len(ids) == len(set(ids)) > 60


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (("anchor = 'boom'", "anchor = '(boom'"), "x.y"),
        (("anchor = 'boom'", "anchor = '(?=boom)'"), "x.y"),
        (("anchor = 'boom'", "anchor = 'boom'\nmax = 0"), "x.y"),
        (("anchor = 'boom'", "anchor = 'boom'\ncolour = 1"), "x.y"),
        (('hints = ["boom"]', "hints = []"), "x.y"),
        (('hints = ["boom"]', 'hints = ["BOOM"]'), "x.y"),
        (("version = 1", "version = 0"), "version"),
        (("[[rule]]", "[[rule]"), "TOML"),
    ],
)
def test_a_bad_rule_names_file_and_rule(change: tuple[str, str], said: str) -> None:
    """The error of a bad rule says in which file and rule it is."""
    with pytest.raises(RuleError) as error:
        parse("x.toml", GOOD.replace(*change), RuleFile)
    assert "x.toml" in error.value.cause
    assert said in error.value.cause


def test_a_piece_stands_where_a_rule_names_it() -> None:
    """A pattern that several rules share is written once, and a wrong name is told."""
    text = GOOD.replace("[[rule]]", "[pieces]\nword = 'bo+m'\n[[rule]]").replace("'boom'", "'big {{word}}'")
    assert parse("x.toml", text, RuleFile).rule[0].anchor.search("a big booom")
    with pytest.raises(RuleError, match="wrd"):
        parse("x.toml", text.replace("{{word}}", "{{wrd}}"), RuleFile)
    with pytest.raises(RuleError, match="pieces"):
        parse("x.toml", text.replace("'bo+m'", "3"), RuleFile)


def test_an_id_can_be_taken_once() -> None:
    """Two rules under one id are refused."""
    file = parse("x.toml", GOOD, RuleFile)
    with pytest.raises(RuleError, match=r"x\.toml, rule x\.y: the id is taken"):
        of_file("x.toml", file, {"x.y"})


def test_an_anchor_that_matches_anything_is_refused() -> None:
    """An anchor that the empty line satisfies would make every line a failure."""
    file = parse("x.toml", GOOD.replace("'boom'", "'(?:boom)?'"), RuleFile)
    with pytest.raises(RuleError, match="matches anything"):
        of_file("x.toml", file, set())


def test_classes_are_checked_too() -> None:
    """A class with a bad pattern is named."""
    text = 'version = 1\nhints = ["a"]\n[[line_class]]\nname = "loud"\nany = ["("]\n'
    with pytest.raises(RuleError, match="rule loud"):
        parse("classes.toml", text, Classes)


def test_each_rule_file_says_how_to_write_a_rule() -> None:
    """The authoring guidelines stand at the head of every file."""
    folder = resources.files("mem.parsing").joinpath("rules")
    for item in folder.iterdir():
        assert item.read_text(encoding="utf-8").startswith("#"), item.name


@pytest.mark.parametrize(
    ("line", "classes"),
    [
        ("fatal: no such branch", {"strong", "lead"}),
        ("make: *** [all] Error 2", {"wrapper"}),
        ("=== 3 failed, 2 passed in 0.12s ===", {"summary"}),
        ("0 errors", {"zero"}),
        ("retrying after error", {"negation"}),
        ("    at f (a.js:1:2)", {"frame"}),
        ("--------", {"ruler"}),
        ("undefined reference to `x'", {"linker"}),
    ],
)
def test_lines_have_their_classes(line: str, classes: set[str]) -> None:
    """A line is classed by its words."""
    bits = classifier().classes_of(line)
    assert classes <= {name for name, bit in classifier().names.items() if bits & bit}


def test_a_line_with_a_failure_word_is_found_by_its_hint() -> None:
    """Only lines with a hint are looked at; the case of a word does not matter."""
    assert classifier().hinted(["all is well", "FATAL: x", "", "nothing", "Permission denied"]) == [1, 4]
