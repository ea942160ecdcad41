"""The contract of `AcceptMemory`: what a candidate brings and what the answer says."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from mem.domain.answers import Answer
from mem.domain.canonical import canonical_json
from mem.domain.errors import InvalidRequest, TooLarge
from mem.domain.ids import Identity, Project, RequestId, Sha, ShaOrPrefix, Text
from mem.domain.nodes import Visibility

MAX_TEXT_BYTES = 8 * 1024
MAX_EVIDENCE_BYTES = 64 * 1024
MAX_EVIDENCE_TOTAL_BYTES = 1024 * 1024
MAX_REASON_CHARACTERS = 500
MAX_SOURCE_CHARACTERS = 500

Wait = Literal["all", "durable"]
Rule = Literal[
    "no-evidence",
    "bad-parents",
    "duplicate",
    "self-feedback",
    "trivial",
    "restates-evidence",
    "unsupported",
    "speculation",
    "prompt-injection",
    "secret",
    "controller",
]
"""Why a candidate is rejected; `controller` where a model says so, all others where a deterministic rule does."""


class Evidence(BaseModel):
    """One L0 record: a raw excerpt with its source and turn.

    `original_sha` and `original_bytes` are set by a door that distilled a longer log.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    source: Text = Field(min_length=1, max_length=MAX_SOURCE_CHARACTERS)
    turn: int | None = Field(default=None, ge=0, le=2**31 - 1)
    text: Text = Field(min_length=1)
    original_sha: Sha | None = None
    original_bytes: int | None = Field(default=None, ge=0)


class AcceptRequest(BaseModel):
    """One candidate memory."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    request_id: RequestId
    project: Project
    level: Literal["L1", "L2"]
    text: Text
    evidence: list[Evidence] = Field(default=[], max_length=500)
    parents: list[ShaOrPrefix] = Field(default=[], max_length=1000)
    tool: Text | None = Field(default=None, max_length=64)
    supersedes: list[ShaOrPrefix] = Field(default=[], max_length=100)
    user_id: Identity | None = None
    container: Identity | None = None
    visibility: Visibility = "global"
    wait: Wait = "all"


class AcceptInput(AcceptRequest):
    """The message that starts the workflow: the request with the fingerprint that its door computed.

    A caller that starts the workflow itself leaves `fingerprint` out; the worker then computes it. `override` is why
    a person wants the candidate in spite of what the gate says; no request over HTTP can carry it. `readable` are the
    projects that the caller may read; None where all may be.
    """

    model_config = ConfigDict(extra="ignore")  # a field that a newer caller adds is no fault

    fingerprint: str | None = None
    override: Text | None = Field(default=None, min_length=1, max_length=MAX_REASON_CHARACTERS)
    readable: list[Project] | None = None


class AcceptStep(BaseModel):
    """Names one acceptance; each step loads the candidate from the journal, so no log travels through history.

    `last_ask`: a controller that refuses is not asked again; what the step can do without one stands. `readable` are
    the projects that the caller may read, of which a verdict may tell; None where all may be.
    """

    model_config = ConfigDict(frozen=True)

    project: str
    request_id: str
    last_ask: bool = False
    readable: list[str] | None = None


class MemoryStep(AcceptStep):
    """Names one acceptance and the memory that stands for its candidate."""

    sha: str


class AppendedMemory(BaseModel):
    """The memory that stands for the candidate.

    `duplicate_of` where that is one that says the same, which got the evidence; `overtaken_by` where another one
    superseded meanwhile what the candidate was to supersede.
    """

    model_config = ConfigDict(frozen=True)

    sha: str
    duplicate_of: str | None
    overtaken_by: str | None = None


class AcceptedBody(AcceptStep):
    """An answer to be stored for the request id, once for each `wait`."""

    fingerprint: str
    waits: list[Wait]
    body: str


class SettledBodies(BaseModel):
    """For each `wait` the body that was stored first."""

    model_config = ConfigDict(frozen=True)

    bodies: dict[Wait, str]


class AcceptResult(Answer):
    """What a run ends with: `body` for who waits for everything, `durable_body` for who waits for the durable point."""

    durable_body: str


class Verdict(BaseModel):
    """What the gate said; `rule` is null for an acceptance, but where a person overruled it."""

    model_config = ConfigDict(frozen=True)

    accept: bool
    rule: Rule | None = None
    reason: str
    model_id: str | None = None
    prompt_sha: str | None = None
    duplicate_of: str | None = None


class Projection(BaseModel):
    """The symptom projection of a node; an empty text says that the memory explains no failure."""

    model_config = ConfigDict(frozen=True)

    text: str
    model_id: str
    prompt_sha: str


class SymptomLine(BaseModel):
    """One line of a projection, and where it comes from.

    `evidence_sha` and `line` (from 1) name the place for a line of the evidence, `entry` the entry of the lexicon.
    """

    model_config = ConfigDict(frozen=True)

    text: str
    origin: Literal["evidence", "memory", "lexicon", "model"]
    evidence_sha: str | None = None
    line: int | None = None
    entry: str | None = None


class MadeProjection(Projection):
    """A projection with the origin of each of its lines, as the journal keeps it."""

    lines: list[SymptomLine] = []

    @classmethod
    def of(cls, lines: Sequence[SymptomLine], *, model_id: str, prompt_sha: str) -> MadeProjection:
        """The projection that consists of these lines; without any, that of a memory that explains no failure."""
        return cls(
            text="\n".join(line.text for line in lines), model_id=model_id, prompt_sha=prompt_sha, lines=list(lines)
        )


class LinkedSignature(BaseModel):
    """A signature that points at a memory."""

    model_config = ConfigDict(frozen=True)

    sig_sha: str
    tool: str
    rule: str


class LinkedSignatures(BaseModel):
    """All signatures that an acceptance linked."""

    model_config = ConfigDict(frozen=True)

    signatures: list[LinkedSignature]


class PublicVerdict(BaseModel):
    """The verdict as the contract shows it."""

    model_config = ConfigDict(frozen=True)

    accept: bool
    rule: Rule | None
    reason: str
    model_id: str | None
    prompt_sha: str | None


class AcceptAnswer(BaseModel):
    """The answer to an acceptance; `pending` names the steps that a durable answer did not wait for."""

    model_config = ConfigDict(frozen=True)

    status: Literal["accepted", "rejected", "duplicate"]
    sha: str | None
    duplicate_of: str | None
    verdict: PublicVerdict
    projection: Projection | None
    signatures: list[LinkedSignature]
    vectors: list[Literal["text", "symptom"]]
    pending: list[str]


def check_limits(request: AcceptRequest) -> None:
    """Hold the candidate to the limits of the contract, measured on the encoded JSON.

    Raises:
        InvalidRequest: the text is empty, or a visibility lacks the user or container that it is for.
        TooLarge: the text or an evidence record is too long, or all evidence together is.
    """
    if not request.text.strip():
        raise InvalidRequest("The memory text is empty.", "Say in `text` what was learned.")
    if (size := len(canonical_json(request.text))) > MAX_TEXT_BYTES:
        raise TooLarge(
            f"The memory text takes {size} bytes; the limit is {MAX_TEXT_BYTES}.",
            "State the lesson in a few sentences and move logs into `evidence`.",
        )
    total = 0
    for number, evidence in enumerate(request.evidence):
        size = len(canonical_json(evidence.text))
        total += size
        if size > MAX_EVIDENCE_BYTES:
            raise TooLarge(
                f"evidence[{number}] takes {size} bytes; the limit is {MAX_EVIDENCE_BYTES}.",
                "Send the failing part, or let the client distil the log.",
            )
    if total > MAX_EVIDENCE_TOTAL_BYTES:
        raise TooLarge(
            f"The evidence takes {total} bytes in all; the limit is {MAX_EVIDENCE_TOTAL_BYTES}.",
            "Send fewer records.",
        )
    if request.visibility != "global" and request.user_id is None:
        raise InvalidRequest(
            f"Visibility {request.visibility!r} needs a user.", "Set `user_id`, or leave `visibility` out."
        )
    if request.visibility == "container" and request.container is None:
        raise InvalidRequest("Visibility 'container' needs a container.", "Set `container`.")
