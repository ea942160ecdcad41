"""What a question asks, in the form that the legs need it."""

from __future__ import annotations

from typing import NamedTuple

from mem.domain.nodes import Level
from mem.domain.query import QueryInput
from mem.parsing.diagnostic import read_fault
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.parsing.terms import asked_terms
from mem.ports import Fault, Reach, RerankQuery
from mem.recall.gather import LESSONS, WIDTH
from mem.recall.query import TASK_CHARACTERS, read_failure

WIDTH_OF_EACH = 10
"""How many candidates of each leg are reranked for one wanted hit."""


class Question(NamedTuple):
    """A question, read: `symptom` is what the symptom leg searches with, `text` the question, `terms` its words.

    `fails`: whether `symptom` is known to tell a failure, which may be all that the question says.
    `fault` is what documentation is asked for, `printed` whether that is what a tool printed, where each word counts.
    """

    symptom: str
    text: str
    tool: str | None
    levels: tuple[Level, ...]
    reach: Reach
    width: int
    terms: tuple[str, ...]
    fault: Fault
    fails: bool = False
    printed: bool = False

    @property
    def texts(self) -> list[str]:
        """What to search with, each text once."""
        asked = (self.symptom, self.text) if self.memories else ()
        return list(dict.fromkeys((*asked, *self.explained)))

    @property
    def explained(self) -> tuple[str, ...]:
        """What documentation is searched with; nothing where none is asked for."""
        return tuple(text for text in self.fault if text) if "R" in self.levels else ()

    @property
    def memories(self) -> tuple[Level, ...]:
        """The levels that are no documentation."""
        return tuple(level for level in self.levels if level != "R")

    @property
    def asked(self) -> RerankQuery:
        """What a reranker is asked: the question is for what a task would be told, and so is a failure in it."""
        failure = self.symptom if self.fails else None
        whole = "\n".join(dict.fromkeys((self.symptom, self.text)))
        return RerankQuery(whole, self.tool, failure, self.text, self.fault)

    @property
    def lessons(self) -> tuple[Level, ...]:
        """The levels that have symptoms."""
        return tuple(level for level in self.levels if level in LESSONS)


def read_question(request: QueryInput) -> Question:
    """Where the question reads like a failure its failure lines stand for it in the symptom leg, else all of it does.

    The project of the request bounds every leg: its own nodes and the shared ones.
    """
    signatures, lines, sure = read_failure(request.question)
    plain = plain_question(request)
    plain = plain._replace(tool=signatures[0].tool if signatures else None)
    if lines is None or not sure:
        return plain
    return plain._replace(symptom=lines, fails=True, terms=tuple(asked_terms(plain.text, failing=True)))


def plain_question(request: QueryInput) -> Question:
    """The question taken for words alone."""
    whole = redact(strip_unsafe(request.question).text).text
    text = whole[:TASK_CHARACTERS]
    fault = read_fault(whole)
    return Question(
        symptom=text,
        text=text,
        tool=None,
        levels=tuple(sorted(set(request.levels))),
        reach=Reach(
            request.project, federated=False, readable=None if request.readable is None else tuple(request.readable)
        ),
        width=max(WIDTH, WIDTH_OF_EACH * request.k),
        terms=tuple(asked_terms(text, failing=False)),
        fault=Fault(text) if fault is None else Fault(*(part[:TASK_CHARACTERS] for part in fault)),
        printed=fault is not None,
    )
