"""The deterministic projector: the failure lines that the evidence shows, and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable

from mem.domain.accepting import MadeProjection, SymptomLine
from mem.domain.canonical import canonical_sha
from mem.parsing import failure_lines
from mem.ports import EvidenceText, ProjectorKey

MODEL_ID = "mem-extractive-1"
LINES_PER_EVIDENCE = 8
MAX_LINES = 24


class ExtractiveProjector:
    """Quotes the best failure lines of each evidence record; no model, no network, the same text every time."""

    def key(self) -> ProjectorKey:
        """This projector's version, and the sha of the rule files and limits that the text depends on."""
        return ProjectorKey(MODEL_ID, rules_sha())

    async def project(self, text: str, evidence: Sequence[EvidenceText]) -> MadeProjection:
        """The distinct failure lines of all evidence, in its order; none where it shows no failure."""
        del text  # what a memory says in prose is widened by a lexicon, which this projector does not have
        lines = await asyncio.to_thread(_quote, evidence)
        return MadeProjection.of(lines, **self.key()._asdict())


def _quote(evidence: Sequence[EvidenceText]) -> list[SymptomLine]:
    lines: dict[str, SymptomLine] = {}
    for each in evidence:
        for line in failure_lines(each.text, limit=LINES_PER_EVIDENCE):
            lines.setdefault(line, SymptomLine(text=line, origin="evidence", evidence_sha=each.sha))
    return list(lines.values())[:MAX_LINES]


@cache
def rules_sha() -> str:
    """The sha over limits and all rule files of the parser, by name."""
    folder = files("mem.parsing").joinpath("rules")
    rules = {path.name: path.read_text("utf-8") for path in _toml(folder)}
    return canonical_sha({"limits": [LINES_PER_EVIDENCE, MAX_LINES], "files": rules})


def _toml(folder: Traversable) -> list[Traversable]:
    return sorted((path for path in folder.iterdir() if path.name.endswith(".toml")), key=lambda path: path.name)
