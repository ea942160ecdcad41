"""Golden logs: the verdict stands in the log, and re-rendering the failure does not move the key."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
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
QUICK = 4
"""In so many renderings each log is shown in the quick run, in others the next log; in all of them in the slow one."""

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


def first_of(log: str) -> Signature:
    found = extract(log)
    assert found, "nothing was found"
    return found[0]


@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_the_verdict_stands_in_the_log(golden: Golden) -> None:
    """A golden log yields the rule, code, message and lines that its head names."""
    first = first_of(golden.log)
    assert first.rule == golden.verdict["rule"]
    if os.environ.get("MEM_BLESS"):
        bless(golden, first)
        return
    assert said(first) == {name: golden.verdict.get(name) for name in BLESSED}


@pytest.mark.parametrize("golden", [g for g in GOLDEN if g.verdict["rule"] == "none"], ids=named)
def test_a_log_without_a_failure_yields_nothing(golden: Golden) -> None:
    """A log of a job that passed, or of boilerplate alone, has no signature."""
    assert extract(golden.log) == []


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


@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_other_renderings_keep_the_key(golden: Golden) -> None:
    """The same failure in other envelopes, among noise, with colour, CRLF or shifted lines has the same key."""
    assert moved(golden, some_of(RENDERINGS, golden)) == {}


@pytest.mark.slow
@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_all_renderings_keep_the_key(golden: Golden) -> None:
    """And so it has in each of them."""
    assert moved(golden, RENDERINGS) == {}


@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_the_envelope_is_named(golden: Golden) -> None:
    """Whatever failed inside, the system that ran it is known by its own marks."""
    assert misnamed(golden, some_of(ENVELOPES, golden)) == []


@pytest.mark.slow
@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_each_envelope_is_named(golden: Golden) -> None:
    """And so is each of them."""
    assert misnamed(golden, ENVELOPES) == []


@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_noise_keeps_the_key(golden: Golden) -> None:
    """Another path, time, process or run leaves the key as it is."""
    first = first_of(golden.log)
    for old, new in golden.same:
        assert old in golden.log, f"{old} => {new} changes nothing"
        changed = first_of(golden.log.replace(old, new))
        assert changed.message == first.message, f"{old} => {new}"
        assert changed.sig_sha == first.sig_sha, f"{old} => {new}"


@pytest.mark.parametrize("golden", FAILING, ids=named)
def test_identity_changes_the_key(golden: Golden) -> None:
    """Another code, status, package, symbol or test is another failure."""
    first = first_of(golden.log)
    for old, new in golden.other:
        assert old in golden.log, f"{old} => {new} changes nothing"
        assert first_of(golden.log.replace(old, new)).sig_sha != first.sig_sha, f"{old} => {new}"
