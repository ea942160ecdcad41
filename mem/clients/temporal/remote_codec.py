"""The codec for tools without keys, which send payloads as JSON: Temporal's UI and command line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from google.protobuf.json_format import MessageToDict, ParseDict, ParseError
from temporalio.api.common.v1 import Payload, Payloads

from mem.clients.temporal.codec import EncryptingCodec
from mem.domain.errors import ConfigurationError, InvalidRequest


class Converted(NamedTuple):
    """The payloads as JSON again, and in words which of them could not be read, each reason once."""

    payloads: dict[str, Any]
    notes: tuple[str, ...]


class RemoteCodec:
    """Reads and writes payloads in the JSON of protocol buffers: `{"payloads": [{"metadata": {…}, "data": "…"}]}`."""

    def __init__(self, codec: EncryptingCodec) -> None:
        self._codec = codec

    async def encode(self, fields: Mapping[str, Any]) -> Converted:
        """All of them encrypted.

        Raises:
            InvalidRequest: these are no payloads.
        """
        return _written(await self._codec.encode(_read(fields)), ())

    async def decode(self, fields: Mapping[str, Any]) -> Converted:
        """All of them in clear. One that cannot be read stays as it is, so that its neighbours can be.

        Raises:
            InvalidRequest: these are no payloads.
        """
        found: list[Payload] = []
        notes: dict[str, None] = {}
        for payload in _read(fields):
            try:
                found += await self._codec.decode([payload])
            except ConfigurationError as error:
                found.append(payload)
                notes[error.cause] = None
        return _written(found, tuple(notes))


def _read(fields: Mapping[str, Any]) -> list[Payload]:
    try:
        return list(ParseDict(dict(fields), Payloads(), ignore_unknown_fields=True).payloads)
    except ParseError:
        # Its text may quote what stands in them.
        raise InvalidRequest(
            "These are no payloads.", 'Send {"payloads": [{"metadata": {…}, "data": "…"}]}, values in base64.'
        ) from None


def _written(payloads: list[Payload], notes: tuple[str, ...]) -> Converted:
    return Converted({"payloads": [MessageToDict(payload) for payload in payloads]}, notes)
