"""`mem symptoms show`: what failure a memory is found by, and where each of its lines comes from."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from mem.addresses import find_addresses
from mem.cli.common import Format, OutputFormat, add_noun, explained, run, show_json, tell
from mem.domain.accepting import MadeProjection, Projection, SymptomLine
from mem.domain.nodes import Level, StoredNode
from mem.settings import Settings

if TYPE_CHECKING:
    from mem.domain.journal import Record
    from mem.ports import Journal

_LESSONS: tuple[Level, ...] = ("L1", "L2")
EMPTY = "empty: the memory explains no failure"


class Shown(NamedTuple):
    """A node, its projection, and what the journal has on it; without a projection, nothing more."""

    node: StoredNode
    projection: Projection | None
    recorded_at: str | None
    origins: list[dict[str, Any]]


def register(app: typer.Typer) -> None:
    """Add the commands of this noun."""
    add_noun(app, "symptoms", "Symptom projections.").command(name="show")(show_symptoms)


def show_symptoms(
    sha: Annotated[str, typer.Argument(metavar="SHA", help="The memory's sha, or an unambiguous prefix of it.")],
    output: Format = OutputFormat.TEXT,
) -> None:
    """Show the symptom projection of a memory."""
    with explained():
        found = run(_shown(sha))
        show_json(_document(found)) if output is OutputFormat.JSON else tell(_told(found))


async def _shown(prefix: str) -> Shown:
    from mem.wiring import open_store  # noqa: PLC0415 - with what follows, half a second to import

    async with open_store(find_addresses(Settings())) as store:
        sha = await store.memories.resolve(prefix)
        node = (await store.memories.nodes([sha]))[sha]
        projection = await store.memories.projection(sha)
        if projection is None:
            return Shown(node, None, None, [])
        record = await _record(store.journal, sha, projection)
        evidence = {each.stored_sha: each for each in await store.memories.evidence(sha)}
        origins = [_origin(line, evidence.get(line.evidence_sha or "")) for line in _lines(record)]
        return Shown(node, projection, record.time if record is not None else None, origins)


async def _record(journal: Journal, sha: str, projection: Projection) -> Record | None:
    """What the journal has on the projection that stands: the last one that was made anew, or else the first one."""
    from mem.writing.entries import projection_key, regenerated_prefix  # noqa: PLC0415 - half a second to import

    last = None
    while found := await journal.find(f"{regenerated_prefix(sha)}{1 if last is None else last.data['revision'] + 1}"):
        last = found
    return last or await journal.find(projection_key(sha, projection.prompt_sha, projection.model_id))


def _lines(record: Record | None) -> Sequence[SymptomLine]:
    """The lines as the journal keeps them; records of earlier versions keep the text alone."""
    return MadeProjection.model_validate(record.data).lines if record is not None else []


def _origin(line: SymptomLine, evidence: StoredNode | None) -> dict[str, Any]:
    return {
        "text": line.text,
        "origin": line.origin,
        "evidence_sha": line.evidence_sha,
        "source": evidence.source if evidence is not None else None,
        "turn": evidence.turn if evidence is not None else None,
        "line": line.line,
        "entry": line.entry,
    }


def _document(found: Shown) -> dict[str, Any]:
    projection = found.projection
    text = projection.text or None if projection is not None else None
    return {
        "sha": found.node.stored_sha,
        "text": text,
        "model_id": projection.model_id if projection is not None else None,
        "prompt_sha": projection.prompt_sha if projection is not None else None,
        "lines": text.splitlines() if text is not None else [],
        "recorded_at": found.recorded_at,
        "origins": found.origins,
    }


def _told(found: Shown) -> str:
    node, projection = found.node, found.projection
    lines = [node.stored_sha]
    if projection is None:
        lines.append(without_projection(node.level))
    else:
        when = f", {found.recorded_at}" if found.recorded_at is not None else ""
        lines.append(f"by {projection.model_id}, prompt {projection.prompt_sha[:12]}{when}")
        origins = {each["text"]: _place(each) for each in found.origins}
        for line in projection.text.splitlines():
            lines.append(f"  {line}")
            if line in origins:
                lines.append(f"    from {origins[line]}")
        if not projection.text:
            lines.append(f"  {EMPTY}")
    return "\n".join(lines)


def without_projection(level: Level) -> str:
    """Why a node has no projection."""
    if level not in _LESSONS:
        return f"no projection was made: this is {level}, and only lessons (L1, L2) get one"
    return "no projection yet: it is pending, and the run that accepted the memory goes on trying"


def _place(origin: dict[str, Any]) -> str:
    """Where a line comes from, in words."""
    place = {"memory": "the memory itself", "model": "the model"}.get(origin["origin"], origin["origin"])
    if origin["entry"] is not None:
        place += f" {origin['entry']}"
    if origin["evidence_sha"] is not None:
        place += f" {origin['evidence_sha'][:12]}"
        if origin["source"] is not None:
            place += f", {origin['source']}"
        if origin["turn"] is not None:
            place += f" turn {origin['turn']}"
    return place if origin["line"] is None else f"{place}, line {origin['line']}"
