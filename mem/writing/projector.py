"""The deterministic projector: what evidence shows, what the memory quotes, what a lexicon knows of the cause."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import NamedTuple

from mem.domain.accepting import MadeProjection, SymptomLine
from mem.domain.canonical import canonical_sha
from mem.parsing.excerpts import Quoted, Reading
from mem.parsing.gist import gist
from mem.ports import EvidenceText, ProjectorKey
from mem.writing.lexicon import Told, lexicon, packaged
from mem.writing.recognise import RecognitionLimits, Seen, recognise
from mem.writing.statements import packaged_statements, statements_of
from mem.writing.telling import Judgement, packaged_rules, teller

MODEL_ID = "mem-extractive-2"


class Limits(NamedTuple):
    """What bounds a projection; all of it is part of what a projection is recorded under."""

    words: int = 120
    """About what an embedder reads of messages full of names."""
    line_words: int = 30
    line_letters: int = 5
    evidence_lines: int = 8
    evidence_blocks: int = 5
    """So many lines of blocks go in, once the most telling are in."""
    weak_lines: int = 4
    statements: int = 6
    aside: int = 3000
    """So many characters of each record are read for how the cause is told."""
    entries: int = 2
    entry_lines: tuple[int, ...] = (5, 3)
    entry_share: float = 0.85
    """A further entry is taken where it is at least so sure as the first, by this share."""
    entry_floor: float = 6.0
    recognised: RecognitionLimits = RecognitionLimits()
    told_floor: float = 0.0
    """From where on the memory alone tells of a failure."""
    evidence_floor: float = -3.25
    """From where on failing lines of the evidence count that a rule or the lexicon knows."""
    failed_floor: float = -6.0
    """The same where a rule knows them in output that says of itself that it failed."""
    against_floor: float = -3.0
    """Such lines also count, however little a terse memory says, where no more than this speaks against a failure."""


LIMITS = Limits()


class ExtractiveProjector:
    """Derives the symptom lines of a memory: no model, no network, the same lines every time."""

    def __init__(self, limits: Limits = LIMITS) -> None:
        self._limits = limits

    def key(self) -> ProjectorKey:
        """This projector's version, and the sha of the rules, lexicon and limits that the text depends on."""
        return ProjectorKey(MODEL_ID, rules_sha(self._limits))

    async def project(self, text: str, evidence: Sequence[EvidenceText]) -> MadeProjection:
        """The most telling lines first; none where the memory explains no failure."""
        lines = await asyncio.to_thread(derive, text, evidence, self._limits)
        return MadeProjection.of(lines, **self.key()._asdict())


def derive(text: str, evidence: Sequence[EvidenceText], limits: Limits = LIMITS) -> list[SymptomLine]:
    """The symptom lines of a memory, at most as many and as long as `limits` allow."""
    alone = lexicon().told(text)
    judged = teller().judge(text, alone[0].score if alone else 0.0)
    failed = judged.sure >= limits.told_floor
    if judged.sure < limits.failed_floor and judged.against < limits.against_floor:
        return []
    told = lexicon().told(text, aside="\n".join(each.text[: limits.aside] for each in evidence))
    readings = [(each.sha, Reading(each.text)) for each in evidence]
    output = [(sha, reading) for sha, reading in readings if not reading.is_talk]
    seen = recognise(readings, told, limits.recognised)
    if not failed and not _shows(seen, [reading for _, reading in output], judged, limits):
        return []
    quoted = [SymptomLine(text=line, origin="memory") for line in statements_of(text)[: limits.statements]]
    blocks = _blocks((sha, reading.telling(limit=limits.evidence_lines)) for sha, reading in output)
    blocks = blocks or _blocks((sha, reading.levelled(limit=limits.weak_lines)) for sha, reading in output)
    if blocks or seen.alone:
        return list(_bounded([*seen.lines, *blocks[: limits.evidence_blocks], *quoted, *seen.widened], limits))
    weak = _blocks((sha, reading.weakly(limit=limits.weak_lines, known=True)) for sha, reading in output)
    # The bare end of an output says less than how such a cause looks, where the memory tells of one.
    ends = _blocks((sha, reading.ending(limit=limits.weak_lines)) for sha, reading in output)
    return list(_bounded([*seen.lines, *weak, *quoted, *_known(told, limits), *ends], limits))


def _shows(seen: Seen, output: Sequence[Reading], judged: Judgement, limits: Limits) -> bool:
    """Whether the output shows a failure that the memory may well be about, though its own words leave that open."""
    known = [reading for reading in output if reading.is_known]
    if not known and not seen.alone:
        return False
    floor = limits.failed_floor if any(reading.has_failed for reading in known) else limits.evidence_floor
    return judged.sure >= floor or judged.against >= limits.against_floor


def _blocks(found: Iterable[tuple[str, list[Quoted]]]) -> list[SymptomLine]:
    """The best block of each record, then the next of each."""
    return [line for _, line in sorted(_placed(found), key=lambda one: one[0])]


def _placed(found: Iterable[tuple[str, list[Quoted]]]) -> Iterator[tuple[tuple[int, int, int], SymptomLine]]:
    for record, (sha, lines) in enumerate(found):
        for number, quoted in enumerate(lines):
            line = SymptomLine(text=gist(quoted.text), origin="evidence", evidence_sha=sha, line=quoted.line)
            yield (quoted.rank, record, number), line


def _known(told: Sequence[Told], limits: Limits) -> Iterator[SymptomLine]:
    """How the causes look that the memory tells of, the surest first."""
    for rank, one in enumerate(told[: limits.entries]):
        if one.score < max(limits.entry_floor, limits.entry_share * told[0].score):
            break
        for line in one.entry.shows[: limits.entry_lines[rank]]:
            yield SymptomLine(text=line, origin="lexicon", entry=one.entry.id)


def _bounded(lines: Iterable[SymptomLine], limits: Limits) -> Iterator[SymptomLine]:
    """The first lines that fit, each once; a long one is cut."""
    seen: set[str] = set()
    left = limits.words
    for line in lines:
        words = line.text.split()[: min(limits.line_words, left)]
        text = " ".join(words)
        if sum(map(str.isalnum, text)) < limits.line_letters or text.casefold() in seen:
            continue
        seen.add(text.casefold())
        left -= len(words)
        yield line.model_copy(update={"text": text})
        if left <= 0:
            return


@cache
def rules_sha(limits: Limits = LIMITS) -> str:
    """The sha over limits, lexicon, and all rule files that a projection depends on, by name."""
    folder = files("mem.parsing").joinpath("rules")
    toml = sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
    return canonical_sha(
        {
            "limits": limits._asdict(),
            "parsing": {path.name: path.read_text("utf-8") for path in toml},
            "lexicon": packaged(),
            "telling": packaged_rules(),
            "statements": packaged_statements(),
        }
    )
