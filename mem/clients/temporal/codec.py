"""Payloads encrypted before they reach Temporal: AES-256-GCM, a key id beside each, and keys that can be changed."""

from __future__ import annotations

import os
from collections.abc import Sequence

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from google.protobuf.message import DecodeError
from temporalio.api.common.v1 import Payload
from temporalio.converter import PayloadCodec

from mem.domain.errors import ConfigurationError
from mem.domain.payload_keys import PayloadKey

ENCODING = b"binary/encrypted"
CIPHER = b"aes-256-gcm"
KEY_ID = "encryption-key-id"
"""The names that other SDKs' examples use, so that tools which look for them find them."""
NONCE_BYTES = 12

_ADD = "Put that key into MEM_PAYLOAD_KEY of this process, behind those that it has, and start it again."


class EncryptingCodec(PayloadCodec):
    """Encrypts with the first key and decrypts with whichever a payload names.

    What was not encrypted passes, so that runs of before stay readable. Without keys nothing is encrypted, and what
    another process has encrypted is refused by name, rather than taken for something unknown.
    """

    def __init__(self, keys: Sequence[PayloadKey] = ()) -> None:
        self._ciphers = {key.id: AESGCM(key.secret) for key in keys}
        self._first = keys[0].id if keys else None

    async def encode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Each payload as one that tells nothing but the key's id; one that is encrypted already stays so."""
        return [self._encrypted(payload) for payload in payloads]

    async def decode(self, payloads: Sequence[Payload]) -> list[Payload]:
        """Each payload as it was.

        Raises:
            ConfigurationError: the key of one is not known here, or it was changed on its way.
        """
        return [self._decrypted(payload) for payload in payloads]

    def _encrypted(self, payload: Payload) -> Payload:
        if self._first is None or payload.metadata.get("encoding") == ENCODING:
            return payload
        nonce = os.urandom(NONCE_BYTES)
        name = self._first.encode("ascii")
        sealed = self._ciphers[self._first].encrypt(nonce, payload.SerializeToString(), _bound_to(name))
        return Payload(metadata={"encoding": ENCODING, "encryption-cipher": CIPHER, KEY_ID: name}, data=nonce + sealed)

    def _decrypted(self, payload: Payload) -> Payload:
        if payload.metadata.get("encoding") != ENCODING:
            return payload
        name = payload.metadata.get(KEY_ID, b"")
        cipher = self._ciphers.get(shown := name.decode("ascii", "backslashreplace")[:64])
        if cipher is None:
            raise ConfigurationError(
                f"A payload is encrypted with key {shown!r}, which MEM_PAYLOAD_KEY does not hold here.",
                _ADD,
            )
        try:
            opened = cipher.decrypt(payload.data[:NONCE_BYTES], payload.data[NONCE_BYTES:], _bound_to(name))
            return Payload.FromString(opened)
        except (InvalidTag, ValueError, DecodeError) as error:
            raise ConfigurationError(
                f"A payload cannot be decrypted with key {shown!r}: it was changed, or this is another key.",
                "Check that MEM_PAYLOAD_KEY holds the same keys everywhere.",
            ) from error


def _bound_to(key_id: bytes) -> bytes:
    """What a payload is held to besides its content, so that nobody can put another key's id on it."""
    return b";".join((ENCODING, CIPHER, key_id))
