"""The data converter of every process: pydantic messages, bounded failures, and encryption where there are keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError
from pydantic_core import InitErrorDetails, PydanticCustomError
from temporalio.api.common.v1 import Payload
from temporalio.contrib.pydantic import PydanticPayloadConverter
from temporalio.converter import DataConverter

from mem.clients.temporal.codec import EncryptingCodec
from mem.clients.temporal.failures import MAX_FAULTS, BoundedFailures, EncodedBoundedFailures
from mem.domain.payload_keys import PayloadKey
from mem.parsing.redact import redact

MAX_FAULT_CHARACTERS = 200


class QuietPayloadConverter(PydanticPayloadConverter):
    """Pydantic's converter, whose faults do not quote the input: they stand in histories and in the worker's log."""

    def from_payloads(self, payloads: Sequence[Payload], type_hints: list[type] | None = None) -> list[Any]:
        """The values of payloads.

        Raises:
            ValidationError: one breaks its contract; names the fields.
        """
        try:
            return super().from_payloads(payloads, type_hints)
        except ValidationError as error:
            raise _quiet(error) from None


def data_converter(keys: Sequence[PayloadKey] = ()) -> DataConverter:
    """How messages become payloads, and, where there are keys, failures' texts become payloads too."""
    return DataConverter(
        payload_converter_class=QuietPayloadConverter,
        payload_codec=EncryptingCodec(keys),
        failure_converter_class=EncodedBoundedFailures if keys else BoundedFailures,
    )


def _quiet(error: ValidationError) -> ValidationError:
    """The same faults without the input, and without what a caller may have put into the names of fields."""
    told = error.errors(include_url=False, include_input=False, include_context=False)[:MAX_FAULTS]
    faults = [
        InitErrorDetails(
            type=PydanticCustomError("refused", "{told}", {"told": _short(fault["msg"])}),
            loc=tuple(_short(part) if isinstance(part, str) else part for part in fault["loc"]),
            input=None,
        )
        for fault in told
    ]
    return ValidationError.from_exception_data(error.title, faults, hide_input=True)


def _short(text: str) -> str:
    return redact(text).text[:MAX_FAULT_CHARACTERS]
