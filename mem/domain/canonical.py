"""Canonical JSON and the digests made from it."""

from __future__ import annotations

import hashlib
import json
from typing import Any


def canonical_json(value: Any) -> bytes:
    """`value` as JSON with sorted keys and no spaces, in UTF-8: equal values give equal bytes."""
    return json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"), allow_nan=False).encode("utf-8")


def sha256_hex(data: bytes | str) -> str:
    """The sha256 of bytes, or of a text in UTF-8, in hex."""
    return hashlib.sha256(data.encode("utf-8") if isinstance(data, str) else data).hexdigest()


def canonical_sha(value: Any) -> str:
    """The sha256 of the canonical JSON of `value`, in hex."""
    return sha256_hex(canonical_json(value))
