"""What a request asks, in the form that the legs need it."""

from __future__ import annotations

from typing import NamedTuple

from mem.domain.ids import SHARED
from mem.domain.lookup import LookUpInput
from mem.domain.signatures import Signature
from mem.parsing import identifying
from mem.parsing.excerpts import Quoted, Reading
from mem.parsing.gist import gist
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_bidi_and_zero_width, strip_unsafe
from mem.ports import Candidate, Reach, RerankQuery

FAILURE_LINES = 8
FAILURE_CHARACTERS = 600
"""About a hundred words of failure lines, best first: more moves a vector little and costs the embedder its time."""

_RECORDS = 8000
"""Longer texts are read as they stand alone."""

_SHORT = 4000
"""A text up to here is an excerpt that somebody chose: where no line tells a failure for certain, each may."""

_WORDS = 5
"""Fewer say nothing to search with."""

TASK_CHARACTERS = 2000
"""Beyond what an embedder reads."""


class Probe(NamedTuple):
    """One text to search with, and how far the search may reach; only one that `fails` is searched among symptoms."""

    text: str
    reach: Reach
    fails: bool = False


class FailureText(NamedTuple):
    """What of a text tells about a failure: the signatures that identify it, and lines to search with, if any.

    `sure` is false where the lines are only what an excerpt says, none of them known to be a failure.
    """

    signatures: tuple[Signature, ...]
    lines: str | None
    sure: bool = True


class Query(NamedTuple):
    """A request, read: `failure` and `task` are None where it has none; a text without failure asks for nothing.

    `sure`: whether the lines of `failure` are known to tell one.
    """

    signatures: tuple[Signature, ...]
    failure: Probe | None
    task: Probe | None
    tool: str | None
    reach: Reach
    shared: Reach
    sure: bool = True

    @property
    def probes(self) -> list[Probe]:
        """What to search with; a tool name alone is searched as text."""
        if self.tool is not None and self.tool_alone:
            return [Probe(self.tool, self.reach)]
        return [probe for probe in (self.failure, self.task) if probe is not None]

    @property
    def sure_probes(self) -> list[Probe]:
        """The same without a failure that nobody is sure of: documentation and skills are not searched with it."""
        return [probe for probe in self.probes if self.sure or probe is not self.failure]

    @property
    def asked(self) -> RerankQuery:
        """What a reranker is asked."""
        failure = None if self.failure is None else self.failure.text
        task = None if self.task is None else self.task.text
        return RerankQuery(self.text, self.tool, failure, task)

    def asked_of(self, candidate: Candidate) -> RerankQuery:
        """What a reranker is asked of a candidate: beyond the reach of the task only how it fits the failure.

        A leg that searches wider finds lessons there, and some fit the task alone.
        """
        task, failure = self.task, self.failure
        if (
            task is None
            or failure is None
            or task.reach.federated
            or candidate.node.project in {self.shared.project, SHARED}
        ):
            return self.asked
        return RerankQuery(failure.text, self.tool, failure.text)

    @property
    def tool_alone(self) -> bool:
        """Whether nothing but a tool was asked for."""
        return self.tool is not None and self.failure is None and self.task is None and not self.signatures

    @property
    def text(self) -> str:
        """All that is asked, as one text."""
        return "\n".join(probe.text for probe in self.probes)


def read_query(request: LookUpInput, *, extracting: bool = True) -> Query:
    """Extract signatures and failure lines, and settle the reach of each leg.

    What failed federates over projects, since an error does not belong to one; a task stays within the project. A scope
    that is set rules all of them. Without `extracting` a task is taken for words alone, and the log for nothing.
    """
    source = request.signature_source
    signatures: tuple[Signature, ...] = ()
    failure: Probe | None = None
    sure = True
    wide = _reach(request, federated_by_default=True)
    narrow = _reach(request, federated_by_default=False)
    if extracting and source is not None and source.strip():
        signatures, lines, sure = read_failure(source)
        failure = Probe(lines, wide, fails=True) if lines is not None else None
    task: Probe | None = None
    if request.task is not None and request.task.strip():
        task = Probe(redact(strip_unsafe(request.task).text).text[:TASK_CHARACTERS], narrow)
        if extracting and failure is None:
            # Work on a failure often quotes it; the same words in a plan are none.
            quoted = read_failure(request.task)
            if quoted.lines is not None and quoted.sure:
                failure, sure = Probe(quoted.lines, narrow, fails=True), True
    # Names of tools are lower case, whatever their makers write.
    named = redact(strip_unsafe(request.tool).text).text.strip().lower() if request.tool is not None else ""
    tool = named or (signatures[0].tool if signatures else None)
    return Query(signatures, failure, task, tool, wide, narrow, sure)


def read_failure(source: str) -> FailureText:
    """Extract what a text, which may be a raw log, tells about a failure; redacts it first."""
    safe = redact(strip_bidi_and_zero_width(source).text).text
    reading = Reading(safe)
    signatures = identifying(reading.signatures)
    # Without what loggers set around them, as the lines of a memory's evidence are stored.
    lines = [gist(quoted.text) for quoted in _told(reading, safe)]
    # A failure may consist of frames alone, which are not quoted: then its masked message tells about it.
    told = lines or [signature.message for signature in signatures if signature.message.strip()]
    sure = bool(told)
    text = "\n".join(dict.fromkeys(told or _excerpt(reading, safe)))[:FAILURE_CHARACTERS]
    return FailureText(tuple(signatures), text or None, sure)


def _excerpt(reading: Reading, safe: str) -> list[str]:
    """What a short text says that is neither talk nor success."""
    if len(safe) > _SHORT:
        return []
    lines = [gist(line) for _, line in reading.output_lines(most=FAILURE_LINES)]
    return lines if sum(len(line.split()) for line in lines) >= _WORDS else []


def _told(reading: Reading, safe: str) -> list[Quoted]:
    """The telling lines; of records in JSON or pairs that tell no failure as they stand, of what they say."""
    lines = reading.telling(limit=FAILURE_LINES, around=True)
    if lines or len(safe) > _RECORDS:
        return lines
    said = "\n".join(map(gist, safe.split("\n")))
    return Reading(said).telling(limit=FAILURE_LINES, around=True) if said != safe else []


def _reach(request: LookUpInput, *, federated_by_default: bool) -> Reach:
    federated = federated_by_default if request.scope is None else request.scope == "all-projects"
    return Reach(request.project, federated, None if request.readable is None else tuple(request.readable))
