"""What every ledger does."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest

from mem.domain.errors import RequestConflict
from mem.ports import LedgerKey, Reach, Seen, Settlement
from tests.contract.parts import signature

HERE = Reach("p", federated=False)


def _key(request_id: str = "1", operation: str = "context") -> LedgerKey:
    return LedgerKey(operation, "p", request_id)


def _settlement(request_id: str = "1", *, fingerprint: str = "f", names: str = "a", reach: Reach = HERE) -> Settlement:
    return Settlement(_key(request_id), fingerprint, tuple(signature(name) for name in names), reach)


def _render(seen) -> bytes:
    return repr(sorted(seen.items())).encode()


async def test_store_and_find(parts):
    """The first response stored under a request is the one found."""
    assert await parts.ledger.find(_key(), "f") is None
    assert await parts.ledger.store(_key(), "f", b"first\x00") == b"first\x00"
    assert await parts.ledger.store(_key(), "f", b"second") == b"first\x00"
    assert await parts.ledger.find(_key(), "f") == b"first\x00"
    assert await parts.ledger.find(_key(operation="accept"), "f") is None


async def test_what_was_answered_is_found_without_the_request(parts):
    """Whatever was asked, under the very key and until it expires; nothing is made of it."""
    assert await parts.ledger.recorded(_key()) is None
    await parts.ledger.store(_key(), "f", b"first\x00")
    assert await parts.ledger.recorded(_key()) == b"first\x00"
    assert await parts.ledger.recorded(_key(operation="query")) is None
    assert await parts.ledger.recorded(LedgerKey("context", "q", "1")) is None
    parts.clock.advance(timedelta(days=30))
    assert await parts.ledger.recorded(_key()) is None
    assert (await parts.journal.head()).length == 0


async def test_store_at_once(parts):
    """Of ten concurrent responses one is stored, and all ten callers get it."""
    stored = await asyncio.gather(*(parts.ledger.store(_key(), "f", bytes([number])) for number in range(10)))
    assert len(set(stored)) == 1


async def test_conflict(parts):
    """Another body under a used request id is a conflict, in every way to ask."""
    await parts.ledger.store(_key(), "f", b"")
    with pytest.raises(RequestConflict):
        await parts.ledger.find(_key(), "g")
    with pytest.raises(RequestConflict):
        await parts.ledger.store(_key(), "g", b"x")
    with pytest.raises(RequestConflict):
        await parts.ledger.settle(_settlement(fingerprint="g"), _render)
    assert await parts.ledger.find(_key(), "f") == b""


async def test_settle_counts_the_current_call(parts):
    """The counts given to the response include the call itself."""
    seen = {}
    await parts.ledger.settle(_settlement("1"), lambda counts: seen.update(counts) or b"1")
    assert seen == {"a": Seen(1, "2026-07-02")}
    await parts.ledger.settle(_settlement("2", names="ba"), lambda counts: seen.update(counts) or b"2")
    assert seen == {"a": Seen(2, "2026-07-02"), "b": Seen(1, "2026-07-02")}


async def test_settle_once(parts):
    """A settled request returns its bytes, renders nothing and counts nothing again."""
    first = await parts.ledger.settle(_settlement(), _render)
    assert await parts.ledger.settle(_settlement(), lambda _: pytest.fail("rendered again")) == first
    assert await parts.ledger.find(_key(), "f") == first
    assert (await parts.failures.seen(["a"], HERE))["a"].times == 1
    assert (await parts.journal.head()).length == 1


async def test_settle_at_once(parts):
    """Fifty concurrent settlements of one request give one body, one count and one record."""
    bodies = await asyncio.gather(*(parts.ledger.settle(_settlement(), _render) for _ in range(50)))
    assert len(set(bodies)) == 1
    assert (await parts.failures.seen(["a"], HERE))["a"].times == 1
    assert (await parts.journal.head()).length == 1


async def test_settlements_of_many_requests_at_once(parts):
    """Concurrent settlements that share signatures count each request once, and each sees its own number."""
    names = ["abc", "cba"]
    calls = [parts.ledger.settle(_settlement(str(n), names=names[n % 2]), _render) for n in range(20)]
    bodies = await asyncio.gather(*calls)
    assert (await parts.failures.seen(["a"], HERE))["a"].times == 20
    assert len(set(bodies)) == 20


async def test_reach_of_the_counts(parts):
    """The counts of a settlement cover the projects within its reach."""
    await parts.ledger.settle(_settlement("1", reach=Reach("q", federated=False)), _render)
    seen = {}
    await parts.ledger.settle(_settlement("2"), lambda counts: seen.update(counts) or b"")
    assert seen["a"].times == 1
    reach = Reach("p", federated=True)
    await parts.ledger.settle(_settlement("3", reach=reach), lambda counts: seen.update(counts) or b"")
    assert seen["a"].times == 3


async def test_failed_rendering_leaves_nothing(parts):
    """A response that cannot be made leaves no count, no record and no row."""
    with pytest.raises(ZeroDivisionError):
        await parts.ledger.settle(_settlement(), lambda _: b"%d" % (1 // 0))
    assert (await parts.failures.seen(["a"], HERE))["a"].times == 0
    assert (await parts.journal.head()).length == 0
    assert await parts.ledger.find(_key(), "f") is None


async def test_expiry(parts):
    """An expired response is not found, and is deleted a batch at a time; others stay."""
    for number in range(3):
        await parts.ledger.store(_key(str(number)), "f", b"old")
    parts.clock.advance(timedelta(days=29, hours=23))
    await parts.ledger.store(_key("new"), "f", b"new")
    assert await parts.ledger.find(_key("0"), "f") == b"old"
    parts.clock.advance(timedelta(hours=1))
    assert await parts.ledger.find(_key("0"), "other body") is None
    assert await parts.ledger.store(_key("0"), "g", b"again") == b"again"
    assert [await parts.ledger.expire(limit=1), await parts.ledger.expire(), await parts.ledger.expire()] == [1, 1, 0]
    assert await parts.ledger.find(_key("0"), "g") == b"again"
    assert await parts.ledger.find(_key("new"), "f") == b"new"


async def test_settle_after_expiry(parts):
    """A request settled again after its response expired counts nothing again, whatever it sees now."""
    await parts.ledger.settle(_settlement(), _render)
    parts.clock.advance(timedelta(days=40))
    seen = {}
    await parts.ledger.settle(_settlement(names="ab"), lambda counts: seen.update(counts) or b"again")
    assert seen == {"a": Seen(1, "2026-07-02"), "b": Seen(0, None)}
    assert await parts.ledger.find(_key(), "f") == b"again"
    assert (await parts.journal.head()).length == 1


async def test_conflict_after_expiry(parts):
    """Another body is a conflict also when the response has expired, since the journal remembers the first."""
    await parts.ledger.settle(_settlement(), _render)
    parts.clock.advance(timedelta(days=40))
    with pytest.raises(RequestConflict):
        await parts.ledger.settle(_settlement(fingerprint="g"), _render)


async def test_settle_without_sightings(parts):
    """A lookup without a failure in it is settled too."""
    assert await parts.ledger.settle(_settlement(names=""), _render) == b"[]"
