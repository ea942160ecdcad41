"""The keys that payloads in Temporal are encrypted with, as a setting holds them."""

from __future__ import annotations

import binascii
import re
from base64 import b64decode, b64encode
from typing import NamedTuple

from mem.domain.errors import ConfigurationError

KEY_BYTES = 32
_ID = re.compile(r"[A-Za-z0-9._-]{1,64}")
_MAKE = "Make one with `mem key new`, and set MEM_PAYLOAD_KEY to it; several are separated by commas."


class PayloadKey(NamedTuple):
    """A key of AES-256 and the name that stands beside what it encrypted."""

    id: str
    secret: bytes

    def __str__(self) -> str:
        """As the setting holds it."""
        return f"{self.id}:{b64encode(self.secret).decode('ascii')}"

    def __repr__(self) -> str:
        """Its name alone: errors and logs show this."""
        return f"PayloadKey(id={self.id!r})"


def parse_payload_keys(text: str | None) -> tuple[PayloadKey, ...]:
    """The keys of a setting, the one that encrypts first; none where nothing is set.

    Raises:
        ConfigurationError: it is malformed. A fault is told by its place, and never quotes what may be a key.
    """
    parts = [part.strip() for part in (text or "").split(",")]
    keys = [_parsed(part, number) for number, part in enumerate(parts, start=1) if part]
    if not keys and "," in (text or ""):
        # Somebody meant to encrypt.
        raise ConfigurationError("MEM_PAYLOAD_KEY holds no key.", _MAKE)
    names = [key.id for key in keys]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(f"MEM_PAYLOAD_KEY names key {name!r} twice.", "Give each key an id of its own.")
    return tuple(keys)


def _parsed(part: str, number: int) -> PayloadKey:
    name, colon, encoded = part.partition(":")
    where = f"Key {number} of MEM_PAYLOAD_KEY"
    # What stands before a colon is a name; without one it may be the key itself.
    if not colon or not is_key_id(name):
        raise ConfigurationError(
            f"{where} does not begin with an id of 1 to 64 letters, digits, '.', '_' and '-', and a colon.", _MAKE
        )
    try:
        secret = b64decode(encoded.strip(), validate=True)
    except (binascii.Error, ValueError) as error:
        raise ConfigurationError(f"{where} ({name}) is no base64.", _MAKE) from error
    if len(secret) != KEY_BYTES:
        raise ConfigurationError(f"{where} ({name}) has {len(secret)} bytes; AES-256 takes {KEY_BYTES}.", _MAKE)
    return PayloadKey(name, secret)


def is_key_id(name: str) -> bool:
    """Whether a key can be called so."""
    return _ID.fullmatch(name) is not None
