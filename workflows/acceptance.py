"""The state of one acceptance, and how it is told."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from mem.domain.accepting import (
    AcceptAnswer,
    AppendedMemory,
    LinkedSignature,
    Projection,
    PublicVerdict,
    Verdict,
)
from mem.domain.markdown import MAX_FAILURE, bounded, code, failed, table
from workflows.steps import Steps

MAX_LINES = 12
"""So many lines of a projection are shown."""

STEPS = ("project_symptoms", "embed_symptoms", "embed_text", "link_signatures")
STEPS_OF_A_USER = (*STEPS, "refresh_snapshot")
"""What is done for a memory that somebody owns."""
STEPS_OF_A_DUPLICATE = ("embed_text", "link_signatures")
"""What is done for evidence that another memory got; that one keeps its projection."""


class Acceptance:
    """What has happened so far. `durable`: an answer can be given. `sha`: that of an accepted memory.

    `standing` is the memory that the evidence now belongs to: that one, or the one that says the same. `summarised`: a
    user's summary is to tell of the accepted memory. `failure` is what ended it, where something did.
    """

    def __init__(self, *, private: bool = False) -> None:
        """`private`: the memory would be somebody's."""
        self._private = private
        self.steps = Steps()
        self.failure = ""
        self.verdict: Verdict | None = None
        self.status: Literal["accepted", "rejected", "duplicate"] | None = None
        self.sha: str | None = None
        self.standing: str | None = None
        self.duplicate_of: str | None = None
        self.projection: Projection | None = None
        self.signatures: Sequence[LinkedSignature] = ()
        self.vectors: set[Literal["text", "symptom"]] = set()
        self.summarised = False
        self.done = False
        self._finished: set[str] = set()

    @property
    def durable(self) -> bool:
        """Whether the outcome stands."""
        return self.status is not None

    @property
    def pending(self) -> list[str]:
        """The steps that are still to come, in their order."""
        if self.done or self.standing is None:
            return []
        accepted = STEPS_OF_A_USER if self.summarised else STEPS
        steps = accepted if self.status == "accepted" else STEPS_OF_A_DUPLICATE
        return [step for step in steps if step not in self._finished]

    def judged(self, verdict: Verdict) -> None:
        """The gate has spoken; a rejection is final, and a duplicate has yet to bring its evidence."""
        self.verdict = verdict
        if not verdict.accept and verdict.duplicate_of is None:
            self.status = "rejected"

    def appended(self, appended: AppendedMemory, *, summarised: bool = False) -> None:
        """The memory is there, or another one was first.

        Args:
            summarised: whether the memory would be somebody's, whose summary is to tell of it.
        """
        self.duplicate_of = appended.duplicate_of
        if appended.overtaken_by is not None:
            reason = (
                f"What it was to supersede was superseded meanwhile by {appended.overtaken_by[:12]}; name that one."
            )
            self.verdict = Verdict(accept=False, rule="bad-parents", reason=reason)
            self.status = "rejected"
        elif appended.duplicate_of is not None:
            self.standing, self.status = appended.sha, "duplicate"
            if self.verdict is None or self.verdict.accept:
                reason = f"Memory {appended.duplicate_of[:12]}, which came in meanwhile, says the same."
                self.verdict = Verdict(accept=False, rule="duplicate", reason=reason)
        else:
            self.sha = self.standing = appended.sha
            self.status, self.summarised = "accepted", summarised

    def projected(self, projection: Projection) -> None:
        """The projection is made, which may be empty."""
        self.projection = projection
        self._finished.add("project_symptoms")

    def embedded_symptoms(self, embedded: bool) -> None:
        """The symptom vector is there, unless the projection is empty."""
        self._finished.add("embed_symptoms")
        if embedded:
            self.vectors.add("symptom")

    def embedded_text(self) -> None:
        """The text vectors are there; those of a duplicate are of its evidence alone."""
        self._finished.add("embed_text")
        if self.sha is not None:
            self.vectors.add("text")

    def linked(self, signatures: Sequence[LinkedSignature]) -> None:
        """The signatures point at the memory."""
        self.signatures = signatures
        self._finished.add("link_signatures")

    def refreshed(self) -> None:
        """The user's summary tells of the memory."""
        self._finished.add("refresh_snapshot")

    def answer(self) -> AcceptAnswer:
        """The answer as it stands."""
        if self.verdict is None or self.status is None:
            raise RuntimeError("An answer was asked for before the gate had spoken.")
        verdict = PublicVerdict.model_validate(self.verdict.model_dump(exclude={"duplicate_of"}))
        return AcceptAnswer(
            status=self.status,
            sha=self.sha,
            duplicate_of=self.duplicate_of,
            verdict=verdict,
            projection=self.projection,
            signatures=list(self.signatures),
            vectors=sorted(self.vectors, reverse=True),
            pending=self.pending,
        )

    def describe(self) -> str:
        """The answer as JSON, or in words what is awaited."""
        if self.durable:
            return self.answer().model_dump_json()
        return "judged, to be appended" if self.verdict is not None else "not judged yet"

    def markdown(self) -> str:
        """The story for the Temporal UI; of what was handed in, the lines of a projection that is for all are in it."""
        head = f"**{self.status or 'pending'}**"
        if (sha := self.sha or self.duplicate_of) is not None:
            head += f", memory {code(sha)}"
        lines = [*([failed(self.failure), ""] if self.failure else []), head]
        if self.verdict is not None:
            lines += _verdict(self.verdict)
        if self.projection is not None:
            lines += _projection(self.projection, private=self._private)
        keys = [[code(one.sig_sha[:12]), code(one.tool), code(one.rule)] for one in self.signatures]
        lines += table("Signatures: the exact keys", ["signature", "tool", "rule"], keys)
        if self.vectors:
            lines += ["", f"Vectors: {', '.join(sorted(self.vectors, reverse=True))}"]
        return bounded([*lines, *self.steps.markdown([] if self.failure else self._to_come())])

    def _to_come(self) -> Sequence[str]:
        return self.pending if self.durable else ("record_candidate", "gate_memory", "append_memory")


def _verdict(verdict: Verdict) -> list[str]:
    by = "the rules" if verdict.model_id is None else code(verdict.model_id)
    if verdict.accept:
        told = "accept" if verdict.rule is None else f"accept (a person overruled {code(verdict.rule)})"
    else:
        told = f"reject, rule {code(verdict.rule or '-')}"
    return ["", f"Verdict: {told}, by {by}", "", f"Reason: {code(verdict.reason, limit=MAX_FAILURE)}"]


def _projection(projection: Projection, *, private: bool) -> list[str]:
    lines = projection.text.splitlines()
    if not lines:
        return ["", f"Projection: none by {code(projection.model_id)}; the memory explains no failure"]
    told = ["", f"**Projection**: the {len(lines)} lines that it is found by, from {code(projection.model_id)}"]
    if private:
        return [*told, "", "They are a user's, and not shown."]
    more = [f"- … {len(lines) - MAX_LINES} more"] if len(lines) > MAX_LINES else []
    return [*told, "", *(f"- {code(line)}" for line in lines[:MAX_LINES]), *more]
