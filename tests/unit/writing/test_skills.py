"""Skill files as agents keep them, and what is refused of them."""

from __future__ import annotations

import pytest

from mem.domain.errors import InvalidRequest, TooLarge
from mem.domain.ids import SHARED
from mem.writing.skills import MAX_BODY_BYTES, MAX_DESCRIPTION, MAX_NAME, made_skill, parse_skill

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"


def parse(text: str, **fields):
    return parse_skill(text, **{"file": "SKILL.md", "project": None, **fields})


def of(front: str, **fields):
    """The skill of a front matter."""
    return parse(f"---\n{front}\n---\nSteps.\n", **fields)


def test_a_skill_is_its_front_matter_and_body():
    """Name and description come as one line each; the body follows; other fields are left alone."""
    text = "\ufeff---\nname: ci-triage\ndescription: >\n  Reads\n  logs.\nversion: 3\n---\n\n# Steps\n---\nmore\n"
    assert parse(text, project="homelab") == ("ci-triage", "Reads logs.", "# Steps\n---\nmore", "homelab")
    assert parse(text).project == SHARED


@pytest.mark.parametrize(
    ("front", "description"),
    [
        ("name: n\ndescription: Reads logs.", "Reads logs."),
        ("name: n\ndescription: 'Reads: logs'", "Reads: logs"),
        ('name: "n"\ndescription: "Reads\\nlogs #1"', "Reads logs #1"),
        ("name: n\ndescription: |\n  Reads\n  logs.\n\n  Twice.", "Reads logs. Twice."),
        ("name: n\ndescription: >-\n  Reads\n  logs.", "Reads logs."),
        ("name: n\ndescription: |2-\n    Reads\n  ---\n  logs.", "Reads --- logs."),
        ("name: n\ndescription: Reads\n  logs\n  again.", "Reads logs again."),
        ("description: d\nname: n\nlicense: MIT\nallowed-tools: Read, Bash(git:*)\nmetadata:\n  version: 1.0", "d"),
        ("name: n\ndescription: d\nallowed-tools:\n  - Read\n  - Write\nversion: 2024-99-99\nx: {a: [b]}", "d"),
        ("# written by hand\nname:   n\ndescription:\td", "d"),
        ("name: n\ndescription: Übersetzt 日本語 🎉", "Übersetzt 日本語 🎉"),
    ],
)
def test_front_matter_is_read_as_agents_write_it(front, description):
    """Plain, quoted, folded and literal values, in any order, beside whatever else there is."""
    assert of(front)[:3] == ("n", description, "Steps.")


@pytest.mark.parametrize(
    ("front", "description"),
    [
        ("name: n\ndescription: Use this when: a build fails", "Use this when: a build fails"),
        ("name: n\ndescription: `mem` reads: logs", "`mem` reads: logs"),
        ("name: n\ndescription: @ci reads logs", "@ci reads logs"),
        ('name: n\ndescription: [PROACTIVE] reads "logs"', '[PROACTIVE] reads "logs"'),
        ("name: n\nallowed-tools: *\ndescription: 100% sure: yes", "100% sure: yes"),
        ("name: n\ndescription: Use when: it fails\nmetadata:\n  author: a", "Use when: it fails"),
    ],
)
def test_what_is_no_yaml_but_plain_to_see_is_taken(front, description):
    """Agents take a value with a colon in it without quotes, so it is what it looks like."""
    assert of(front).description == description


@pytest.mark.parametrize("end", ["\r\n", "\r"])
def test_line_ends_of_any_system_will_do(end):
    """Front matter and body are the same as with line feeds."""
    text = "---\nname: n\ndescription: >\n  Reads\n  logs.\n---\n# Steps\n\n1. Look.\n"
    assert parse("\ufeff" + text.replace("\n", end)) == parse(text)


@pytest.mark.parametrize("name", ["5", "null", "on", "2024-01-01", "1e3", "0x10"])
def test_a_name_is_the_text_that_it_is(name):
    """It is no number, date nor truth."""
    assert of(f"name: {name}\ndescription: d").name == name


@pytest.mark.parametrize("front", ["description: d", "name:\ndescription: d", "name: ' '\ndescription: d"])
def test_a_missing_name_is_that_of_the_folder(front):
    """Where there is none either, the file is refused."""
    assert of(front, fallback="ci-triage").name == "ci-triage"
    with pytest.raises(InvalidRequest, match="has no name"):
        of(front)


def test_no_secret_of_a_skill_is_kept():
    """Skills are redacted in every part, however the value is written."""
    for value in (f"uses {SECRET}", SECRET, f"'{SECRET}'", f"|\n  {SECRET}"):
        skill = parse(f"---\nname: n {SECRET}\ndescription: {value}\n---\n{SECRET}\n")
        assert SECRET not in "".join(skill)
        assert "[redacted:github-token]" in skill.description
        assert skill.body == "[redacted:github-token]"


def test_no_secret_is_told_in_an_error():
    """What is wrong with the YAML is told without quoting it."""
    for front in (f"name: n\ntoken: '{SECRET}\ndescription: d", f"- *{SECRET}", f"name: n\n- {SECRET}"):
        with pytest.raises(InvalidRequest, match="no YAML") as error:
            of(front)
        assert SECRET not in str(error.value)


def test_invisible_and_control_characters_go():
    """Names, descriptions and bodies come in visible characters, escapes in quotes included."""
    skill = parse('---\nname: a\u200bb\ndescription: "x\\e[31m\u202e y\\0 \\u200d z"\n---\nbo\x1bdy\x07\n')
    assert skill[:3] == ("ab", "x[31m y z", "body")


def test_a_long_description_is_cut():
    """A description is for matching, not for reading."""
    assert of(f"name: n\ndescription: {'d' * 5000}").description == "d" * MAX_DESCRIPTION


def test_limits():
    """A name and a body that just fit are taken; above they are refused, not cut."""
    assert of(f"name: {'n' * MAX_NAME}\ndescription: d").name == "n" * MAX_NAME
    with pytest.raises(InvalidRequest, match="over 200 characters"):
        of(f"name: {'n' * (MAX_NAME + 1)}\ndescription: d")
    body = "ü" * (MAX_BODY_BYTES // 2)
    assert made_skill("n", "d", body, project=None).body == body
    with pytest.raises(TooLarge, match="256 KB"):
        made_skill("n", "d", body + "x", project=None)


@pytest.mark.parametrize("project", ["", SHARED, "home lab"])
def test_a_project_of_that_name_cannot_exist(project):
    """Skills are held to the pattern of projects, the name of the shared one included."""
    with pytest.raises(InvalidRequest, match="is no project"):
        of("name: n\ndescription: d", project=project)


@pytest.mark.parametrize(("name", "description"), [("", "d"), (" \u200b", "d"), ("n", ""), ("n", "\n\x1b")])
def test_a_skill_that_is_given_in_words_needs_both(name, description):
    """What is blank once it is cleaned is missing."""
    with pytest.raises(InvalidRequest, match="has no"):
        made_skill(name, description, "", project=None)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no front matter"),
        ("# Skill\n", "no front matter"),
        ("---\nname: n\ndescription: d\n", "no front matter"),
        ("\n---\nname: n\ndescription: d\n---\n", "no front matter"),
        ("---\nname: n\ndescription: d\n  ---\n", "no front matter"),
        ("---\nname: n\ndescription: [\n- a\n---\n", "no YAML in line"),
        ("---\n" + "[" * 5000 + "\n---\n", "no YAML"),
        ("---\n- name\n---\n", "names no fields"),
        ("---\n---\n", "names no fields"),
        ("---\ndescription: d\n---\n", "no name"),
        ("---\nname: n\n---\n", "no description"),
        ("---\nname: [n]\ndescription: d\n---\n", "no name"),
        ("---\nname: n\ndescription: ' '\n---\n", "no description"),
        ("---\nname: n\ndescription:\n  - d\n---\n", "no description"),
    ],
)
def test_a_skill_file_that_is_none_says_why_in_one_line(text, told):
    """The error names the file and what is missing, and says what to write."""
    with pytest.raises(InvalidRequest, match=told) as error:
        parse(text)
    assert "SKILL.md" in error.value.cause
    assert "\n" not in str(error.value)
    assert error.value.remedy
