"""The codec of payloads, and the keys that it takes."""

from __future__ import annotations

from base64 import b64encode
from hashlib import sha256

import pytest
from pydantic import BaseModel, ValidationError
from temporalio.api.common.v1 import Payload
from temporalio.api.failure.v1 import Failure
from temporalio.exceptions import ApplicationError

from mem.clients.temporal.codec import EncryptingCodec
from mem.clients.temporal.converter import data_converter
from mem.domain.errors import ConfigurationError
from mem.domain.payload_keys import PayloadKey, parse_payload_keys

OLD, NEW = (PayloadKey(name, sha256(name.encode()).digest()) for name in ("old", "new"))
PLAIN = Payload(metadata={"encoding": b"json/plain", "messageType": b"told"}, data=b'"a lesson"')


async def test_what_is_encrypted_tells_its_key_alone():
    """Content and metadata come back as they were; meanwhile nothing of them is told, and no two are alike."""
    codec = EncryptingCodec([NEW, OLD])
    first, second = await codec.encode([PLAIN, PLAIN])
    assert first.metadata == {
        "encoding": b"binary/encrypted", "encryption-cipher": b"aes-256-gcm", "encryption-key-id": b"new",
    }  # fmt: skip
    assert first.data != second.data
    assert b"lesson" not in first.SerializeToString()
    assert b"told" not in first.SerializeToString()
    assert await codec.decode([first, second]) == [PLAIN, PLAIN]
    assert await codec.encode([first]) == [first]


async def test_keys_are_changed_without_losing_what_was_written():
    """The first key encrypts and all decrypt; what was never encrypted passes."""
    (before,) = await EncryptingCodec([OLD]).encode([PLAIN])
    assert await EncryptingCodec([NEW, OLD]).decode([before, PLAIN]) == [PLAIN, PLAIN]
    assert await EncryptingCodec().encode([PLAIN]) == [PLAIN]


@pytest.mark.parametrize("keys", [[], [NEW]], ids=["none", "another"])
async def test_a_missing_key_is_named(keys):
    """A payload of a key that is not there is refused by the key's name, whether or not there are others."""
    (sealed,) = await EncryptingCodec([OLD]).encode([PLAIN])
    with pytest.raises(ConfigurationError, match=r"key 'old'.*MEM_PAYLOAD_KEY"):
        await EncryptingCodec(keys).decode([sealed])


async def test_what_was_changed_is_refused():
    """Neither another key's id, nor another key under the same id, nor other bytes are taken."""
    codec = EncryptingCodec([NEW, OLD])
    (sealed,) = await codec.encode([PLAIN])
    renamed = Payload(metadata=dict(sealed.metadata) | {"encryption-key-id": b"old"}, data=sealed.data)
    twin = EncryptingCodec([NEW, PayloadKey("old", NEW.secret)])
    changed = Payload(metadata=sealed.metadata, data=sealed.data[:-1] + bytes([sealed.data[-1] ^ 1]))
    short = Payload(metadata=sealed.metadata, data=sealed.data[:5])
    for decoding, payload in [(codec, renamed), (twin, renamed), (codec, changed), (codec, short)]:
        with pytest.raises(ConfigurationError, match="cannot be decrypted"):
            await decoding.decode([payload])


def test_keys_are_read_as_they_are_printed():
    """Blanks around commas and a comma too many do no harm; nothing set is no key; a key does not show itself."""
    assert parse_payload_keys(f" {NEW} ,\n{OLD},") == (NEW, OLD)
    assert parse_payload_keys("") == parse_payload_keys(None) == parse_payload_keys(" ") == ()
    assert b64encode(NEW.secret).decode() not in repr(NEW)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (b64encode(OLD.secret).decode(), "does not begin with an id"),
        (f"two words:{b64encode(OLD.secret).decode()}", "does not begin with an id"),
        (f"a:{b64encode(OLD.secret).decode()[:-2]}", "no base64"),
        (f"a:{b64encode(OLD.secret[:16]).decode()}", "has 16 bytes"),
        (f"{OLD},{OLD}", "names key 'old' twice"),
        (" , ,", "holds no key"),
    ],
)
def test_what_is_no_key_is_told_without_being_quoted(text, told):
    """Each fault names its place and the way to make a key, and nothing of a key stands in it."""
    with pytest.raises(ConfigurationError, match=told) as refused:
        parse_payload_keys(text)
    assert refused.value.remedy
    assert b64encode(OLD.secret).decode()[:8] not in str(refused.value)


class _Asked(BaseModel):
    count: int


async def test_faults_of_messages_do_not_quote_them():
    """A message that breaks its contract is told by its fields; its values, and what stands in a name, are not."""
    secret = "ghp_" + "Ab3" * 12
    (payload,) = await data_converter().encode([{"count": f"for {secret}"}])
    with pytest.raises(ValidationError, match="count") as refused:
        await data_converter().decode([payload], [_Asked])
    assert secret not in str(refused.value)
    assert refused.value.__cause__ is None


async def test_texts_of_failures_are_encrypted():
    """With keys the message of a failure and of what caused it travel encrypted; without they are as ever."""
    inner = ApplicationError("the inner text")
    outer = ApplicationError("the outer text", "the detail")
    outer.__cause__ = inner
    sealed, plain = Failure(), Failure()
    await data_converter([NEW]).encode_failure(outer, sealed)
    await data_converter().encode_failure(outer, plain)
    assert b" text" not in sealed.SerializeToString()
    assert b"detail" not in sealed.SerializeToString().replace(b"details", b"")
    assert (plain.message, plain.cause.message) == ("the outer text", "the inner text")
    told = await data_converter([NEW]).decode_failure(sealed)
    assert isinstance(told, ApplicationError)
    assert (told.message, told.details, str(told.__cause__)) == ("the outer text", ("the detail",), "the inner text")
