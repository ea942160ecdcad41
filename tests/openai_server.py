"""A scripted OpenAI-compatible server on loopback: real sockets, real HTTP, answers as the test wrote them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from mem.domain.canonical import sha256_hex
from mem.parsing.prompts import Template, load_prompt
from mem.recall import model_enhancer
from mem.testing import FakeEmbedder
from mem.writing import model_gate, model_projector
from tests.scripted_server import Reply, ScriptedServer, Seen, as_json

PROMPTS = Path(__file__).parents[1] / "prompts"
_MEMORY = re.compile(r"<memory-([0-9a-f]{16})>\n(.*)\n</memory-\1>", re.DOTALL)


class Labelled(NamedTuple):
    """An answer that a model once gave: to which prompt, about which memory (the sha256 of its text)."""

    prompt_sha: str
    memory_sha: str
    model: str
    answer: str


def chat(content: str | None, *, finish: str = "stop", refusal: str | None = None, **headers: str) -> Reply:
    """A completion."""
    message = {"role": "assistant", "content": content, "refusal": refusal}
    choice = {"index": 0, "message": message, "finish_reason": finish}
    return as_json(
        200, {"id": "1", "object": "chat.completion", "created": 1, "model": "m", "choices": [choice]}, headers
    )


def symptoms(*lines: str) -> Reply:
    """A completion as the prompt `symptom` asks for it."""
    return chat(json.dumps({"symptoms": lines}))


def verdict(accept: bool, rule: str = "none", reason: str = "It says what to do.") -> Reply:
    """A completion as the prompt `gate` asks for it."""
    return chat(json.dumps({"accept": accept, "rule": rule, "reason": reason}))


def context(summary: str, *statements: tuple[str, list[int]]) -> Reply:
    """A completion as the prompt `ground` asks for it."""
    said = [{"text": text, "memories": numbers} for text, numbers in statements]
    return chat(json.dumps({"summary": summary, "statements": said}))


def failing(status: int, *, code: str | None = None, message: str = "no", **headers: str) -> Reply:
    """An error as OpenAI words it."""
    error = {"error": {"message": message, "type": "error", "param": None, "code": code}}
    return as_json(status, error, {name.replace("_", "-"): value for name, value in headers.items()})


def half() -> Reply:
    """The first half of a completion."""
    body = symptoms("413 Request Entity Too Large").body
    return Reply(200, body[: len(body) // 2], {"Content-Type": "application/json"})


def huge(size: int, status: int = 200) -> Reply:
    """A completion that does not end for a long time."""
    return Reply(status, b'{"choices": [{"message": {"content": "', {"Content-Type": "application/json"}, endless=size)


class OpenAiServer(ScriptedServer):
    """Answers by script, each prompt by its own; of a script the last reply repeats.

    Prompts are told apart by their system text; one of no file goes by the name `other`.
    """

    prefix = "/v1"

    def __init__(self) -> None:
        super().__init__()
        self.dimensions = 384
        self._scripts: dict[str, list[Reply]] = {}
        self._fixtures: dict[tuple[str, str], Labelled] = {}
        self._templates = {each.system: each for each in templates()}

    def script(self, name: str, *replies: Reply) -> None:
        """What to send to `symptom`, `gate`, `ground`, `other` or `embeddings`."""
        self._scripts[name] = list(replies)

    def serve(self, fixtures: Sequence[Labelled]) -> None:
        """Answer from these where no script says otherwise."""
        self._fixtures |= {(each.prompt_sha, each.memory_sha): each for each in fixtures}

    def asked(self, name: str) -> list[Seen]:
        """The requests for one prompt, or for `embeddings`."""
        return [seen for seen in self.requests if self._name_of(seen) == name]

    def _name_of(self, seen: Seen) -> str:
        if seen.path.endswith("/embeddings"):
            return "embeddings"
        template = self._templates.get(seen.body["messages"][0]["content"])
        return template.name if template is not None else "other"

    def reply_to(self, seen: Seen) -> Reply:
        name = self._name_of(seen)
        script = self._scripts.get(name)
        if script:
            return script.pop(0) if len(script) > 1 else script[0]
        if name == "embeddings":
            return embeddings(seen.body["input"], self.dimensions)
        return self._from_fixture(seen)

    def _from_fixture(self, seen: Seen) -> Reply:
        template = self._templates.get(seen.body["messages"][0]["content"])
        memory = _MEMORY.search(seen.body["messages"][1]["content"])
        if template is not None and memory is not None:
            labelled = self._fixtures.get((template.sha, sha256_hex(memory[2])))
            if labelled is not None:
                return chat(labelled.answer)
        return failing(501, code="nothing_scripted")


def embeddings(texts: Sequence[str], dimensions: int, *, length: float = 3.0) -> Reply:
    """Vectors of a length other than 1, in an order other than asked for."""
    embedder = FakeEmbedder(dimensions=dimensions)
    rows = [
        {"object": "embedding", "index": index, "embedding": [length * value for value in embedder.vector(text)]}
        for index, text in enumerate(texts)
    ]
    return as_json(200, {"object": "list", "model": "e", "data": rows[::-1]}, {})


def templates() -> list[Template]:
    """The prompts of this checkout."""
    return [
        load_prompt(PROMPTS, module.PROMPT, placeholders=module.PLACEHOLDERS, limits=module.LIMITS)
        for module in (model_projector, model_gate, model_enhancer)
    ]
