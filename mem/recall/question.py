"""What a question asks, in the form that the legs need it."""

from __future__ import annotations

from typing import NamedTuple

from mem.domain.nodes import Level
from mem.domain.query import QueryInput
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.parsing.terms import asked_terms
from mem.ports import Reach, RerankQuery
from mem.recall.gather import LESSONS, WIDTH
from mem.recall.query import TASK_CHARACTERS, read_failure

WIDTH_OF_EACH = 10
"""How many candidates of each leg are reranked for one wanted hit."""


class Question(NamedTuple):
    """A question, read: `symptom` is what the symptom leg searches with, `text` the question, `terms` its words.

    `fails`: whether `symptom` is known to tell a failure, which may be all that the question says.
    """

    symptom: str
    text: str
    tool: str | None
    levels: tuple[Level, ...]
    reach: Reach
    width: int
    terms: tuple[str, ...]
    fails: bool = False

    @property
    def texts(self) -> list[str]:
        """What to search with, each text once."""
        return list(dict.fromkeys((self.symptom, self.text)))

    @property
    def asked(self) -> RerankQuery:
        """What a reranker is asked: the question is for what a task would be told, and so is a failure in it."""
        failure = self.symptom if self.fails else None
        return RerankQuery("\n".join(self.texts), self.tool, failure, self.text)

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
    text = redact(strip_unsafe(request.question).text).text[:TASK_CHARACTERS]
    return Question(
        symptom=text,
        text=text,
        tool=None,
        levels=tuple(sorted(set(request.levels))),
        reach=Reach(request.project, federated=False),
        width=max(WIDTH, WIDTH_OF_EACH * request.k),
        terms=tuple(asked_terms(text, failing=False)),
    )
