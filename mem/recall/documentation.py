"""What documentation is searched with: each part of a fault by itself, in meaning and in words."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from mem.parsing.terms import asked_terms
from mem.ports import Candidate, Fit, Memories, Vector, VectorHit, WordHit
from mem.recall.legs import Legs
from mem.recall.question import Question


class Part(NamedTuple):
    """What was found for one part of a fault."""

    near: Sequence[VectorHit] = ()
    worded: Sequence[WordHit] = ()

    @property
    def fits(self) -> dict[str, Fit]:
        """How each section that was found fits the part."""
        near = {hit.sha: hit.similarity for hit in self.near}
        worded = {hit.sha: hit for hit in self.worded}
        nothing = WordHit("", 0.0, 0.0)
        found = {sha: worded.get(sha, nothing) for sha in near.keys() | worded.keys()}
        return {sha: Fit(max(near.get(sha, 0.0), 0.0), hit.own, hit.context) for sha, hit in found.items()}


class Explanations(NamedTuple):
    """What was found for the headline of a fault, for what is said besides, and for its code."""

    headline: Part = Part()
    notes: Part = Part()
    excerpt: Part = Part()

    @property
    def besides(self) -> dict[str, float]:
        """All that was found for anything but the headline."""
        return {sha: fit.text for part in (self.notes, self.excerpt) for sha, fit in part.fits.items()}

    def on(self, candidates: Sequence[Candidate]) -> list[Candidate]:
        """The candidates, with how each of them fits what is not the headline."""
        notes, excerpt = self.notes.fits, self.excerpt.fits
        return [
            one._replace(notes=notes.get(one.node.stored_sha), excerpt=excerpt.get(one.node.stored_sha))
            if one.node.level == "R"
            else one
            for one in candidates
        ]


async def explain(memories: Memories, legs: Legs, question: Question, vectors: Mapping[str, Vector]) -> Explanations:
    """Search documentation for each part of the fault, where it is asked for."""
    if "R" not in question.levels:
        return Explanations()

    async def search(text: str) -> Part:
        if not text:
            return Part()
        near, worded = await asyncio.gather(_near(memories, legs, question, vectors.get(text)), words(text))
        return Part(near, worded)

    async def words(text: str) -> list[WordHit]:
        terms = asked_terms(text, failing=question.printed)
        found = memories.words(terms, ("R",), question.reach, question.width)
        return await legs.run("lexical", "search documentation", found, list[WordHit]())

    return Explanations(*await asyncio.gather(*map(search, question.fault)))


async def _near(memories: Memories, legs: Legs, question: Question, vector: Vector | None) -> list[VectorHit]:
    if vector is None:
        return []
    found = memories.nearest("text", ("R",), vector, question.reach, question.width)
    return await legs.run("text", "search documentation", found, list[VectorHit]())
