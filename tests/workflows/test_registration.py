"""What is called is registered, under the names and with the messages that callers use."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from typing import Any, NamedTuple, get_args

import pytest
from temporalio import workflow
from temporalio.common import VersioningBehavior

import mem.client
import worker
from mem.client import MemoryClient
from mem.clients.temporal import maintenance
from mem.clients.temporal.calls import Call
from mem.domain.accepting import AcceptRequest
from mem.domain.grounding import GroundRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from mem.wiring import Ports

ROOT = Path(__file__).parents[2]
WORKER_MAY_IMPORT = {
    "structlog", "temporalio", "activities", "workflows",
    "pydantic", "mem.addresses", "mem.clients.temporal.connection",
    "mem.clients.temporal.ending", "mem.clients.temporal.metrics", "mem.clients.temporal.worker_health",
    "mem.clients.temporal.runtime", "mem.clients.temporal.search_attributes",
    "mem.clients.temporal.tracing", "mem.clients.temporal.tuning",
    "mem.domain.ids", "mem.ports", "mem.process", "mem.settings", "mem.wiring",
}  # fmt: skip


class Registered(NamedTuple):
    workflows: set[type]
    activities: set[str]


@pytest.fixture
def registered(monkeypatch) -> Registered:
    """What `build_workers` hands to Temporal, for either queue the same."""
    made: list[dict[str, Any]] = []
    monkeypatch.setattr(worker, "Worker", lambda _, **options: made.append(options))
    worker.build_workers(None, Ports(*[None] * len(Ports.__dataclass_fields__)), task_queue="q")
    given, other = made
    assert [given["task_queue"], other["task_queue"]] == ["q", "q-writes"]
    assert all(given[name] == other[name] for name in ("workflows", "activities"))
    names = {activity.__temporal_activity_definition.name for activity in given["activities"]}
    return Registered(set(given["workflows"]), names)


@pytest.fixture
async def calls(monkeypatch) -> dict[str, Call]:
    """The calls that `MemoryClient` makes, by workflow name."""
    made: dict[str, Call] = {}

    async def send(_: object, call: Call, **__: object) -> bytes:
        made[call.workflow] = call
        raise InterruptedError

    monkeypatch.setattr(mem.client, "send", send)
    client = MemoryClient(None, task_queue="q")
    requests = [
        client.accept(AcceptRequest(request_id="1", project="p", level="L1", text="lesson")),
        client.look_up(ContextRequest(request_id="1", project="p", tool="npm")),
        client.query(QueryRequest(request_id="1", project="p", question="why?")),
        client.ground(GroundRequest(request_id="1", user_id="u", message="why?")),
    ]
    for request in requests:
        with pytest.raises(InterruptedError):
            await request
    return made


def definition(cls: type) -> Any:
    return workflow._Definition.must_from_class(cls)


def workflow_files() -> list[Path]:
    return sorted((ROOT / "workflows").glob("*.py"))


def activities_called(path: Path) -> set[str]:
    """The names of the activities that a file refers to as `Class.method`."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    classes = {
        alias.asname or alias.name: getattr(importlib.import_module(node.module or ""), alias.name)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("activities.")
        for alias in node.names
    }
    return {
        getattr(classes[node.value.id], node.attr).__temporal_activity_definition.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in classes
    }


def test_every_activity_called_is_registered(registered):
    """A step that no worker knows would be tried for ever."""
    called = set().union(*(activities_called(path) for path in workflow_files()))
    assert len(called) >= 9
    assert called == registered.activities


def test_every_workflow_is_registered(registered):
    """Each workflow class of the folder is in the worker, and replayed with it."""
    defined = {
        value
        for path in workflow_files()
        for value in vars(importlib.import_module(f"workflows.{path.stem}")).values()
        if isinstance(value, type) and workflow._Definition.from_class(value) is not None
    }
    assert defined == registered.workflows == set(worker.WORKFLOWS)


def test_the_client_uses_the_names_and_messages_of_the_workflows(registered, calls):
    """Workflow, update, message and result of a call are those that the workflow declares."""
    by_name = {definition(cls).name: definition(cls) for cls in registered.workflows}
    assert set(calls) | {"RebuildProjections"} == set(by_name)
    assert {name for name, call in calls.items() if call.task_queue == "q-writes"} == {"AcceptMemory"}
    for name, call in calls.items():
        declared = by_name[name]
        update = declared.updates[call.update]
        assert declared.arg_types == update.arg_types == [type(call.message)]
        assert declared.ret_type is call.result
        message = declared.arg_types[0]
        assert message.model_validate_json(call.message.model_dump_json()) == call.message
        assert update.validator is not None


@pytest.mark.parametrize("method", ["rebuild", "replay", "regenerate"])
async def test_the_client_starts_a_rebuild_as_it_is_declared(registered, monkeypatch, method):
    """Message and result of each task of a rebuild are those that the workflow declares."""
    started: dict[str, Any] = {}

    async def run_to_end(_: object, workflow: str, message: object, **options: object) -> None:
        started.update(options, workflow=workflow, message=message)

    async def check(_: object, *needed: str) -> None:
        assert needed == ("writes",)

    monkeypatch.setattr(maintenance, "run_to_end", run_to_end)
    monkeypatch.setattr(MemoryClient, "check", check)
    flag = "apply" if method == "regenerate" else "check"
    await getattr(MemoryClient(None, task_queue="q"), method)(**{flag: True})
    (declared,) = (definition(cls) for cls in registered.workflows if definition(cls).name == started["workflow"])
    assert declared.arg_types == [type(started["message"])]
    assert started["result_type"] in get_args(declared.ret_type)
    assert (getattr(started["message"], flag), started["task_queue"]) == (True, "q-writes")


def test_queries_have_their_names(registered):
    """The queries that the documentation names exist."""
    queries = {definition(cls).name: set(definition(cls).queries) for cls in registered.workflows}
    assert queries == {
        "AcceptMemory": {"status"},
        "LookUpContext": {"context", "trace"},
        "QueryMemory": {"answer", "trace"},
        "GroundContext": {"context", "trace"},
        "RebuildProjections": {"progress"},
    }


def test_no_workflow_fixes_its_versioning(registered):
    """An unversioned worker fails every task of a workflow that declares a versioning behaviour."""
    for cls in registered.workflows:
        assert definition(cls).versioning_behavior in (None, VersioningBehavior.UNSPECIFIED)


def test_a_message_that_does_not_fit_fails_the_run(registered):
    """A run whose input cannot be read fails, where the default is to hang for ever."""
    for cls in registered.workflows:
        assert "ValidationError" in {kind.__name__ for kind in definition(cls).failure_exception_types}


def test_the_worker_imports_only_what_it_wires():
    """worker.py connects layers and reaches past none of them."""
    tree = ast.parse((ROOT / "worker.py").read_text(encoding="utf-8"))
    modules = [node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    modules += [alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names]
    beyond = [
        module
        for module in modules
        if module.split(".")[0] not in sys.stdlib_module_names | {"__future__"}
        and not any(module == allowed or module.startswith(f"{allowed}.") for allowed in WORKER_MAY_IMPORT)
    ]
    assert beyond == []
