"""The tour: accept, reject, look up in three tiers, and survive a retry storm."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import textwrap
import time
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from mem.addresses import Addresses, find_addresses
from mem.app_dir import find_app_dir
from mem.cli.demo.material import (
    DemoQuery,
    Incident,
    incidents,
    log_text,
    queries,
    reference_texts,
    skill_text,
)
from mem.client import MemoryClient, Reply
from mem.domain.accepting import AcceptAnswer, AcceptRequest
from mem.domain.errors import StackError
from mem.domain.ids import SHARED, accept_workflow_id, context_workflow_id
from mem.domain.lookup import ContextAnswer, ContextRequest
from mem.local import StackFile, StackOptions, remove_data, running_stack, start_detached
from mem.ports import Document
from mem.settings import Settings
from mem.wiring import open_ports
from mem.writing.corpus import carry_out, corpus_plan
from mem.writing.reference import reference_nodes
from mem.writing.skills import parse_skill

CALLERS = 50
STORM_PROJECT = "storm"
TEXT_WIDTH = 78


class Tour:
    """One run of the demonstration against a running stack."""

    def __init__(self, stack: StackFile, client: MemoryClient, console: Console) -> None:
        self._stack = stack
        self._client = client
        self._console = console
        self._shas: dict[str, str] = {}
        self._wrong: list[str] = []

    async def run(self, settings: Settings) -> list[str]:
        """Show everything; returns what did not come out as expected."""
        await self._accept_all()
        await self._add_reference(settings)
        for number, query in enumerate(queries(), 1):
            await self._look_up(number, query)
        await self._storm()
        return self._wrong

    async def _accept_all(self) -> None:
        self._title("Accept: what incidents taught, judged by the gate")
        table = Table("incident", "project", "level", "status", "sha", "why, or what makes it findable", box=None)
        table.columns[0].no_wrap = True
        for incident in incidents():
            answer = (await self._client.accept(self._candidate(incident))).answer
            self._shas[incident.id] = answer.sha or answer.duplicate_of or incident.id
            got = "accepted" if answer.status == "accepted" else answer.verdict.rule or answer.status
            self._expect(got == incident.expect, f"{incident.id}: {got}, expected {incident.expect}")
            table.add_row(
                incident.id, incident.project, incident.level, answer.status, (answer.sha or "")[:12], _why(answer)
            )
        self._console.print(table)

    def _candidate(self, incident: Incident) -> AcceptRequest:
        evidence = [
            {"source": each.source, "turn": each.turn, "text": each.text if each.log is None else log_text(each.log)}
            for each in incident.evidence
        ]
        fields: dict[str, Any] = {
            "request_id": f"demo-{incident.id}",
            "project": incident.project,
            "level": incident.level,
            "text": incident.text,
            "evidence": evidence,
            "parents": [self._shas.get(name, name) for name in incident.parents],
            "supersedes": [self._shas.get(name, name) for name in incident.supersedes],
        }
        return AcceptRequest.model_validate(fields | ({"tool": incident.tool} if incident.tool else {}))

    async def _add_reference(self, settings: Settings) -> None:
        async with open_ports(_addresses_of(self._stack, settings), settings) as ports:
            documents = [
                Document(SHARED, name, tuple(reference_nodes(text, source=name, project=None)))
                for name, text in reference_texts().items()
            ]
            changes = await carry_out(corpus_plan([], documents, []), ports.reference, ports.embedder)
            skill = parse_skill(skill_text(), file="SKILL.md", project=None)
            await ports.skills.put(skill, ports.embedder)
        self._console.print(
            f"\nReference: {sum(one.added for one in changes)} chunks for every project. Skill: {skill.name}."
        )

    async def _look_up(self, number: int, query: DemoQuery) -> None:
        log = log_text(query.log) if query.log is not None else None
        given = {"signature_source": log, "tool": query.tool, "task": query.task}
        fields = {name: value for name, value in given.items() if value is not None}
        request = ContextRequest.model_validate({"request_id": f"demo-{query.id}", "project": query.project, **fields})
        reply = await self._client.look_up(request)
        size = f"{len(log.encode()) / 1024:.1f} KB" if log is not None else "no log"
        self._title(f"Look up {number}: {query.title}")
        self._console.print(f"{query.log or ''} ({size}), project {query.project}", highlight=False)
        self._console.print(_answer_table(reply.answer))
        self._check(query, reply.answer)

    def _check(self, query: DemoQuery, answer: ContextAnswer) -> None:
        best = answer.lessons[0] if answer.lessons else None
        self._expect(answer.tier == query.tier, f"{query.id}: tier {answer.tier}, expected tier {query.tier}")
        if query.incident is not None:
            found = best is not None and best.sha == self._shas[query.incident]
            self._expect(found, f"{query.id}: the best lesson is not {query.incident}")
        if query.matched_kind is not None and best is not None:
            self._expect(best.matched_kind == query.matched_kind, f"{query.id}: matched by {best.matched_kind}")

    async def _storm(self) -> None:
        """Many identical calls at once, as retries after a lost answer make them."""
        self._title(f"Retry storm: {CALLERS} identical calls at once")
        query = queries()[0]
        log = log_text(query.log or "")
        request = ContextRequest(request_id="demo-storm", project=STORM_PROJECT, signature_source=log)
        before = await self._client.look_up(request.model_copy(update={"request_id": "demo-before-storm"}))
        began = time.monotonic()
        replies: list[Reply[ContextAnswer]] = await asyncio.gather(
            *(self._client.look_up(request) for _ in range(CALLERS))
        )
        seconds = time.monotonic() - began
        bodies = Counter(reply.body for reply in replies)
        after = replies[0].answer.signatures[0].seen_count or 0
        counted = after - (before.answer.signatures[0].seen_count or 0)
        self._console.print(
            f"{CALLERS} answers in {seconds:.1f} s: {len(bodies)} distinct body of {len(replies[0].body)} bytes, "
            f"{counted} occurrence counted (seen {after} times now)"
        )
        self._expect(len(bodies) == 1, f"storm: {len(bodies)} distinct bodies")
        self._expect(counted == 1, f"storm: {counted} occurrences")

    def say_where(self) -> None:
        """Where the runs can be looked at, as long as the stack is up."""
        first_incident, first_query = incidents()[0], queries()[0]
        self._title("Look inside")
        self._console.print(f"Temporal UI: {self._stack.ui}", soft_wrap=True)
        for workflow_id in (
            accept_workflow_id(first_incident.project, f"demo-{first_incident.id}"),
            context_workflow_id(first_query.project, f"demo-{first_query.id}"),
            context_workflow_id(STORM_PROJECT, "demo-storm"),
        ):
            self._console.print(f"  {workflow_id}", highlight=False)

    def _title(self, text: str) -> None:
        self._console.print(f"\n[bold]{text}[/bold]")

    def _expect(self, holds: bool, otherwise: str) -> None:
        if not holds:
            self._wrong.append(otherwise)


async def tour(*, keep: bool) -> None:
    """Run the demonstration on a stack of its own.

    Raises:
        StackError: the stack did not start, or something did not come out as it should.
    """
    console = Console(width=None if Console().is_terminal else 120)
    settings = Settings()
    options = StackOptions(app_dir=find_app_dir(settings.app_dir))
    home = Path(tempfile.mkdtemp(prefix="mem-demo-"))
    began = time.monotonic()
    console.print(f"Starting Postgres, Temporal, worker and gateway in {home} …", soft_wrap=True)
    if keep:
        wrong = await _show(await start_detached(home, options), settings, console, keep=True)
        command = f"MEM_HOME={home} {_program()}"
        console.print(f"\nThe stack stays up. Look at it:  {command} status", soft_wrap=True)
        console.print(f"Stop it and delete its data:     {command} down --delete-data", soft_wrap=True)
    else:
        async with running_stack(home, options) as stack:
            wrong = await _show(stack, settings, console, keep=False)
        await asyncio.to_thread(remove_data, home)
        console.print(f"\nThe stack has ended. To look inside, keep it:  {_program()} demo --keep", soft_wrap=True)
    console.print(f"\nDone in {time.monotonic() - began:.0f} s.")
    if wrong:
        raise StackError(f"The demonstration went wrong: {'; '.join(wrong)}.", "See the tables above.")


def _program() -> str:
    """This command, as the user can call it from anywhere."""
    called = Path(sys.argv[0])
    return str(called.resolve()) if called.name == "mem" else "mem"


async def _show(stack: StackFile, settings: Settings, console: Console, *, keep: bool) -> list[str]:
    client = await MemoryClient.connect(
        address=stack.temporal.address, namespace=stack.temporal.namespace, task_queue=stack.task_queue
    )
    guided = Tour(stack, client, console)
    wrong = await guided.run(settings)
    if keep:
        guided.say_where()
    return wrong


def _addresses_of(stack: StackFile, settings: Settings) -> Addresses:
    return find_addresses(settings.model_copy(update={"home": Path(stack.home), "database_url": stack.database_url}))


def _why(answer: AcceptAnswer) -> str:
    if answer.status != "accepted":
        return f"{answer.verdict.rule}: {answer.verdict.reason}"
    keys = ", ".join(dict.fromkeys(signature.rule for signature in answer.signatures)) or "no signature"
    return keys if "symptom" in answer.vectors else f"{keys}; no symptom"


def _answer_table(answer: ContextAnswer) -> Table:
    table = Table("tier", "level", "sha", "project", "matched", "score", "seen", "lesson", box=None)
    for lesson in answer.lessons:
        table.add_row(
            f"tier {lesson.tier}",
            lesson.level,
            lesson.sha[:12],
            lesson.project or "shared",
            lesson.matched_kind + (" (successor)" if lesson.supersedes else ""),
            "" if lesson.score is None else f"{lesson.score:.2f}",
            "" if lesson.seen_count is None else str(lesson.seen_count),
            textwrap.shorten(lesson.text, TEXT_WIDTH, placeholder=" …"),
        )
    for skill in answer.skills:
        table.add_row("skill", "", "", "", "", f"{skill.score:.2f}", "", skill.name)
    if answer.tier is None:
        table.add_row("none", "", "", "", "", "", "", answer.abstained_reason or "")
    return table
