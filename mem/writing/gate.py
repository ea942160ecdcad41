"""The gate: which candidates are worth keeping."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import NamedTuple, Protocol

from mem.domain.accepting import AcceptStep, Rule, Verdict
from mem.domain.journal import Entry
from mem.domain.nodes import Node, StoredNode, Visibility
from mem.ports import Journal, Memories
from mem.writing.candidate import Candidate

# Han, kana and Thai are written without spaces: there each character tells about as much as a short word.
_UNSPACED = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_WORD = re.compile(rf"[{_UNSPACED}]|[^\W_{_UNSPACED}](?:(?![{_UNSPACED}])[\w'-])*")
_ALONE = re.compile(f"[{_UNSPACED}]")
_SHA_LENGTH = 64
_RANK: Mapping[Visibility, int] = {"global": 0, "user": 1, "container": 2}
"""From what everybody may read to what one conversation may."""


class _TrivialRule(NamedTuple):
    min_telling_words: int
    empty_words: frozenset[str]


class Judge(Protocol):
    """Who is asked about a candidate that no deterministic rule objects to."""

    async def __call__(self, candidate: Candidate, standing: Verdict, *, last: bool) -> Verdict:
        """The verdict; `standing` where none can be had and it is asked for the last time."""
        ...


def verdict_key(step: AcceptStep) -> str:
    """The journal key of the verdict."""
    return f"verdict:accept:{step.project}:{step.request_id}"


async def judge(memories: Memories, candidate: Candidate) -> Verdict:
    """Apply the deterministic rules in their order; the first that objects decides."""
    for verdict in (
        _no_evidence(candidate),
        await _bad_parents(memories, candidate),
        await _duplicate(memories, candidate),
        _trivial(candidate),
    ):
        if verdict is not None:
            return verdict
    return Verdict(accept=True, reason="No rule objects.")


async def gate(
    journal: Journal, memories: Memories, step: AcceptStep, candidate: Candidate, then: Judge | None = None
) -> Verdict:
    """The recorded verdict of an acceptance, or a new one, recorded. The first recorded verdict stands.

    Args:
        then: asked where no rule objects.
    """
    key = verdict_key(step)
    recorded = await journal.find(key)
    if recorded is None:
        verdict = await judge(memories, candidate)
        if verdict.accept and then is not None:
            verdict = await then(candidate, verdict, last=step.last_ask)
        data = {"operation": "accept", "project": step.project, "request_id": step.request_id}
        recorded = await journal.record(
            Entry(kind="verdict", key=key, data=data | {"verdict": verdict.model_dump(mode="json")})
        )
    return Verdict.model_validate(recorded.data["verdict"])


def telling_words(text: str) -> set[str]:
    """The distinct words of a text that could tell a reader something, in lower case."""
    empty = _trivial_rule().empty_words
    words = {match.group().lower() for match in _WORD.finditer(text)}
    return {word for word in words if word not in empty and _tells(word)}


def _tells(word: str) -> bool:
    return len(word) > 2 or any(char.isdigit() or _ALONE.match(char) for char in word)


def _no_evidence(candidate: Candidate) -> Verdict | None:
    if candidate.node.level == "L2":
        if candidate.parents:
            return None
        return _reject("no-evidence", "A synthesis (L2) needs the lessons (L1) that it is drawn from, as `parents`.")
    if candidate.parents or any(each.text.strip() for each in candidate.evidence):
        return None
    return _reject("no-evidence", "A lesson needs evidence: the log or transcript that shows it, or L0 parents.")


async def _bad_parents(memories: Memories, candidate: Candidate) -> Verdict | None:
    wanted = "L0" if candidate.node.level == "L1" else "L1"
    found = await memories.nodes([*candidate.parents, *candidate.supersedes])
    for sha in candidate.parents:
        if (fault := _fault(candidate, found.get(sha), wanted)) is not None:
            return _reject("bad-parents", f"Parent {_short(sha)} {fault}.")
    for sha in candidate.supersedes:
        if sha == candidate.node.sha:
            return _reject("bad-parents", f"The memory to supersede, {_short(sha)}, is the candidate itself.")
        if (fault := _fault(candidate, found.get(sha), None)) is not None:
            return _reject("bad-parents", f"The memory to supersede, {_short(sha)}, {fault}.")
    return None


def _fault(candidate: Candidate, node: StoredNode | None, level: str | None) -> str | None:
    """Why `node` cannot be a parent (of that level) of the candidate; an unreadable node is told as a missing one."""
    if node is None or not _readable(node, candidate.node):
        return f"does not exist in project {candidate.node.project}"
    if level is not None and node.level != level:
        return f"is {node.level}, not {level}"
    if level is None and node.level not in ("L1", "L2"):
        return f"is {node.level}, not a lesson"
    if node.superseded_by is not None:
        return f"was superseded by {_short(node.superseded_by)}; name that one"
    return _unlike_readers(candidate.node, node, parent=level is not None)


def _unlike_readers(mine: Node, other: Node, *, parent: bool) -> str | None:
    """A parent is shown to whoever reads the child, and a superseded memory is replaced for whoever could read it."""
    if parent and _RANK[mine.visibility] < _RANK[other.visibility]:
        return f"has visibility {other.visibility}, its child would be {mine.visibility}"
    if not parent and _RANK[mine.visibility] > _RANK[other.visibility]:
        return f"has visibility {other.visibility}, its successor would be {mine.visibility} only"
    return None


def _readable(node: Node, reader: Node) -> bool:
    if node.project != reader.project:
        return False
    if node.visibility == "global":
        return True
    return node.owner == reader.owner and (node.visibility == "user" or node.container == reader.container)


async def _duplicate(memories: Memories, candidate: Candidate) -> Verdict | None:
    sha = await memories.live_duplicate(candidate.node)
    if sha is not None and sha not in candidate.supersedes:
        return _reject("duplicate", f"Memory {_short(sha)} says the same.", duplicate_of=sha)
    own = candidate.node.sha
    old = (await memories.nodes([own])).get(own)
    if old is not None and old.superseded_by is not None:
        newest = await memories.successor(own) or old.superseded_by
        return _reject("duplicate", f"This lesson was superseded; its successor is {newest}.")
    return None


def _trivial(candidate: Candidate) -> Verdict | None:
    rule = _trivial_rule()
    telling = telling_words(candidate.node.text)
    if len(telling) >= rule.min_telling_words:
        return None
    return _reject("trivial", "The text names neither a cause nor a remedy nor a decision that could help next time.")


def _reject(rule: Rule, reason: str, *, duplicate_of: str | None = None) -> Verdict:
    return Verdict(accept=False, rule=rule, reason=reason, duplicate_of=duplicate_of)


def _short(sha: str) -> str:
    return sha[:12] if len(sha) == _SHA_LENGTH else sha[:_SHA_LENGTH]


@cache
def _trivial_rule() -> _TrivialRule:
    rules = tomllib.loads(files(__package__).joinpath("rules/gate.toml").read_text(encoding="utf-8"))["trivial"]
    return _TrivialRule(rules["min_telling_words"], frozenset(rules["empty_words"]))
