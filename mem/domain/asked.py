"""What a run was asked, as the Temporal UI shows it: in sizes and names, without a text, and without a user's name."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

from mem.domain.accepting import AcceptInput
from mem.domain.grounding import GroundInput
from mem.domain.lookup import LookUpInput
from mem.domain.markdown import bounded, code, table
from mem.domain.query import QueryInput
from mem.domain.rebuild import RebuildInput

Message = AcceptInput | LookUpInput | QueryInput | GroundInput | RebuildInput


def asked(message: Message) -> str:
    """What the message that starts a run asks for, as Markdown."""
    match message:
        case AcceptInput():
            return _acceptance(message)
        case LookUpInput():
            return _lookup(message)
        case QueryInput():
            return _query(message)
        case GroundInput():
            return _turn(message)
        case RebuildInput():
            return _rebuild(message)
        case _:
            assert_never(message)


def _acceptance(request: AcceptInput) -> str:
    evidence = sum(_size(each.text) for each in request.evidence)
    return _told(
        "A candidate for a memory: a gate keeps or refuses it, and what is kept is made findable by its failure.",
        {
            "project": code(request.project),
            "level": request.level,
            "tool": _name(request.tool),
            "text": _bytes(_size(request.text)),
            "evidence": f"{_many(len(request.evidence), 'record')}, {_bytes(evidence)}" if request.evidence else "",
            "parents": _count(request.parents),
            "supersedes": _count(request.supersedes),
            "owner": "" if request.user_id is None else "a user",
            "visibility": request.visibility,
            "in spite of the gate": "" if request.override is None else "yes, with a person's reason",
            "may be told of": _rights(request.readable),
            "the caller waits for": "all steps" if request.wait == "all" else "the durable point",
        },
    )


def _lookup(request: LookUpInput) -> str:
    log = request.signature_source
    return _told(
        "A lookup: what is known about a failure, a task or a tool, the exact failure first (tier 1), then similar "
        "ones (tier 2), then documentation (tier 3).",
        {
            "project": code(request.project),
            "tool": _name(request.tool),
            "failure": "" if log is None else f"a log of {_bytes(_size(log))}{_distilled(request.original_bytes)}",
            "task": "" if request.task is None else f"{len(request.task):,} characters",
            "scope": request.scope or "as each leg has it",
            "budget": f"{request.budget:,} tokens",
            "may be told of": _rights(request.readable),
        },
    )


def _query(request: QueryInput) -> str:
    return _told(
        "A question to the memories of a project and the shared ones.",
        {
            "project": code(request.project),
            "question": f"{len(request.question):,} characters",
            "levels": ", ".join(request.levels),
            "hits": f"{request.k} at most",
            "explained": "yes" if request.explain else "",
            "may be told of": _rights(request.readable),
        },
    )


def _turn(request: GroundInput) -> str:
    return _told(
        "Context for the next turn of a user, of whom the run names a hash alone.",
        {
            "message": f"{_bytes(_size(request.message))}{_distilled(request.original_bytes)}",
            "scope": request.scope_level,
            "mode": request.read_mode,
            "containers": _count(request.containers),
            "context": f"{request.budgets.max_output_tokens:,} tokens at most",
            "memories": f"{request.budgets.max_candidate_memories:,} read at most",
            "may be told of": _rights(request.readable),
        },
    )


def _rebuild(request: RebuildInput) -> str:
    match request.task:
        case "derive":
            what = "The signatures of all memories, derived anew from their evidence."
        case "replay":
            what = "Every table but the ledger, made anew from the journal."
        case "regenerate":
            what = "The projections of all live memories, asked for again."
        case _:
            assert_never(request.task)
    writes = request.apply if request.task == "regenerate" else not request.check
    return _told(
        what,
        {
            "writes": "what comes out" if writes else "nothing: what comes out is only compared",
            "algorithm": "" if request.algo is None else f"version {request.algo}",
            "at a time": f"{request.page:,} {'records' if request.task == 'replay' else 'memories'}",
        },
    )


def _told(what: str, facts: Mapping[str, str]) -> str:
    rows = [[name, value] for name, value in facts.items() if value]
    return bounded([what, *table("Asked", ["what", "value"], rows)])


def _size(text: str) -> int:
    return len(text.encode("utf-8", "replace"))


def _bytes(size: int) -> str:
    return f"{size:,} bytes"


def _many(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def _count(things: Collection[object]) -> str:
    return f"{len(things):,}" if things else ""


def _name(name: str | None) -> str:
    return "" if name is None else code(name)


def _distilled(original: int | None) -> str:
    return "" if original is None else f", distilled from {_bytes(original)}"


def _rights(readable: Collection[str] | None) -> str:
    return "every project" if readable is None else f"{_many(len(readable), 'project')} that the caller may read"
