"""One memory as a person reads it, on one screen: what is long is cut, and says so."""

from __future__ import annotations

from collections.abc import Sequence

from mem.cli.gaps import told_failure
from mem.cli.headline import times
from mem.cli.symptoms import EMPTY, without_projection
from mem.cli.terminal import Style, Styled, cut, flat, unsteered, wrapped
from mem.domain.shown import Kin, ShownMemory, ShownSignature

TEXT_LINES = 14
"""Of the text; the last third of them are its last lines, where a trace tells its error."""
SYMPTOM_LINES = 6
SIGNATURES = 3
KIN = 5
PLACES = 3
_IN_FULL = "in full: --format json"


def told_memory(shown: ShownMemory, *, width: int) -> list[Styled]:
    """What it is and says, whose place it takes, by what it is found, and what it stands between.

    Args:
        width: of the lines, in columns.
    """
    return [
        *_head(shown, width),
        *_text(shown.text, width, raw=shown.level == "L0"),
        *_line(shown, width),
        *_symptoms(shown, width),
        *_signatures(shown.signatures, width),
        *_kin("rests on", shown.parents, shown.more_parents, width),
        *_kin("carries", shown.children, shown.more_children, width),
    ]


def _head(shown: ShownMemory, width: int) -> list[Styled]:
    facts = [f"{shown.level} {shown.sha[:12]}", flat(shown.project) if shown.project is not None else "shared"]
    facts += [] if shown.live else ["removed" if shown.level == "R" else "superseded"]
    lines = [Styled(line, Style.TITLE) for line in wrapped(", ".join(facts), width)]
    lines += [Styled(shown.sha, Style.FAINT)]
    if shown.source is not None:
        lines += _facts(f"from: {_place(shown.source, shown.turn)}", width)
    if shown.accepted is not None:
        lines += _facts(f"accepted {shown.accepted.at}, request {shown.accepted.request_id}", width)
    return lines


def _text(text: str, width: int, *, raw: bool) -> list[Styled]:
    """Line by line, each indented as it is; what is too wide is wrapped, or cut where the text is a raw one."""
    lines: list[str] = []
    for line in unsteered(text).expandtabs(4).split("\n"):
        margin = " " * (2 + min(len(line) - len(line.lstrip()), width // 2))
        if raw:
            lines.append(cut(margin + line.strip(), width).rstrip())
        else:
            lines += wrapped(line, width, indent=margin) or [""]
    while lines and not lines[-1]:
        lines.pop()
    if len(lines) <= TEXT_LINES:
        return [Styled(""), *map(Styled, lines)]
    tail = TEXT_LINES // 3
    head = TEXT_LINES - 1 - tail
    note = f"… {len(lines) - head - tail:,} more lines; {len(text.encode()):,} bytes {_IN_FULL}"
    left_out = [Styled(line, Style.FAINT) for line in wrapped(note, width, indent="  ", later="    ")]
    return [Styled(""), *map(Styled, lines[:head]), *left_out, *map(Styled, lines[-tail:])]


def _line(shown: ShownMemory, width: int) -> list[Styled]:
    """Who stands in its place, and in whose place it stands."""
    lines: list[Styled] = []
    if not shown.live and shown.level == "R":
        told = "removed: its document has it no more, and nothing finds it"
        lines += [Styled(line, Style.FAIR) for line in wrapped(told, width, later="    ")]
    elif not shown.live:
        by = f"superseded by {shown.superseded_by[:12]}" if shown.superseded_by else "superseded"
        if shown.successor is None:
            by += "; no live memory that everybody may read stands in its place"
        elif shown.successor != shown.superseded_by:
            by += f"; the newest is {shown.successor[:12]}"
        lines += [Styled(line, Style.FAIR) for line in wrapped(by, width, later="    ")]
    if shown.supersedes:
        old = [sha[:12] for sha in shown.supersedes[-KIN:]]
        more = f", and {len(shown.supersedes) - KIN} before" if len(shown.supersedes) > KIN else ""
        lines += [Styled(line) for line in wrapped(f"in place of {', '.join(old)}{more}", width, later="    ")]
    return [Styled(""), *lines] if lines else []


def _symptoms(shown: ShownMemory, width: int) -> list[Styled]:
    vectors = " and ".join(shown.vectors) or "none yet"
    projection = shown.projection
    if projection is None:
        return [Styled(""), *_facts(f"vectors: {vectors}; {without_projection(shown.level)}", width)]
    about = f"by {flat(projection.model_id)}, prompt {projection.prompt_sha[:12]}; vectors: {vectors}"
    lines = [Styled(""), Styled("found by", Style.TITLE)]
    symptoms = [f"  {cut(flat(line), width - 2)}" for line in projection.text.splitlines()] or [f"  {EMPTY}"]
    lines += map(Styled, symptoms[:SYMPTOM_LINES])
    lines += _more(len(symptoms) - SYMPTOM_LINES)
    return lines + _facts(about, width)


def _signatures(signatures: Sequence[ShownSignature], width: int) -> list[Styled]:
    """Those seen most first."""
    if not signatures:
        return []
    lines = [Styled(""), Styled("signatures", Style.TITLE)]
    ordered = sorted(signatures, key=lambda one: (-one.seen_count, one.sig_sha))
    for one in ordered[:SIGNATURES]:
        lines += map(Styled, wrapped(_seen(one), width, indent="  ", later="    "))
        lines += [Styled(f"    {cut(flat(said), width - 4)}")] if (said := told_failure(one.code, one.message)) else []
    return lines + _more(len(signatures) - SIGNATURES)


def _seen(one: ShownSignature) -> str:
    name = f"{one.sig_sha[:12]} {one.tool} {one.rule}"
    if not one.sightings:
        return f"{name}, seen by nobody yet"
    days = f"on {one.last_seen}" if one.first_seen == one.last_seen else f"from {one.first_seen} to {one.last_seen}"
    places = [f"{each.project} {each.seen_count}" for each in one.sightings[:PLACES]]
    more = [f"{len(one.sightings) - PLACES} more"] if len(one.sightings) > PLACES else []
    return f"{name}, seen {times(one.seen_count)} {days}: {', '.join([*places, *more])}"


def _kin(what: str, kin: Sequence[Kin], more: int, width: int) -> list[Styled]:
    if not kin:
        return []
    lines = [Styled(""), Styled(what, Style.TITLE)]
    for one in kin[:KIN]:
        place = f", {_place(one.source, one.turn)}" if one.source is not None else ""
        lines += map(Styled, wrapped(f"{one.level} {one.sha[:12]}{place}", width, indent="  ", later="    "))
        lines += [Styled(f"    {cut(flat(one.title), width - 4)}")] if one.title else []
    return lines + _more(len(kin) + more - KIN)


def _place(source: str, turn: int | None) -> str:
    return flat(source) + (f" turn {turn}" if turn is not None else "")


def _more(count: int) -> list[Styled]:
    return [Styled(f"  … and {count} more; {_IN_FULL}", Style.FAINT)] if count > 0 else []


def _facts(text: str, width: int) -> list[Styled]:
    return [Styled(line, Style.FAINT) for line in wrapped(unsteered(text), width, later="    ")]
