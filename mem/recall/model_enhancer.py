"""The enhancer that asks a model, and lets stand only what the memories bear out."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from mem.domain.grounding import ScopeLevel
from mem.parsing.likeness import same
from mem.parsing.model_answers import read_answer, within_budget
from mem.parsing.orders import treatment
from mem.parsing.prompts import Template
from mem.parsing.redact import redact
from mem.parsing.sentences import sentences
from mem.ports import Controller, Prompt, TokenCounter
from mem.recall.context_block import plain_text, render_block
from mem.recall.enhancement import Enhancement, Relevant, Statement
from mem.recall.enhancer import headed, readable
from mem.recall.grounded import supported

PROMPT = "ground"
PLACEHOLDERS = frozenset({"message", "memories", "budget"})
LIMITS = frozenset({"message_bytes", "memories_bytes", "max_statements"})

_SUMMARY_SENTENCES = 2
_FRAME_TOKENS = 60
"""About so many tokens of the block are no words of the model's; of the others ten are seven words."""


class ModelEnhancer:
    """Asks a controller what of the memories matters for a message."""

    def __init__(self, controller: Controller, template: Template, tokens: TokenCounter) -> None:
        self._controller = controller
        self._template = template
        self._tokens = tokens

    @property
    def model_id(self) -> str:
        """Names the model."""
        return self._controller.model_id

    @property
    def prompt_sha(self) -> str:
        """Names the prompt that it is asked with."""
        return self._template.sha

    async def enhance(
        self, message: str, memories: Sequence[Relevant], limit: int, *, scope: ScopeLevel
    ) -> Enhancement | None:
        """What the model made of the memories, in a block of at most `limit` tokens; None where nothing of it stands.

        Raises:
            Unavailable: the model does not answer.
            ControllerRefused: it will not, or not in a form that can be read.
        """
        told, withheld = await asyncio.to_thread(readable, memories)
        if not told:
            return Enhancement("", (), (), withheld)
        prompt, asked = await asyncio.to_thread(self._prompt, message, told, limit)
        raw = await self._controller.answer(prompt)
        answer = read_answer(raw, _Answer, model_id=self.model_id, prompt=PROMPT)
        checking = _Checking(asked, withheld, limit, scope, self._tokens)
        return await asyncio.to_thread(checking.checked, answer, self._template.limit("max_statements"))

    def _prompt(self, message: str, memories: Sequence[Relevant], limit: int) -> tuple[Prompt, list[Relevant]]:
        """The prompt, and the memories that found room in it, as they are numbered there."""
        room = self._template.limit("memories_bytes")
        asked: list[Relevant] = []
        for memory in memories:
            room -= len(_shown(memory, len(asked) + 1).encode("utf-8"))
            if room < 0 and asked:
                break
            asked.append(memory)
        shown = [_shown(memory, number) for number, memory in enumerate(asked, 1)]
        excerpt = within_budget([message], self._template.limit("message_bytes"))
        words = max(20, (limit - _FRAME_TOKENS) * 7 // 10)
        return self._template.render(message=excerpt, memories=shown, budget=str(words)), asked


class _Checking(NamedTuple):
    """What an answer is held against."""

    asked: Sequence[Relevant]
    withheld: tuple[str, ...]
    limit: int
    scope: ScopeLevel
    tokens: TokenCounter

    def checked(self, answer: _Answer, most: int) -> Enhancement | None:
        """What of the answer stands and fits."""
        statements: list[Statement] = []
        for said in answer.statements[:most]:
            stands = self._statement(said)
            if stands is not None and not any(same(stands.text, each.text) for each in statements):
                statements.append(stands)
        while statements:
            made = self._made(answer.summary, statements)
            if self.tokens.count(render_block(self.scope, made)) <= self.limit:
                return made
            statements.pop()
        return None

    def _statement(self, said: _Said) -> Statement | None:
        """A statement with the sentences that the memories it cites bear out, and those of them that do."""
        cited = [self.asked[number - 1] for number in dict.fromkeys(said.memories) if 0 < number <= len(self.asked)]
        texts = [memory.text for memory in cited]
        kept = " ".join(sentence for sentence in _cleaned(said.text) if supported(sentence, texts))
        if not kept or treatment(kept) == "withheld":
            return None
        bearing = [each for each in cited if any(supported(one, [each.text]) for one in sentences(kept))] or cited
        quoted = any(treatment(each.text) == "quoted" for each in bearing)
        return Statement(kept, tuple(each.sha for each in bearing), quoted)

    def _made(self, summary: str, statements: Sequence[Statement]) -> Enhancement:
        used = tuple(dict.fromkeys(sha for each in statements for sha in each.shas))
        texts = [each.text for each in self.asked if each.sha in used and treatment(each.text) == "plain"]
        stands = [sentence for sentence in _cleaned(summary) if supported(sentence, texts)][:_SUMMARY_SENTENCES]
        gist = " ".join(stands)
        if not gist or any(same(gist, each.text) for each in statements):
            return headed(statements, self.withheld)
        return Enhancement(gist, tuple(statements), used, self.withheld)


def _cleaned(text: str) -> Iterator[str]:
    """The sentences that a model wrote, as they may be shown."""
    yield from sentences(redact(plain_text(text)).text)


def _shown(memory: Relevant, number: int) -> str:
    head = [f"number: {number}", f"project: {memory.project}"]
    head += [f"tool: {memory.tool}"] if memory.tool else []
    head += [f"learned: {memory.day}"] if memory.day else []
    return "\n".join([*head, "", memory.text])


class _Said(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)

    text: str
    memories: list[int]


class _Answer(BaseModel):
    """What the prompt asks for."""

    model_config = ConfigDict(extra="forbid", strict=True)

    summary: str
    statements: list[_Said]
