"""The gate's last word, where a controller is configured and no deterministic rule objects."""

from __future__ import annotations

import asyncio
from typing import Literal

from pydantic import BaseModel, ConfigDict

from mem.domain.accepting import Rule, Verdict
from mem.domain.errors import ControllerRefused
from mem.parsing.model_answers import read_answer, refused, within_budget
from mem.parsing.prompts import Template
from mem.parsing.redact import redact
from mem.parsing.sanitize import strip_unsafe
from mem.ports import Controller, Memories
from mem.writing.candidate import Candidate

PROMPT = "gate"
PLACEHOLDERS = frozenset({"memory", "evidence"})
LIMITS = frozenset({"evidence_bytes", "max_reason_characters"})

ModelRule = Literal[
    "self-feedback",
    "trivial",
    "restates-evidence",
    "unsupported",
    "speculation",
    "prompt-injection",
    "secret",
    "controller",
]
"""Of the gate's rules those that take judgement; the others are decided by looking things up."""

NO_VERDICT = "The controller was asked and gave no verdict that could be read."


class ModelGate:
    """Asks a controller whether a candidate is worth keeping."""

    def __init__(self, controller: Controller, template: Template, memories: Memories) -> None:
        self._controller = controller
        self._template = template
        self._memories = memories

    async def __call__(self, candidate: Candidate, standing: Verdict, *, last: bool) -> Verdict:
        """The controller's verdict on a candidate that no rule objects to.

        Args:
            standing: the verdict without a controller.
            last: whether it is asked for the last time; without an answer then, `standing` stands.

        Raises:
            Unavailable: the controller does not answer.
            ControllerRefused: it will not, or not in a form that can be read, and `last` is false.
        """
        try:
            return await self._ask(candidate)
        except ControllerRefused:
            if not last:
                raise
            return standing.model_copy(update={"reason": f"{standing.reason} {NO_VERDICT}"})

    async def _ask(self, candidate: Candidate) -> Verdict:
        parents = await self._memories.nodes(candidate.parents)
        texts = [each.text for each in candidate.evidence]
        texts += [parents[sha].text for sha in candidate.parents if sha in parents]
        excerpts = await asyncio.to_thread(within_budget, texts, self._template.limit("evidence_bytes"))
        raw = await self._controller.answer(self._template.render(memory=candidate.node.text, evidence=excerpts))
        answer = read_answer(raw, _Answer, model_id=self._controller.model_id, prompt=PROMPT)
        return Verdict(
            accept=answer.accept,
            rule=self._rule(answer),
            reason=self._reason(answer.reason),
            model_id=self._controller.model_id,
            prompt_sha=self._template.sha,
        )

    def _rule(self, answer: _Answer) -> Rule | None:
        if answer.accept:
            return None
        if answer.rule == "none":
            return "controller"
        return answer.rule

    def _reason(self, said: str) -> str:
        """The reason in one bounded line without secrets."""
        most = self._template.limit("max_reason_characters")
        # Redacted before it is cut, so that no half of a secret stays.
        reason = " ".join(redact(strip_unsafe(said).text).text.split())
        if not reason:
            raise refused(self._controller.model_id, PROMPT, "without a reason")
        return reason if len(reason) <= most else f"{reason[: most - 1]}…"


class _Answer(BaseModel):
    """What the prompt asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    accept: bool
    rule: ModelRule | Literal["none"]
    reason: str
