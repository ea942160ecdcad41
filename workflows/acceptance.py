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
from workflows.markdown import MAX_FAILURE, code

STEPS = ("project_symptoms", "embed_symptoms", "embed_text", "link_signatures")
STEPS_OF_A_USER = (*STEPS, "refresh_snapshot")
"""What is done for a memory that somebody owns."""
STEPS_OF_A_DUPLICATE = ("embed_text", "link_signatures")
"""What is done for evidence that another memory got; that one keeps its projection."""


class Acceptance:
    """What has happened so far. `durable`: an answer can be given. `sha`: that of an accepted memory.

    `standing` is the memory that the evidence now belongs to: that one, or the one that says the same. `summarised`: a
    user's summary is to tell of the accepted memory.
    """

    def __init__(self) -> None:
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
        """The story for the Temporal UI; no raw log is in it."""
        verdict = self.verdict
        lines = [f"**{self.status or 'pending'}** {self.sha or self.duplicate_of or ''}".rstrip()]
        if verdict is not None:
            lines.append(f"- verdict: {_told(verdict)}. {code(verdict.reason, limit=MAX_FAILURE)}")
        if self.projection is not None:
            count = len(self.projection.text.splitlines())
            lines.append(f"- projection: {count} lines by {code(self.projection.model_id)}")
        lines += [f"- signature `{s.sig_sha[:12]}` {s.tool} {s.rule}" for s in self.signatures]
        if self.pending:
            lines.append(f"- pending: {', '.join(self.pending)}")
        return "\n".join(lines)


def _told(verdict: Verdict) -> str:
    if verdict.accept:
        return "accept" if verdict.rule is None else f"accept (a person overruled {verdict.rule})"
    return f"reject ({verdict.rule})"
