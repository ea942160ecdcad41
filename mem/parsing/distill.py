"""A small text that fails like a large log.

What is left out is replaced by one line that says how much it was, so that distances still
count. The result is checked: where it does not give the signatures of the whole, more is kept.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from mem.domain.canonical import sha256_hex
from mem.domain.signatures import Signature
from mem.parsing.clean import ELIDED, cap
from mem.parsing.decode import without_surrogates
from mem.parsing.extract import SIGNATURES, ranked, signature
from mem.parsing.page import Page, read
from mem.parsing.rank import Scored

_WIDTHS = (12, 6, 40, 4, 120, 2)
_MARKS = 60


@dataclass(frozen=True, slots=True)
class Distilled:
    """The failing blocks of a text with the lines that extraction needs.

    `line_map[i]` is the line of the original, counted from 1, that line i of `text` stands for.
    """

    text: str
    line_map: list[int]
    source_sha: str
    source_bytes: int


def distill(text: str, *, max_bytes: int = 32768) -> Distilled:
    """`text` cut to `max_bytes`: the same signatures, and through the map the same lines."""
    data = text.encode("utf-8", "surrogatepass")
    sha, size = sha256_hex(data), len(data)
    lines = without_surrogates(text).split("\n")
    if size <= max_bytes:
        return Distilled(text, list(range(1, len(lines) + 1)), sha, size)
    page = read(text)
    best = ranked(page, SIGNATURES)
    wanted = [_place(signature(page, one, key)) for one, key in best]
    tried: list[tuple[int, str, list[int]]] = []
    for width in _WIDTHS:
        body, line_map = _joined(lines, page, _kept(page, [one for one, _ in best], width))
        if len(body.encode()) > max_bytes:
            continue
        agreeing = _agreeing(body, line_map, wanted)
        if agreeing == len(wanted):
            return Distilled(body, line_map, sha, size)
        tried.append((agreeing, body, line_map))
    return _fallback(lines, page, best_effort=tried, max_bytes=max_bytes, sha=sha, size=size)


def _place(one: Signature) -> tuple[str, int, int]:
    return one.sig_sha, one.line_start, one.line_end


def _agreeing(body: str, line_map: list[int], wanted: list[tuple[str, int, int]]) -> int:
    """How many signatures, from the first, are those of the whole; -1 if there are others."""
    page = read(body)
    found = [
        (key.sig_sha, line_map[one.candidate.start], line_map[one.candidate.end])
        for one, key in ranked(page, SIGNATURES)
    ]
    if not wanted:
        return 0 if not found else -1
    same = 0
    for left, right in zip(found, wanted, strict=False):
        if left != right:
            return same
        same += 1
    return same if len(found) == len(wanted) else same - 1


def _kept(page: Page, best: list[Scored], width: int) -> set[int]:
    """The lines around the blocks, the structure of the log, and what the ranking looked at."""
    last = len(page.lines) - 1
    kept = {0, last}
    for one in best:
        candidate = one.candidate
        kept.update(range(max(0, candidate.start - width), min(last, candidate.end + width) + 1))
        if candidate.title is not None:
            kept.add(candidate.title)
        if one.echo is not None:
            kept.add(one.echo)
        index = page.cleaned.command_at(candidate.anchor)
        for command in page.cleaned.commands[max(0, index) : index + 2]:
            kept.update((command.start, min(command.end, last)))
    marks = sorted(page.cleaned.marks)
    kept.update(marks[:_MARKS] + marks[-_MARKS:])
    for command in page.cleaned.commands:
        if command.status:
            kept.update((command.start, min(command.end, last)))
            kept.update(range(max(command.start, command.end - 3), min(command.end + 3, last)))
    return kept


def _joined(lines: list[str], page: Page, kept: Iterable[int]) -> tuple[str, list[int]]:
    """The kept lines, each gap as one line that counts what it leaves out."""
    out: list[str] = []
    line_map: list[int] = []
    position = 0
    for number in [*sorted(kept), len(lines)]:
        if number - position == 1 and position < len(lines):
            out.append(cap(lines[position]))
            line_map.append(position + 1)
        elif number > position:
            full = sum(1 for line in range(position, number) if page.lines[line].strip())
            out.append(ELIDED.format(lines=number - position, full=full))
            line_map.append(position + 1)
        if number < len(lines):
            out.append(cap(lines[number]))
            line_map.append(number + 1)
        position = number + 1
    return "\n".join(out), line_map


def _fallback(
    lines: list[str],
    page: Page,
    *,
    best_effort: list[tuple[int, str, list[int]]],
    max_bytes: int,
    sha: str,
    size: int,
) -> Distilled:
    """The attempt that agrees longest; without any the end of the text, as far as it fits."""
    if best_effort:
        _, body, line_map = max(best_effort, key=lambda attempt: (attempt[0], -len(attempt[1])))
        return Distilled(body, line_map, sha, size)
    first, room = len(lines), max_bytes
    while first > 0 and room >= len(cap(lines[first - 1]).encode()) + 1:
        first -= 1
        room -= len(cap(lines[first]).encode()) + 1
    body, line_map = _joined(lines, page, range(first, len(lines)))
    return Distilled(body, line_map, sha, size)
