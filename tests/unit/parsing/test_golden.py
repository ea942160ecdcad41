"""Golden logs: the verdict stands in the log, and re-rendering the failure does not move the key."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from itertools import cycle, islice
from pathlib import Path
from typing import TypeVar
from zlib import crc32

import pytest

from mem.domain.signatures import Signature
from mem.parsing import extract
from tests.unit.parsing.renderings import ENVELOPES, RENDERINGS

FOLDER = Path(__file__).parents[2] / "fixtures" / "golden_logs"
BLESSED = ("tool", "code", "message", "lines")
QUICK = 1
"""In so many renderings each log is shown in the quick run, another log in another; in all of them in the slow one."""

T = TypeVar("T")


@dataclass
class Golden:
    """A log with its verdict."""

    path: Path
    log: str = ""
    verdict: dict[str, str] = field(default_factory=dict)
    same: list[tuple[str, str]] = field(default_factory=list)
    other: list[tuple[str, str]] = field(default_factory=list)


def read(path: Path) -> Golden:
    golden = Golden(path)
    head, _, golden.log = path.read_text(encoding="utf-8").partition("#: ---\n")
    for line in head.splitlines():
        name, _, value = line.removeprefix("#: ").partition(": ")
        if name in ("same", "other"):
            old, _, new = value.partition(" => ")
            getattr(golden, name).append((old, new))
        else:
            golden.verdict[name] = value
    return golden


def bless(golden: Golden, first: Signature) -> None:
    head = [f"#: rule: {golden.verdict['rule']}"]
    head += [f"#: {name}: {value}" for name, value in said(first).items()]
    head += [f"#: same: {old} => {new}" for old, new in golden.same]
    head += [f"#: other: {old} => {new}" for old, new in golden.other]
    golden.path.write_text("\n".join([*head, "#: ---", golden.log]), encoding="utf-8")


def said(first: Signature) -> dict[str, str]:
    return {
        "tool": first.tool,
        "code": str(first.code),
        "message": " / ".join(first.message.split("\n")),
        "lines": f"{first.line_start}-{first.line_end}",
    }


GOLDEN = [read(path) for path in sorted(FOLDER.glob("*.log"))]
FAILING = [golden for golden in GOLDEN if golden.verdict["rule"] != "none"]


def named(golden: Golden) -> str:
    return golden.path.stem


@cache
def first_of(log: str) -> Signature:
    found = extract(log)
    assert found, "nothing was found"
    return found[0]


def by_tool(goldens: Iterable[Golden]) -> list[object]:
    """The logs of each tool: a test for each log would take more time than what it looks at."""
    tools: dict[str, list[Golden]] = {}
    for golden in goldens:
        tools.setdefault(re.split("[-_.]", named(golden))[0], []).append(golden)
    return [pytest.param(logs, id=tool) for tool, logs in tools.items()]


def wrong(logs: Iterable[Golden], found: Callable[[Golden], object]) -> dict[str, object]:
    """What was found wrong, by the name of the log."""
    return {named(golden): told for golden in logs if (told := found(golden))}


of_tools = pytest.mark.parametrize("logs", by_tool(FAILING))


def unlike_its_head(golden: Golden) -> dict[str, tuple[str | None, str]]:
    """Where its first failure is told in another way than its head tells it: as it is, and as it was found."""
    first = first_of(golden.log)
    found = {"rule": first.rule}
    if os.environ.get("MEM_BLESS") and found["rule"] == golden.verdict["rule"]:
        bless(golden, first)
        return {}
    found |= said(first)
    return {
        name: (golden.verdict.get(name), found[name])
        for name in ("rule", *BLESSED)
        if golden.verdict.get(name) != found[name]
    }


@of_tools
def test_the_verdict_stands_in_the_log(logs: list[Golden]) -> None:
    """A golden log yields the rule, code, message and lines that its head names."""
    assert wrong(logs, unlike_its_head) == {}


def test_a_log_without_a_failure_yields_nothing() -> None:
    """A log of a job that passed, or of boilerplate alone, has no signature."""
    passed = [golden for golden in GOLDEN if golden.verdict["rule"] == "none"]
    assert passed
    assert wrong(passed, lambda golden: extract(golden.log)) == {}


def some_of(table: Mapping[str, T], golden: Golden) -> dict[str, T]:
    start = crc32(named(golden).encode()) % len(table)
    return dict(islice(cycle(table.items()), start, start + QUICK))


def moved(golden: Golden, renderings: Mapping[str, Callable[[str], str]]) -> dict[str, list[tuple[object, ...]]]:
    """The renderings in which the failure has another key, with what was found there instead."""
    first = first_of(golden.log)
    found = {name: extract(render(golden.log)) for name, render in renderings.items()}
    return {
        name: [(first.rule, one.rule, one.message, one.line_start) for one in shown[:2]]
        for name, shown in found.items()
        if not shown or shown[0].sig_sha != first.sig_sha
    }


def misnamed(golden: Golden, envelopes: Mapping[str, tuple[Callable[[str], str], str | None]]) -> list[str]:
    """The renderings that are told as of another system than the one that shows them."""
    plain = first_of(golden.log).envelope
    found = {rendering: (extract(show(golden.log)), name or plain) for rendering, (show, name) in envelopes.items()}
    return [rendering for rendering, (shown, name) in found.items() if shown and shown[0].envelope != name]


@of_tools
def test_other_renderings_keep_the_key(logs: list[Golden]) -> None:
    """The same failure in other envelopes, among noise, with colour, CRLF or shifted lines has the same key."""
    assert wrong(logs, lambda golden: moved(golden, some_of(RENDERINGS, golden))) == {}


@pytest.mark.slow
@of_tools
def test_all_renderings_keep_the_key(logs: list[Golden]) -> None:
    """And so it has in each of them."""
    assert wrong(logs, lambda golden: moved(golden, RENDERINGS)) == {}


@of_tools
def test_the_envelope_is_named(logs: list[Golden]) -> None:
    """Whatever failed inside, the system that ran it is known by its own marks."""
    assert wrong(logs, lambda golden: misnamed(golden, some_of(ENVELOPES, golden))) == {}


@pytest.mark.slow
@of_tools
def test_each_envelope_is_named(logs: list[Golden]) -> None:
    """And so is each of them."""
    assert wrong(logs, lambda golden: misnamed(golden, ENVELOPES)) == {}


def changed(golden: Golden, changes: Iterable[tuple[str, str]]) -> dict[str, Signature]:
    """The failure of the log after each change of it."""
    for old, new in changes:
        assert old in golden.log, f"{named(golden)}: {old} => {new} changes nothing"
    return {f"{old} => {new}": first_of(golden.log.replace(old, new)) for old, new in changes}


@of_tools
def test_noise_keeps_the_key(logs: list[Golden]) -> None:
    """Another path, time, process or run leaves the key as it is."""

    def moving(golden: Golden) -> list[str]:
        first = first_of(golden.log)
        kept = (first.message, first.sig_sha)
        after = changed(golden, golden.same)
        return [change for change, one in after.items() if (one.message, one.sig_sha) != kept]

    assert wrong(logs, moving) == {}


@of_tools
def test_identity_changes_the_key(logs: list[Golden]) -> None:
    """Another code, status, package, symbol or test is another failure."""

    def blind(golden: Golden) -> list[str]:
        key = first_of(golden.log).sig_sha
        return [change for change, one in changed(golden, golden.other).items() if one.sig_sha == key]

    assert wrong(logs, blind) == {}
