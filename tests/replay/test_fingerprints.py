"""The commands of each workflow are those that are committed; where they are not, the test tells what to do.

`fingerprints.json` has a fingerprint of each workflow, and behind it the commands of each recorded run, so that a
change can be read. `MEM_BLESS_FINGERPRINTS=1` writes it anew.
"""

from __future__ import annotations

import ast
import difflib
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from replays.commands import Replayed, digest
from tests.replay.histories import FOLDER, paths
from tests.replay.procedure import PROCEDURE

ROOT = Path(__file__).parents[2]
FINGERPRINTS = Path(__file__).parent / "fingerprints.json"
BLESSING = "MEM_BLESS_FINGERPRINTS"

Told = dict[str, Any]


def committed() -> dict[str, Told]:
    """What is committed, by workflow."""
    told: dict[str, Told] = json.loads(FINGERPRINTS.read_text(encoding="utf-8"))
    return told


def told_of(replayed: dict[str, Replayed]) -> dict[str, Told]:
    """What today's code does, in the form that is committed."""
    found: dict[str, Told] = {}
    for name, each in sorted(replayed.items()):
        found.setdefault(each.workflow, {"histories": {}})["histories"][name] = list(each.commands)
    return {
        workflow: {"fingerprint": digest(told["histories"].values()), **told}
        for workflow, told in sorted(found.items())
    }


@pytest.mark.skipif(BLESSING not in os.environ, reason="writes only when asked to")
def test_bless(replayed):
    """What is committed becomes what today's code does; runs that it would break are no matter of blessing."""
    assert {name: each.failure for name, each in replayed.items() if each.failure is not None} == {}
    _all_are_kept()
    FINGERPRINTS.write_text(json.dumps(told_of(replayed), indent=1) + "\n", encoding="utf-8")


@pytest.mark.parametrize("workflow", sorted(json.loads(FINGERPRINTS.read_text(encoding="utf-8"))))
def test_the_commands_are_those_of_before(workflow, replayed):
    """No run that was recorded would be given other commands today."""
    was, now = committed()[workflow], told_of(replayed).get(workflow, {})
    if was == now:
        return
    lines = [json.dumps(each, indent=1).splitlines() for each in (was, now)]
    changed = "\n".join(difflib.unified_diff(*lines, "committed", "today", lineterm="", n=2))
    pytest.fail(f"{workflow}\n{changed}\n{PROCEDURE}", pytrace=False)


def test_every_workflow_has_a_fingerprint(replayed):
    """None is forgotten."""
    assert set(committed()) == set(told_of(replayed))


def test_old_histories_are_kept():
    """What was once replayed is replayed for ever, or lies with the retired."""
    _all_are_kept()


def test_every_patch_is_recorded_and_told_of(replayed):
    """Of each patch in the code there is a run that took it, and docs/evolution.md names it."""
    page = (ROOT / "docs" / "evolution.md").read_text(encoding="utf-8")
    in_force = re.findall(r"^\| `([^`]+)` \|", page, flags=re.MULTILINE)
    called = patches()
    assert sorted(called) == sorted(in_force)
    for patch in called:
        taken = {f"patch {patch}", f"patch {patch}, deprecated"}
        assert any(taken & {*each.commands} for each in replayed.values()), f"No history has {patch}.\n{PROCEDURE}"


def patches() -> set[str]:
    """The patches that the workflows ask for."""
    found: set[str] = set()
    for path in sorted((ROOT / "workflows").glob("*.py")):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        named = {
            target.id: node.value.value
            for node in tree.body
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant)
            for target in node.targets
            if isinstance(target, ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
                (argument, *_) = node.args
                if node.func.attr in {"patched", "deprecate_patch"}:
                    found.add(argument.value if isinstance(argument, ast.Constant) else named[argument.id])
    return found


def _all_are_kept() -> None:
    known = {path.name for path in (*paths(), *(FOLDER / "retired").glob("*.json"))}
    lost = {name for told in committed().values() for name in told["histories"]} - known
    assert not lost, f"Histories are never deleted: {sorted(lost)}\n{PROCEDURE}"
