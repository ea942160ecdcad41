"""However a workflow calls something, and wherever somebody names a workflow, it is there."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from temporalio import workflow

import worker
from tests.workflows.test_registration import activities_called

ROOT = Path(__file__).parents[2]
CALLS = re.compile(
    r"(?:execute|start)_(?:local_)?(?:activity|activity_method|activity_class|child_workflow)"
    r"|get_external_workflow_handle(?:_for)?|create_nexus_client|signal"
)
"""What a workflow calls others by."""

NAMED = re.compile(
    r"""WorkflowType\s*!?=\s*["'](\w+)|WorkflowType\s+IN\s*\(["'](\w+)"""
    r"""|start_workflow\(\s*"(\w+)"|run_to_end\(\s*[\w.]+,\s*"(\w+)"|\bworkflow="(\w+)\""""
    r"""|"workflow_?[tT]ype":\s*"([A-Z]\w+)"|--(?:workflow-)?type[ =]([A-Z][a-z]\w+)"""
)
"""Where a type of workflow is named: list filters, clients, schedules, command lines, documents."""


class Called(NamedTuple):
    """A call in a file of workflows: by what, and its first argument."""

    where: str
    call: str
    argument: ast.expr
    parameters: set[str]


def called(source: str, where: str) -> Iterator[Called]:
    """The calls in a file, by whatever name its import of `workflow` goes."""
    for function in ast.walk(ast.parse(source)):
        if not isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            continue
        given = function.args
        parameters = {each.arg for each in (*given.posonlyargs, *given.args, *given.kwonlyargs)}
        for node in ast.walk(function):
            name = getattr(node.func, "attr", getattr(node.func, "id", "")) if isinstance(node, ast.Call) else ""
            if isinstance(node, ast.Call) and node.args and CALLS.fullmatch(name):
                yield Called(f"{where}:{node.lineno}", name, node.args[0], parameters)


def unclear(each: Called, activities: set[str], workflows: set[str]) -> str | None:
    """Why it cannot be told that a call finds somebody; None where it does."""
    argument, what = each.argument, f"{each.where}: {each.call}"
    if "activity" not in each.call:
        known = isinstance(argument, ast.Constant) and argument.value in workflows
        return None if known else f"{what} of {ast.unparse(argument)}: no workflow of ours"
    if isinstance(argument, ast.Constant):
        return None if argument.value in activities else f"{what} of {argument.value!r}: not registered"
    # A helper is given the activity by who calls it, who names it as `Class.method`.
    if isinstance(argument, ast.Name) and argument.id in each.parameters:
        return None
    named = (
        isinstance(argument, ast.Attribute) and isinstance(argument.value, ast.Name) and argument.value.id[0].isupper()
    )
    return None if named else f"{what} of {ast.unparse(argument)}: name it as Class.method"


def files() -> list[Path]:
    return sorted((ROOT / "workflows").rglob("*.py"))


@pytest.fixture(scope="module")
def activities() -> set[str]:
    """The names of the activities that workflows refer to, which are those that are registered."""
    return set().union(*(activities_called(path) for path in files()))


@pytest.fixture(scope="module")
def workflows() -> set[str]:
    return {workflow._Definition.must_from_class(cls).name for cls in worker.WORKFLOWS}


def test_every_call_finds_somebody(activities, workflows):
    """Whoever is called by a workflow, in a helper module too, is named so that a test can look for it."""
    calls = [each for path in files() for each in called(path.read_text(encoding="utf-8"), path.name)]
    assert len(calls) >= 6
    assert [why for each in calls if (why := unclear(each, activities, workflows)) is not None] == []


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('workflow.execute_activity("record_candidate", 1)', True),
        ('workflow.execute_activity("forgotten", 1)', False),
        ('workflow.start_local_activity("forgotten", 1)', False),
        ("workflow.execute_activity(FORGOTTEN, 1)", False),
        ("workflow.execute_local_activity_method(given, 1)", True),
        ('workflow.execute_child_workflow("QueryMemory", 1)', True),
        ('workflow.start_child_workflow("Forgotten", 1)', False),
        ('handle.signal("forgotten")', False),
        ('workflow.get_external_workflow_handle("an-id")', False),
    ],
)
def test_a_call_that_finds_nobody(activities, workflows, line, found):
    """Activities by their names, children and signals are looked for like the others."""
    (each,) = called(f"async def helper(given):\n    await {line}\n", "helper.py")
    assert (unclear(each, activities, workflows) is None) is found


def test_every_workflow_that_is_named_exists(workflows):
    """Clients, list filters, schedules and documents name no type that no worker has."""
    texts = [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]
    for folder in ("mem", "bench", "replays", "docker", "docs"):
        texts += [
            path for kind in ("py", "toml", "yaml", "yml", "sh", "json") for path in (ROOT / folder).rglob(f"*.{kind}")
        ]
    named = {
        (next(filter(None, match.groups())), path.relative_to(ROOT).as_posix())
        for path in texts
        for match in NAMED.finditer(path.read_text(encoding="utf-8"))
    }
    assert len({name for name, _ in named}) >= 5
    # The benches bring no-ops of their own, to be compared with.
    assert {(name, where) for name, where in named if name not in workflows and not where.startswith("bench/")} == set()
