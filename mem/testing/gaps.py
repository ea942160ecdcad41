"""The gaps of the fakes."""

from __future__ import annotations

from collections import Counter
from datetime import date

from mem.domain.gaps import Gap
from mem.domain.signatures import Signature
from mem.ports import GapQuery, GapsFound
from mem.testing.state import FakeState, Occurrence


def find(state: FakeState, query: GapQuery) -> GapsFound:
    """The gaps, those seen most first, and how many there are."""
    explaining = {sha for sha in state.nodes if _explains(state, sha, query)}
    known = {sig_sha for sig_sha, sha in state.links if sha in explaining}
    sightings = [
        (one, day)
        for one, day in state.occurrences.items()
        if (query.counted is None or one.project in query.counted)
        and one.sig_sha not in known
        and not _shadowed(state, state.signatures[one.sig_sha], explaining, query)
        and (query.tool is None or state.signatures[one.sig_sha].tool == query.tool)
    ]
    since = query.since or date.min
    found = sorted({one.sig_sha for one, day in sightings if day >= since})
    variants = Counter(state.signatures[sig_sha].sig_coarse for sig_sha in found)
    explained = Counter(state.signatures[sig_sha].sig_coarse for sig_sha in known)
    gaps = []
    for sig_sha in found:
        signature = state.signatures[sig_sha]
        recent = [(one, day) for one, day in sightings if one.sig_sha == sig_sha and day >= since]
        gaps.append(
            Gap(
                **signature.model_dump(include={"sig_sha", "sig_coarse", "tool", "rule", "code", "message"}),
                seen_count=len(recent),
                first_seen=min(day for one, day in sightings if one.sig_sha == sig_sha),
                last_seen=max(day for _, day in recent),
                projects=_by_count([one for one, _ in recent]),
                variants=variants[signature.sig_coarse] - 1,
                known_variants=explained[signature.sig_coarse],
            )
        )
    gaps.sort(key=lambda gap: (-gap.seen_count, -gap.last_seen.toordinal(), gap.sig_sha))
    return GapsFound(gaps[: query.limit], len(gaps))


def _explains(state: FakeState, sha: str, query: GapQuery) -> bool:
    """Whether a node, or the live successor in its place, is there for whoever asks."""
    passed: set[str] = set()
    end = sha
    while end in state.superseded_by and end not in passed:
        passed.add(end)
        end = state.superseded_by[end]
    return end not in passed and all(
        state.nodes[one].visibility == "global"
        and (query.readable is None or state.nodes[one].project in query.readable)
        for one in (sha, end)
    )


def _shadowed(state: FakeState, one: Signature, explaining: set[str], query: GapQuery) -> bool:
    """Whether a signature of another version says the same, and stands for this one."""
    algo = query.algo
    twins = [
        other for other in state.signatures.values() if _says(other) == _says(one) and _is_told(state, other, query)
    ]
    if one.algo != algo:
        return any(other.algo == algo for other in twins)
    if not _is_told(state, one, query):
        return False
    current = {sha for sig_sha, sha in state.links if state.signatures[sig_sha].algo == algo}
    others = {other.sig_sha for other in twins if other.algo != algo}
    return any(sig_sha in others and sha in explaining - current for sig_sha, sha in state.links)


def _is_told(state: FakeState, signature: Signature, query: GapQuery) -> bool:
    """Whether a signature was seen, or is linked, in a project that may be read."""
    if query.readable is None:
        return True
    seen = {one.project for one in state.occurrences if one.sig_sha == signature.sig_sha}
    linked = {state.nodes[sha].project for sig_sha, sha in state.links if sig_sha == signature.sig_sha}
    return not (seen | linked).isdisjoint(query.readable)


def _says(signature: Signature) -> tuple[str, str, str | None, str]:
    return signature.tool, signature.rule, signature.code, signature.message


def _by_count(sightings: list[Occurrence]) -> list[str]:
    times = Counter(one.project for one in sightings)
    return sorted(times, key=lambda project: (-times[project], project))
