"""An embedding model behind /embeddings."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Sequence

from openai import AsyncOpenAI
from pydantic import BaseModel, ValidationError

from mem.clients.openai.connection import Endpoint
from mem.clients.openai.errors import CALL_ERRORS, RARELY, Asked, failure_of, unreadable
from mem.domain.errors import ControllerRefused, Unavailable

EMBED_SECONDS = 20.0
"""One batch; below the timeout of the steps that embed."""

MAX_BYTES = 8 * 1024 * 1024
"""A batch of the longest vectors, their numbers written out."""

BATCH = 16
CUTS = (8000, 1500, 400)
"""Bytes of a text that are embedded: no tokenizer makes more tokens than bytes, and what a model with a shorter window
refuses is tried shorter. The last fits every window."""

PROBE = "dimension"


class OpenAiEmbedder:
    """Unit vectors from an embedding model; long texts are cut."""

    def __init__(self, client: AsyncOpenAI, asked: Asked, dimensions: int) -> None:
        self._client = client
        self._asked = asked
        self._dimensions = dimensions

    @classmethod
    async def at(cls, endpoint: Endpoint, model: str, dimensions: int | None) -> OpenAiEmbedder:
        """The model of that name at an endpoint; where its dimensions are not known, one call finds them.

        Raises:
            Unavailable: the dimensions are not known, and it does not answer.
        """
        asked = Asked("embedding model", model, endpoint.host, "MEM_EMBEDDING_MODEL")
        client = endpoint.connect(seconds=EMBED_SECONDS, max_bytes=MAX_BYTES)
        embedder = cls(client, asked, dimensions or 0)
        if dimensions is None:
            try:
                embedder._dimensions = len((await embedder._vectors([PROBE]))[0])
            except BaseException:
                await client.close()
                raise
        return embedder

    @property
    def model_id(self) -> str:
        """The model's name as configured."""
        return self._asked.model

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return self._dimensions

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text.

        Raises:
            Unavailable: it does not answer, or not with vectors of the index's dimensions.
        """
        vectors: list[list[float]] = []
        for begin in range(0, len(texts), BATCH):
            vectors += await self._batch(texts[begin : begin + BATCH])
        return [self._unit(vector) for vector in vectors]

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    async def _batch(self, texts: Sequence[str]) -> list[list[float]]:
        try:
            return await self._vectors([_cut(text, CUTS[0]) for text in texts])
        except Unavailable as error:
            if not isinstance(error.__cause__, ControllerRefused):
                raise
        return [await self._one(text) for text in texts]

    async def _one(self, text: str) -> list[float]:
        """The vector of a text of a batch that was refused, cut until it is taken."""
        for length in CUTS[:-1]:
            try:
                return (await self._vectors([_cut(text, length)]))[0]
            except Unavailable as error:
                if not isinstance(error.__cause__, ControllerRefused):
                    raise
        return (await self._vectors([_cut(text, CUTS[-1])]))[0]

    async def _vectors(self, texts: Sequence[str]) -> list[list[float]]:
        """What the model answers; a refusal is told as the cause of an `Unavailable`, since no default stands in."""
        try:
            try:
                async with asyncio.timeout(EMBED_SECONDS):
                    response = await self._client.embeddings.with_raw_response.create(
                        model=self._asked.model, input=[text or " " for text in texts], encoding_format="float"
                    )
            except CALL_ERRORS as error:
                raise failure_of(error, self._asked) from None
            return self._read(response.http_response.content, len(texts))
        except ControllerRefused as error:
            remedy = "Check MEM_EMBEDDING_MODEL and OPENAI_BASE_URL; it is asked again until it answers."
            raise Unavailable(error.cause, remedy, retry_after=RARELY) from error

    def _read(self, body: bytes, count: int) -> list[list[float]]:
        try:
            rows = sorted(_Embeddings.model_validate_json(body).data, key=lambda row: row.index)
        except ValidationError:
            raise unreadable(self._asked, "sent something that is no list of embeddings") from None
        if [row.index for row in rows] != list(range(count)):
            raise unreadable(self._asked, f"sent {len(rows)} embeddings for {count} texts")
        return [row.embedding for row in rows]

    def _unit(self, vector: Sequence[float]) -> list[float]:
        if len(vector) != self._dimensions:
            raise Unavailable(
                f"{self._asked} makes vectors of {len(vector)} dimensions; the vector index wants {self._dimensions}.",
                "Let OPENAI_BASE_URL serve the model that the index was made with, or rebuild the index for this one.",
                retry_after=RARELY,
            )
        length = math.sqrt(math.fsum(value * value for value in vector))
        if not length or not math.isfinite(length):
            raise Unavailable(
                f"{self._asked} sent a vector without a direction.", "Check the model.", retry_after=RARELY
            )
        return [value / length for value in vector]


def _cut(text: str, length: int) -> str:
    return text.encode("utf-8", "replace")[:length].decode("utf-8", "ignore")


class _Embedding(BaseModel):
    index: int
    embedding: list[float]


class _Embeddings(BaseModel):
    """What is read of a list of embeddings."""

    data: list[_Embedding]
