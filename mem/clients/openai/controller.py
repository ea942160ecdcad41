"""A chat model as controller."""

from __future__ import annotations

import asyncio
from typing import Any, Literal, NamedTuple

from openai import APIStatusError, AsyncOpenAI
from pydantic import BaseModel, ValidationError

from mem.clients.openai.connection import Endpoint
from mem.clients.openai.errors import CALL_ERRORS, Asked, failure_of, unreadable
from mem.ports import Prompt

CHAT_SECONDS = 60.0
"""One answer, all attempts to find the server's dialect included; below the timeout of the steps that ask."""

MAX_BYTES = 1024 * 1024
"""Far more than an answer of any prompt's `max_tokens` takes."""

SEED = 7
"""Any number, always the same one."""


class Dialect(NamedTuple):
    """What a server takes; each process learns it once."""

    format: Literal["json_schema", "json_object", "text"] = "json_schema"
    limit: Literal["max_tokens", "max_completion_tokens"] = "max_tokens"
    cache_prompt: bool = False
    """Whether to turn the prompt cache off, with which equal prompts were seen to get different answers."""
    seed: bool = True


class OpenAiController:
    """Asks a chat model, once per call, at temperature 0."""

    def __init__(self, client: AsyncOpenAI, asked: Asked, dialect: Dialect, *, seconds: float = CHAT_SECONDS) -> None:
        self._client = client
        self._asked = asked
        self._dialect = dialect
        self._seconds = seconds

    @classmethod
    def at(cls, endpoint: Endpoint, model: str, *, seconds: float = CHAT_SECONDS) -> OpenAiController:
        """The model of that name at an endpoint; nothing is contacted.

        `cache_prompt` goes to every server but OpenAI itself, which refuses fields that it does not know: most others
        ignore them, and of one that does not it is taken back.
        """
        asked = Asked("chat model", model, endpoint.host, "MEM_CHAT_MODEL")
        client = endpoint.connect(seconds=seconds, max_bytes=MAX_BYTES)
        return cls(client, asked, Dialect(cache_prompt=not endpoint.is_openai), seconds=seconds)

    @property
    def model_id(self) -> str:
        """The model's name as configured."""
        return self._asked.model

    async def answer(self, prompt: Prompt) -> str:
        """The text of the model's answer, not read any further than that there is one.

        Raises:
            Unavailable: it does not answer, or not now, or the configuration has to be mended first.
            ControllerRefused: it will not answer this prompt, or sent no answer that could be read.
        """
        try:
            async with asyncio.timeout(self._seconds):
                body = await self._ask(prompt)
        except CALL_ERRORS as error:
            raise failure_of(error, self._asked) from None
        return self._text_of(body, prompt)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _ask(self, prompt: Prompt) -> bytes:
        dialect = self._dialect
        while True:
            try:
                body = await self._send(prompt, dialect)
            except APIStatusError as error:
                lower = conceded(dialect, error)
                if lower is None:
                    raise
                dialect = lower
            else:
                self._dialect = dialect
                return body

    async def _send(self, prompt: Prompt, dialect: Dialect) -> bytes:
        given: dict[str, Any] = {dialect.limit: prompt.max_tokens}
        if dialect.format == "json_schema":
            schema = {"name": prompt.schema_name, "schema": dict(prompt.schema), "strict": True}
            given["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif dialect.format == "json_object":
            given["response_format"] = {"type": "json_object"}
        if dialect.seed:
            given["seed"] = SEED
        if dialect.cache_prompt:
            given["extra_body"] = {"cache_prompt": False}
        response = await self._client.chat.completions.with_raw_response.create(
            model=self._asked.model,
            messages=[{"role": "system", "content": prompt.system}, {"role": "user", "content": prompt.user}],
            temperature=0,
            **given,
        )
        content: bytes = response.http_response.content
        return content

    def _text_of(self, body: bytes, prompt: Prompt) -> str:
        try:
            completion = _Completion.model_validate_json(body)
        except ValidationError:
            raise unreadable(self._asked, "sent something that is no chat completion") from None
        if not completion.choices:
            raise unreadable(self._asked, "sent a completion without a choice")
        choice = completion.choices[0]
        if choice.message.refusal:
            raise unreadable(self._asked, "declined to answer this prompt")
        if choice.finish_reason == "content_filter":
            raise unreadable(self._asked, "was stopped by a content filter")
        if choice.finish_reason == "length":
            raise unreadable(self._asked, f"did not come to an end within {prompt.max_tokens} tokens")
        text = choice.message.content
        if text is None or not text.strip():
            raise unreadable(self._asked, "sent an empty answer")
        return text


def conceded(dialect: Dialect, error: APIStatusError) -> Dialect | None:
    """The dialect without what a refusal names as the reason; None where it names nothing that can be left out."""
    if error.status_code not in (400, 422):
        return None
    # Servers differ in where they put the name: `param`, a message, a list of faults.
    said = error.response.text
    for name, field, taken, instead in _CONCESSIONS:
        if name in said and getattr(dialect, field) == taken:
            return dialect._replace(**{field: instead})
    return None


_CONCESSIONS: tuple[tuple[str, str, Any, Any], ...] = (
    ("cache_prompt", "cache_prompt", True, False),
    ("max_completion_tokens", "limit", "max_tokens", "max_completion_tokens"),
    ("response_format", "format", "json_schema", "json_object"),
    ("json_schema", "format", "json_schema", "json_object"),
    ("response_format", "format", "json_object", "text"),
    ("json_object", "format", "json_object", "text"),
    ("seed", "seed", True, False),
)
"""What a refusal names, the field of the dialect that it speaks of, what was sent, and what is sent instead."""


class _Message(BaseModel):
    content: str | None = None
    refusal: str | None = None


class _Choice(BaseModel):
    message: _Message
    finish_reason: str | None = None


class _Completion(BaseModel):
    """What is read of a chat completion."""

    choices: list[_Choice]
