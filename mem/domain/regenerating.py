"""The contract of `mem rebuild --regenerate`: what the projector would say today, beside what is recorded."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

from mem.domain.accepting import MadeProjection, Projection


class Proposal(BaseModel):
    """The projection of a memory as it is recorded and as it would be made today.

    `proposed` is None where the model refused, for the reason `refused`; then the recorded one stays.
    """

    model_config = ConfigDict(frozen=True)

    sha: str
    recorded: Projection | None
    proposed: MadeProjection | None
    refused: str | None = None

    @property
    def differs(self) -> bool:
        """Whether the text would be another one."""
        if self.proposed is None:
            return False
        return self.recorded is None or self.recorded.text != self.proposed.text

    @property
    def replaces(self) -> bool:
        """Whether text, model or prompt would be another one, which is what applying it would record."""
        proposed = self.proposed and Projection.model_validate(self.proposed.model_dump())
        return proposed is not None and proposed != self.recorded


class RegenerateReport(BaseModel):
    """How many memories were asked about, and what came of it; `applied` counts what was recorded."""

    model_config = ConfigDict(frozen=True)

    apply: bool = False
    model_id: str = ""
    prompt_sha: str = ""
    memories: int = 0
    same: int = 0
    relabelled: int = 0
    different: int = 0
    refused: int = 0
    applied: int = 0

    def plus(self, proposal: Proposal) -> RegenerateReport:
        """This and one more memory; `relabelled` is one with the same text under another model or prompt."""
        if proposal.proposed is None:
            outcome = "refused"
        elif proposal.differs:
            outcome = "different"
        else:
            outcome = "relabelled" if proposal.replaces else "same"
        return self.model_copy(update={"memories": self.memories + 1, outcome: getattr(self, outcome) + 1})


class RegenerateStep(BaseModel):
    """One batch of a regeneration: at most `page` memories behind the sha `after`."""

    model_config = ConfigDict(frozen=True)

    run: str
    apply: bool
    page: int
    after: str
    report: RegenerateReport


class RegeneratedBatch(BaseModel):
    """The report so far, and behind which sha the next batch begins; None where there is none."""

    model_config = ConfigDict(frozen=True)

    report: RegenerateReport
    after: str | None
