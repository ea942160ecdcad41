"""The projector that asks a model, and lets stand only what memory, evidence and lexicon bear out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

from pydantic import BaseModel, ConfigDict

from mem.domain.accepting import MadeProjection, SymptomLine
from mem.parsing.model_answers import read_answer, refused, within_budget
from mem.parsing.prompts import Template
from mem.ports import Controller, EvidenceText, ProjectorKey
from mem.writing.model_lines import Checked, Limits, LineCheck

PROMPT = "symptom"
PLACEHOLDERS = frozenset({"memory", "evidence"})
LIMITS = frozenset({"evidence_bytes", *Limits._fields})


class ModelProjector:
    """Asks a controller for the symptom lines of a memory."""

    def __init__(self, controller: Controller, template: Template, known: Callable[[str], bool]) -> None:
        self._controller = controller
        self._template = template
        self._known = known
        self._limits = Limits(
            max_lines=template.limit("max_lines"),
            max_line_characters=template.limit("max_line_characters"),
            restated_share=template.limits["restated_share"],
            restated_min_words=template.limit("restated_min_words"),
        )

    def key(self) -> ProjectorKey:
        """The model and the prompt that it is asked with."""
        return ProjectorKey(self._controller.model_id, self._template.sha)

    async def project(self, text: str, evidence: Sequence[EvidenceText]) -> MadeProjection:
        """The lines that stand; none where the model sees no failure, or nothing that it wrote may stand.

        Raises:
            Unavailable: the model does not answer.
            ControllerRefused: it will not, or not in a form that can be read.
        """
        texts = [each.text for each in evidence]
        budget = self._template.limit("evidence_bytes")
        excerpts = await asyncio.to_thread(within_budget, texts, budget)
        raw = await self._controller.answer(self._template.render(memory=text, evidence=excerpts))
        checked = await asyncio.to_thread(self.checked, raw, text, texts)
        lines = [SymptomLine(text=line, origin="model") for line in checked.kept]
        return MadeProjection.of(lines, **self.key()._asdict())

    def checked(self, raw: str, text: str, evidence: Sequence[str]) -> Checked:
        """What of a raw answer stands.

        Raises:
            ControllerRefused: it cannot be read, or is in another language.
        """
        model_id = self._controller.model_id
        answer = read_answer(raw, _Answer, model_id=model_id, prompt=PROMPT)
        checked = LineCheck(text, evidence, self._known, self._limits).check(answer.symptoms)
        if checked.dropped and not checked.kept and all(each.fault == "foreign" for each in checked.dropped):
            raise refused(model_id, PROMPT, "in another language than asked for")
        return checked


class _Answer(BaseModel):
    """What the prompt asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    symptoms: list[str]
