"""`mem skill` on files and on the store."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.cli.skill import told_skills
from mem.cli.skill_files import _below
from mem.ports import ListedSkill, Skill
from mem.testing import FakeEmbedder, FakeSkills, FakeState
from tests.unit.cli.instead import open_ports
from tests.unit.cli.test_offline import one_line

app = app_for(())

run = CliRunner().invoke
SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"


@pytest.fixture
def state(monkeypatch) -> FakeState:
    """The store of the commands, in memory."""
    found = FakeState()
    open_ports(monkeypatch, skills=FakeSkills(found), embedder=FakeEmbedder())
    return found


def write(folder: Path, place: str, front: str, body: str = "Steps.") -> Path:
    file = folder / place
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"---\n{front}\n---\n{body}\n", encoding="utf-8")
    return file


def live(state: FakeState) -> dict[tuple[str, str], str]:
    return {key: held.skill.description for key, held in state.skills.items() if not held.removed}


def documents(*arguments: str, code: int = 0):
    result = run(app, ["skill", *arguments, "--format", "json"])
    assert result.exit_code == code, result.output
    return json.loads(result.stdout)


# --- add ---


def test_a_skill_is_stored_and_replaced(tmp_path, state):
    """A new skill is stored, the same again is unchanged, and another text of its name replaces it."""
    told = []
    for body in ("one", "one", "two"):
        file = write(tmp_path, "SKILL.md", "name: ci-triage\ndescription: reads logs", body)
        told.append(documents("add", str(file)))
    assert told == [
        {"skills": [{"name": "ci-triage", "project": None, "changed": changed}], "refused": []}
        for changed in (True, False, True)
    ]
    assert [held.skill.body for held in state.skills.values()] == ["two"]
    assert run(app, ["skill", "add", str(file)]).stdout == "ci-triage: unchanged\n"


def test_a_folder_is_imported_as_it_is(tmp_path, state):
    """Each SKILL.md at any depth, in whatever case, named by its folder where it has no name; other files are not."""
    write(tmp_path, "ci-triage/SKILL.md", "name: ci-triage\ndescription: >\n  Reads\n  logs.\nallowed-tools: Read")
    write(tmp_path, "ci-triage/reference/notes.md", "name: notes\ndescription: no skill")
    write(tmp_path, "ops/ssh-access/skill.md", "description: Mends logins.\nlicense: MIT")
    (tmp_path / "README.md").write_text("# Skills\n", encoding="utf-8")
    (tmp_path / "ci-triage" / "run.sh").write_bytes(b"\xff\x00")
    written = write(tmp_path, "win/SKILL.md", "name: win\ndescription: d")
    written.write_bytes(b"\xef\xbb\xbf" + written.read_bytes().replace(b"\n", b"\r\n"))
    told = documents("add", str(tmp_path), "--project", "homelab")
    assert told["refused"] == []
    assert {(one["name"], one["project"]) for one in told["skills"]} == {
        ("ci-triage", "homelab"), ("ssh-access", "homelab"), ("win", "homelab"),
    }  # fmt: skip
    assert live(state) == {
        ("homelab", "ci-triage"): "Reads logs.", ("homelab", "ssh-access"): "Mends logins.", ("homelab", "win"): "d",
    }  # fmt: skip
    before = len(state.records)
    assert {one["changed"] for one in documents("add", str(tmp_path), "--project", "homelab")["skills"]} == {False}
    assert len(state.records) == before


def test_of_a_folder_what_is_no_skill_is_named_and_the_rest_is_added(tmp_path, state):
    """Each with its reason, on stderr and in the document, and exit 1."""
    write(tmp_path, "good/SKILL.md", "name: good\ndescription: d")
    bad = {
        "a/SKILL.md": (b"# none\n", "has no front matter"),
        "b/SKILL.md": (b"\xff\xfe", "is not UTF-8 text"),
        "c/SKILL.md": (b"---\nname: c\n---\n", "has no description"),
        "d/SKILL.md": (b"x" * (1024 * 1024 + 1), "is over 1 MB"),
        "e/SKILL.md": (b"---\nname: 'e\n---\n", "is no YAML"),
    }
    for place, (data, _) in bad.items():
        write(tmp_path, place, "").write_bytes(data)
    told = documents("add", str(tmp_path), code=1)
    assert [one["name"] for one in told["skills"]] == ["good"]
    assert [one["file"] for one in told["refused"]] == [str(tmp_path / place) for place in bad]
    for one, (_, reason) in zip(told["refused"], bad.values(), strict=True):
        assert reason in one["reason"]
    result = run(app, ["skill", "add", str(tmp_path)])
    assert (result.exit_code, result.stdout) == (1, "good: unchanged\n")
    assert [line.startswith("refused: ") for line in result.stderr.splitlines()] == [True] * 5
    assert set(live(state)) == {("*", "good")}


def test_two_skills_of_one_name_do_not_replace_each_other(tmp_path, state):
    """The second is refused, so that adding the folder again changes nothing; a copy of the first is no second one."""
    for place, text in {"a": "one", "b": "two", "c": "one"}.items():
        write(tmp_path, f"{place}/SKILL.md", f"name: same\ndescription: {text}")
    for changed in (True, False):
        told = documents("add", str(tmp_path), code=1)
        assert told["skills"] == [{"name": "same", "project": None, "changed": changed}]
        (refused,) = told["refused"]
        assert refused["file"] == str(tmp_path / "b" / "SKILL.md")
        assert f"the name of {tmp_path / 'a' / 'SKILL.md'}" in refused["reason"]
    assert live(state) == {("*", "same"): "one"}


def test_linked_folders_are_followed_once(tmp_path, state):
    """As agents share their skills by links; a link that leads back does no harm."""
    write(tmp_path, "shared/one/SKILL.md", "description: d")
    home = tmp_path / "home"
    home.mkdir()
    (home / "skills").symlink_to(tmp_path / "shared")
    (home / "skills" / "one" / "back").symlink_to(home)
    assert [one["name"] for one in documents("add", str(home))["skills"]] == ["one"]
    assert _below(str(home)) == [str(home / "skills" / "one" / "SKILL.md")]


def test_no_link_leads_to_what_lies_beside_the_folder(tmp_path, state):
    """A link to a folder above the one that was named, or above the linked one that holds it, is not followed."""
    write(tmp_path, "named/one/SKILL.md", "description: d")
    write(tmp_path, "elsewhere/shared/two/SKILL.md", "description: d")
    write(tmp_path, "elsewhere/beside/SKILL.md", "description: d")
    named, shared = tmp_path / "named", tmp_path / "elsewhere" / "shared"
    (named / "one" / "root").symlink_to("/")
    (named / "shared").symlink_to(shared)
    (shared / "up").symlink_to(shared.parent)
    assert [one["name"] for one in documents("add", str(named))["skills"]] == ["one", "two"]


def test_a_folder_without_skills_is_one_clear_line(tmp_path, state):
    """Nothing was asked for."""
    assert "holds no SKILL.md" in one_line(run(app, ["skill", "add", str(tmp_path)]), 2)


def test_a_file_that_is_no_skill_is_one_clear_line(tmp_path, state):
    """A missing file, bytes that are no text, YAML that is none, and a wrong project each say so."""
    file = tmp_path / "SKILL.md"
    assert "cannot be read" in one_line(run(app, ["skill", "add", str(file)]), 2)
    for data, told in ((b"\xff", "not UTF-8"), (b"# no\n", "no front matter"), (b"---\nname: '\n---\n", "no YAML")):
        file.write_bytes(data)
        assert told in one_line(run(app, ["skill", "add", str(file)]), 2)
    write(tmp_path, "SKILL.md", "name: n\ndescription: d")
    for path in (str(file), str(tmp_path)):
        assert "is no project" in one_line(run(app, ["skill", "add", path, "--project", "*"]), 2)
    assert not state.skills


def test_a_skill_comes_by_standard_input_or_under_any_file_name(tmp_path, state):
    """Then a missing name is that of the file, and there is none to take for standard input."""
    text = "---\nname: piped\ndescription: d\n---\n"
    result = run(app, ["skill", "add", "-", "--format", "json"], input=text)
    assert json.loads(result.stdout)["skills"] == [{"name": "piped", "project": None, "changed": True}]
    assert "- has no name" in one_line(run(app, ["skill", "add", "-"], input="---\ndescription: d\n---\n"), 2)
    assert documents("add", str(write(tmp_path, "deploy.md", "description: d")))["skills"][0]["name"] == "deploy"


def test_a_skill_is_given_in_words(tmp_path, state):
    """Name and description, and a body where there is one; secrets and control characters go."""
    body = tmp_path / "body.md"
    body.write_text(f"\ufeff# Steps\x1b with {SECRET}\n", encoding="utf-8")
    words = ["add", "--name", " ci\x07-triage", "--description", f"Reads\nlogs with {SECRET}", "--body", str(body)]
    assert documents(*words) == {"skills": [{"name": "ci-triage", "project": None, "changed": True}], "refused": []}
    assert documents(*words)["skills"][0]["changed"] is False
    (held,) = state.skills.values()
    redacted = "[redacted:github-token]"
    assert held.skill == ("ci-triage", f"Reads logs with {redacted}", f"# Steps with {redacted}", "*")
    assert documents("add", "--name", "n", "--description", "d", "--project", "p")["skills"][0]["project"] == "p"
    piped = run(app, ["skill", "add", "--name", "n", "--description", "d", "--body", "-"], input="piped")
    assert (piped.exit_code, state.skills["*", "n"].skill.body) == (0, "piped")


@pytest.mark.parametrize(
    "options",
    [
        [],
        ["--name", "n"],
        ["--description", "d"],
        ["--name", "n", "--description", "d", "SKILL.md"],
        ["SKILL.md", "--body", "b.md"],
        ["--name", " ", "--description", "d"],
        ["--name", "n", "--description", "d", "--body", "nowhere.md"],
        ["--name", "n", "--description", "d", "--project", "a b"],
    ],
    ids=str,
)
def test_half_a_skill_is_wrong_usage(options, state):
    """Either a file or words, and of these the name and the description."""
    one_line(run(app, ["skill", "add", *options]), 2)
    assert not state.skills


# --- list, remove ---


def test_skills_are_listed_with_project_and_revision(state):
    """All of them, or those that a project sees; the same name shared and in a project are two."""
    assert documents("list", code=1) == {"skills": []}
    assert run(app, ["skill", "list"]).stdout == "no skill\n"
    for project in ([], ["--project", "p"], ["--project", "q"]):
        documents("add", "--name", "n", "--description", f"for {project[1:] or 'all'}", *project)
    documents("add", "--name", "n", "--description", "newer", "--project", "p")
    listed = documents("list")["skills"]
    assert [(one["project"], one["name"], one["description"], one["revision"]) for one in listed] == [
        (None, "n", "for all", 1), ("p", "n", "newer", 2), ("q", "n", "for ['q']", 1),
    ]  # fmt: skip
    assert [one["project"] for one in documents("list", "--project", "p")["skills"]] == [None, "p"]
    assert [one["project"] for one in documents("list", "--project", "other")["skills"]] == [None]
    assert "is no project" in one_line(run(app, ["skill", "list", "--project", "*"]), 2)


def test_a_table_is_read_in_columns():
    """As much of the description as fits; names of others stay on their line and do not steer the terminal."""
    found = [
        ListedSkill(Skill("ci-triage", "Reads logs of pipelines, and says what to look at first.", "", "*"), 2),
        ListedSkill(Skill("a\x1b[2J\nb", "d\x07\ne", "", "homelab"), 12),
    ]
    assert told_skills(found, width=60).split("\n") == [
        "name       project  revision  description",
        "ci-triage  (all)           2  Reads logs of pipelines, and …",
        "a[2J b     homelab        12  d e",
    ]


def test_a_removed_skill_is_gone_and_may_come_back(state):
    """Only the one of that project; again it is no error, and added again it is there, as a newer revision."""
    for project in ([], ["--project", "p"]):
        documents("add", "--name", "n", "--description", "d", *project)
    assert documents("remove", "n", "--project", "p") == {"name": "n", "project": "p", "changed": True}
    assert documents("remove", "n", "--project", "p") == {"name": "n", "project": "p", "changed": False}
    assert run(app, ["skill", "remove", "n", "--project", "p"]).stdout == "n: was removed before\n"
    assert [one["project"] for one in documents("list")["skills"]] == [None]
    assert run(app, ["skill", "remove", "n"]).stdout == "n: removed\n"
    documents("list", code=1)
    assert documents("add", "--name", "n", "--description", "d")["skills"][0]["changed"] is True
    assert [(one["project"], one["revision"]) for one in documents("list")["skills"]] == [(None, 3)]


def test_a_skill_is_removed_by_the_name_that_added_it(state):
    """What was cleaned when it was added is cleaned likewise."""
    name = f" ci\x07\ntriage {SECRET} "
    documents("add", "--name", name, "--description", "d")
    assert documents("remove", name) == {"name": "ci triage [redacted:github-token]", "project": None, "changed": True}
    assert live(state) == {}


def test_a_skill_that_never_was_cannot_be_removed(state):
    """The error says where it was looked for, and what shows the others."""
    documents("add", "--name", "n", "--description", "d", "--project", "p")
    assert "no skill 'n' for all projects" in one_line(run(app, ["skill", "remove", "n"]), 1)
    assert "no skill 'other' in project p" in one_line(run(app, ["skill", "remove", "other", "--project", "p"]), 1)
    assert "is no project" in one_line(run(app, ["skill", "remove", "n", "--project", "*"]), 2)
