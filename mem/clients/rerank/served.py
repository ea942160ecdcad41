"""A reranker behind an address."""

from __future__ import annotations

import asyncio
import itertools
import json
from collections.abc import Sequence
from typing import NamedTuple
from urllib.parse import urlsplit, urlunsplit

import httpx2

from mem.clients.bounded_http import IDENTITY, OversizedError, UnreadableError, bounded, host_of
from mem.clients.rerank.calibration import Calibration
from mem.clients.rerank.forms import Form, UnreadableScoresError, forms_for, read_scores
from mem.clients.rerank.texts import document_text, query_text
from mem.domain.errors import ConfigurationError, Unavailable
from mem.ports import Candidate, RerankQuery

MAX_BYTES = 1024 * 1024
"""The scores of a batch, with the texts that some servers send back."""

MOST = 50
"""As many hits as a query may ask for, in two requests to a server of the usual batch."""

CALLS = 4
"""How many batches may be asked for at once, by all lookups of a process."""

IDLE_SECONDS = 2.0
"""Below the time after which servers close a connection, so that none is used which they just did."""

_FORM_REFUSED = {400, 413, 415, 422, 500, 501}
"""What servers answer to a body of a form that they do not know; some break over it."""

_MEANWHILE = "Recall order stands meanwhile."


class Endpoint(NamedTuple):
    """Where the reranker is, its model and the key to it, where it wants them."""

    url: str
    model: str | None
    key: str | None

    @property
    def host(self) -> str:
        """Host and port.

        Raises:
            ConfigurationError: there are none in the address.
        """
        return host_of(self.url, "MEM_RERANK_URL", "http://127.0.0.1:8080/rerank")

    @property
    def model_id(self) -> str:
        """The model's name as configured, else the host."""
        return self.model or self.host

    @property
    def address(self) -> str:
        """The address that scores are asked of: as it was given, or `rerank` below it."""
        assert self.host  # noqa: S101 - raises where there is none
        parts = urlsplit(self.url)
        path = parts.path.rstrip("/")
        if path.rpartition("/")[2] not in ("rerank", "reranking"):
            path += "/rerank"
        return urlunsplit((parts.scheme, parts.netloc, path, parts.query, ""))

    @property
    def headers(self) -> dict[str, str]:
        """What goes with each request.

        Raises:
            ConfigurationError: the key cannot stand in a header.
        """
        given = {**IDENTITY, "Content-Type": "application/json"}
        if self.key is None:
            return given
        if not (self.key.isascii() and self.key.isprintable()):
            raise ConfigurationError("MEM_RERANK_KEY holds characters that no key has.", "Set it again, or unset it.")
        return {**given, "Authorization": f"Bearer {self.key}"}


class ServedReranker:
    """Asks a server for the scores of batches of documents, in the form that it was first found to answer.

    There are no retries: a lookup has no time for them, and does without. What a server does not answer in one form is
    asked in the next one, until one was answered; that one is kept until it is refused.
    """

    def __init__(
        self, client: httpx2.AsyncClient, endpoint: Endpoint, calibration: Calibration, *,
        seconds: float, most: int | None, batch: int,
    ) -> None:  # fmt: skip
        self._client = client
        self._address = endpoint.address
        self._model_id = endpoint.model_id
        self._who = f"The reranker {endpoint.model!r} at {endpoint.host}" if endpoint.model else (
            f"The reranker at {endpoint.host}"
        )  # fmt: skip
        self._calibration = calibration
        self._forms = forms_for(self._address, endpoint.model, logits=calibration.scores == "logit")
        self._form: Form | None = None
        self._seconds = seconds
        self._most = most or MOST
        self._batch = batch

    @classmethod
    def at(
        cls, endpoint: Endpoint, calibration: Calibration, *, seconds: float, most: int | None, batch: int
    ) -> ServedReranker:
        """The reranker at an address; nothing is contacted.

        Raises:
            ConfigurationError: the address is none, or the key cannot be one.
        """
        client = httpx2.AsyncClient(
            headers=endpoint.headers,
            timeout=seconds,
            limits=httpx2.Limits(max_connections=CALLS, keepalive_expiry=IDLE_SECONDS),
            event_hooks=bounded(MAX_BYTES),
            # What is asked goes to the address that was set, and to no other that it names.
            follow_redirects=False,
        )
        return cls(client, endpoint, calibration, seconds=seconds, most=most, batch=batch)

    @property
    def model_id(self) -> str:
        """The model's name as configured, else the host."""
        return self._model_id

    @property
    def most(self) -> int | None:
        """How many candidates of a lookup are scored."""
        return self._most

    async def rerank(self, query: RerankQuery, candidates: Sequence[Candidate]) -> list[float]:
        """A probability for each candidate, in their order.

        Raises:
            Unavailable: it does not answer in time, or not with a score for each; says what to mend.
        """
        if not candidates:
            return []
        texts = [document_text(candidate) for candidate in candidates]
        try:
            async with asyncio.timeout(self._seconds):
                scores = await self._scores(query_text(query), texts)
        except _CALL_ERRORS as error:
            raise self._failure(error) from None
        return self._calibration.probabilities(scores, self._who)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def _scores(self, query: str, texts: Sequence[str]) -> list[float]:
        batches = even(texts, self._batch)
        form, scores = self._form, list[float]()
        if form is None:
            first, *batches = batches
            form, scores = await self._learn(query, first)
            self._form = form
        tasks = [asyncio.ensure_future(self._ask(form, query, batch)) for batch in batches]
        try:
            return scores + [score for found in await asyncio.gather(*tasks) for score in found]
        except (_StatusError, UnreadableScoresError):
            # Another server may stand there by now, so that the next lookup finds out anew.
            self._form = None
            raise
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _learn(self, query: str, texts: Sequence[str]) -> tuple[Form, list[float]]:
        first: Exception | None = None
        for form in self._forms:
            try:
                return form, await self._ask(form, query, texts)
            except UnreadableScoresError as error:
                first = first or error
            except _StatusError as error:
                if error.status not in _FORM_REFUSED:
                    raise
                first = first or error
        assert first is not None  # noqa: S101 - there is a form
        raise first

    async def _ask(self, form: Form, query: str, texts: Sequence[str]) -> list[float]:
        body = json.dumps(form(query, texts), ensure_ascii=False).encode("utf-8")
        response = await self._client.post(self._address, content=body)
        if response.status_code != 200:
            raise _StatusError(response.status_code)
        return read_scores(response.content, len(texts))

    def _failure(self, error: Exception) -> Unavailable:
        match error:
            case _StatusError():
                return Unavailable(
                    f"{self._who} answered {error.status}{_meaning(error.status)}.", _remedy(error.status)
                )
            case UnreadableScoresError():
                return Unavailable(f"{self._who} {error}.", f"Check that MEM_RERANK_URL leads to one. {_MEANWHILE}")
            case OversizedError():
                return Unavailable(f"{self._who} sent more than {error.max_bytes} bytes.", _MEANWHILE)
            case UnreadableError():
                return Unavailable(f"{self._who} sent an answer in an encoding that was not asked for.", _MEANWHILE)
            case TimeoutError() | httpx2.TimeoutException():
                return Unavailable(
                    f"{self._who} did not answer within {self._seconds:g} s.",
                    f"If it never does, lower MEM_RERANK_MOST, which is {self._most}.",
                )
            case _:
                return Unavailable(
                    f"{self._who} cannot be reached ({type(error).__name__}).", "Start it, or correct MEM_RERANK_URL."
                )


def even(texts: Sequence[str], size: int) -> list[Sequence[str]]:
    """Batches of at most that size, as few and as even as can be: the slowest of them is waited for."""
    count = -(-len(texts) // size)
    bounds = [len(texts) * number // count for number in range(count + 1)]
    return [texts[begin:end] for begin, end in itertools.pairwise(bounds)]


class _StatusError(Exception):
    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


_CALL_ERRORS = (
    _StatusError, UnreadableScoresError, OversizedError, UnreadableError, TimeoutError, httpx2.HTTPError,
    httpx2.InvalidURL,
)  # fmt: skip
"""What a call fails with, other than by a fault of ours."""


def _meaning(status: int) -> str:
    if status in (401, 403):
        return ": the key is missing, wrong, or does not give access to this model"
    if status in (404, 405, 410) or 300 <= status < 400:
        return ": no reranker is at this address, or none of this model"
    if status == 429:
        return ": it was asked too often"
    return ""


def _remedy(status: int) -> str:
    if status in (401, 403):
        return f"Check MEM_RERANK_KEY, then restart the worker. {_MEANWHILE}"
    if status in (404, 405, 410) or 300 <= status < 400:
        return f"Check MEM_RERANK_URL and MEM_RERANK_MODEL, then restart the worker. {_MEANWHILE}"
    if status in (400, 413, 415, 422):
        return f"Check MEM_RERANK_MODEL and MEM_RERANK_BATCH, and its log. {_MEANWHILE}"
    return f"See its log if it lasts. {_MEANWHILE}"
