"""Canonical JSON and the digests made from it."""

from __future__ import annotations

import hashlib
import json
from typing import Any

_MAX_EXACT = 2**53
"""Beyond it a number with a point does not tell one whole number from the next."""


def canonical_json(value: Any) -> bytes:
    """`value` as JSON with sorted keys and no spaces, in UTF-8: equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("utf-8")


def strict_json(text: str | bytes | bytearray) -> Any:
    """Parse JSON that means the same to every reader.

    Raises:
        ValueError: it is no JSON in UTF-8, names a field twice, holds NaN or a lone surrogate, or is nested too deeply.
    """
    try:
        value = json.loads(text, object_pairs_hook=_unique, parse_constant=_no_constant)
        canonical_json(value)  # a lone surrogate shows when it is encoded
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    except UnicodeEncodeError as error:
        raise ValueError("a text holds a lone surrogate") from error
    return value


def whole_numbers(value: Any) -> Any:
    """A value of JSON in which whole numbers are integers however they were written, as JSON Schema has it."""
    match value:
        case float() if value.is_integer() and abs(value) <= _MAX_EXACT:
            return int(value)
        case dict():
            return {name: whole_numbers(each) for name, each in value.items()}
        case list():
            return [whole_numbers(each) for each in value]
        case _:
            return value


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    fields = dict(pairs)
    if len(fields) != len(pairs):
        raise ValueError("a field stands twice")
    return fields


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def sha256_hex(data: bytes | str) -> str:
    """The sha256 of bytes, or of a text in UTF-8, in hex."""
    return hashlib.sha256(data.encode("utf-8") if isinstance(data, str) else data).hexdigest()


def canonical_sha(value: Any) -> str:
    """The sha256 of the canonical JSON of `value`, in hex."""
    return sha256_hex(canonical_json(value))
