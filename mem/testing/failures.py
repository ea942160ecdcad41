"""The fake failures and the fake ledger."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, timedelta

from mem.domain.accepting import LinkedSignature
from mem.domain.errors import NotFound, RequestConflict
from mem.domain.rebuild import Compared
from mem.domain.signatures import Signature
from mem.ports import CoarseHit, GapQuery, GapsFound, Known, KnownHit, LedgerKey, Reach, Seen, Settlement
from mem.testing import gaps
from mem.testing.state import Answered, FakeState, Occurrence
from mem.writing import entries
from mem.writing.links import IDENTIFYING, compared


class FakeFailures:
    """The failures port."""

    def __init__(self, state: FakeState) -> None:
        self._state = state

    async def link(
        self, *, project: str, request_id: str, sha: str, signatures: Sequence[Signature]
    ) -> list[LinkedSignature]:
        """Link signatures to a memory and count the acceptance as a sighting of each, once."""
        state = self._state
        entry = entries.signatures(project, request_id, sha, signatures)
        async with state.lock:
            if entry.key not in state.by_key:
                if sha not in state.nodes:
                    raise NotFound(f"No node {sha}.", "Accept it first, or name another.")
                sight(state, project, "accept", request_id, signatures)
                state.links |= {(one.sig_sha, sha) for one in signatures}
            record = state.append(entry)
        return [LinkedSignature.model_validate(one) for one in record.data["signatures"]]

    async def linked(self, sha: str) -> list[LinkedSignature]:
        """The signatures that point at a memory, ordered by sig_sha."""
        found = [self._state.signatures[one] for one, node in sorted(self._state.links) if node == sha]
        return [LinkedSignature(sig_sha=one.sig_sha, tool=one.tool, rule=one.rule) for one in found]

    async def compare(self, sha: str, signatures: Sequence[Signature]) -> Compared:
        """How what is stored differs from these signatures pointing at a memory."""
        stored = {one: signature.model_dump(include=IDENTIFYING) for one, signature in self._state.signatures.items()}
        return compared(signatures, stored, {one for one, node in self._state.links if node == sha})

    async def relink(self, sha: str, signatures: Sequence[Signature]) -> Compared:
        """Make signatures that were derived anew point at a memory, journaled where that changes anything."""
        state = self._state
        async with state.lock:
            if sha not in state.nodes:
                raise NotFound(f"No node {sha}.", "Accept it first, or name another.")
            found = await self.compare(sha, signatures)
            if found.new or found.changed:
                correct(state, signatures)
                state.links |= {(one.sig_sha, sha) for one in signatures}
                revision = sum(key.startswith(entries.derived_prefix(sha)) for key in state.by_key) + 1
                state.append(entries.derived(sha, revision, signatures))
            return found

    async def known(self, sig_shas: Sequence[str], reach: Reach, algo: int) -> Known:
        """The nodes that the signatures point at, superseded ones included, by signature and sha; and since when."""
        hits = [KnownHit(*link) for link in sorted(self._links(reach, algo)) if link[0] in sig_shas]
        return Known(hits, _first_seen(self._state, sig_shas, reach))

    async def coarse(self, sig_coarse: Sequence[str], reach: Reach, algo: int, limit: int) -> list[CoarseHit]:
        """The nodes with a signature of equal coarse key, ordered by coarse key and sha."""
        found = {(self._state.signatures[one].sig_coarse, sha) for one, sha in self._links(reach, algo)}
        return [CoarseHit(*hit) for hit in sorted(found) if hit[0] in sig_coarse][:limit]

    def _links(self, reach: Reach, algo: int) -> set[tuple[str, str]]:
        """The links that count: those of the version `algo`, and others of nodes that have none of it."""
        state = self._state
        current = {link for link in state.links if state.signatures[link[0]].algo == algo}
        derived = {sha for _, sha in current}
        links = current | {link for link in state.links if link[1] not in derived}
        return {link for link in links if state.visible(link[1], reach)}

    async def seen(self, sig_shas: Sequence[str], reach: Reach) -> dict[str, Seen]:
        """The counts of each signature; zero where it was never seen."""
        return count(self._state, sig_shas, reach)

    async def gaps(self, query: GapQuery) -> GapsFound:
        """The signatures that were seen and point at no live memory that is readable."""
        return gaps.find(self._state, query)


class FakeLedger:
    """The ledger port; what it stores is invisible after `days`."""

    def __init__(self, state: FakeState, *, days: int = 30) -> None:
        self._state = state
        self._lifetime = timedelta(days=days)

    async def find(self, key: LedgerKey, fingerprint: str) -> bytes | None:
        """The stored response."""
        answered = self._row(key)
        if answered is not None and answered.fingerprint != fingerprint:
            raise RequestConflict.of(key.request_id)
        return None if answered is None else answered.response

    async def recorded(self, key: LedgerKey) -> bytes | None:
        """The response to whatever was asked under a key."""
        answered = self._row(key)
        return None if answered is None else answered.response

    def _row(self, key: LedgerKey) -> Answered | None:
        answered = self._state.ledger.get(key)
        return answered if answered is not None and answered.expires_at > self._state.clock.now() else None

    async def store(self, key: LedgerKey, fingerprint: str, response: bytes) -> bytes:
        """Store a response, or return the one stored first."""
        async with self._state.lock:
            found = await self.find(key, fingerprint)
            if found is None:
                self._insert(key, fingerprint, response)
            return response if found is None else found

    async def settle(self, settlement: Settlement, render: Callable[[Mapping[str, Seen]], bytes]) -> bytes:
        """Count the sightings, journal them, and store the response, or do nothing of it if `render` fails."""
        key, fingerprint, sightings, reach, returned = settlement
        state = self._state
        async with state.lock:
            found = await self.find(key, fingerprint)
            if found is not None:
                return found
            recorded = state.by_key.get(entries.lookup_key(*key))
            if recorded is not None and recorded.data["fingerprint"] != fingerprint:
                raise RequestConflict.of(key.request_id)
            before = state.signatures.copy(), state.occurrences.copy()
            try:
                if recorded is None:
                    sight(state, reach.project, key.operation, key.request_id, sightings)
                response = render(count(state, settlement.keys, reach))
            except BaseException:
                state.signatures, state.occurrences = before
                raise
            self._insert(key, fingerprint, response)
            if recorded is None:
                project = reach.project
                state.returned |= {(project, sha) for sha in returned if state.of_another_project(sha, project)}
            state.append(entries.lookup(settlement))
            return response

    async def expire(self, *, limit: int = 1000) -> int:
        """Delete a batch of expired rows; how many went."""
        now = self._state.clock.now()
        async with self._state.lock:
            expired = [key for key, answered in self._state.ledger.items() if answered.expires_at <= now][:limit]
            for key in expired:
                del self._state.ledger[key]
        return len(expired)

    def _insert(self, key: LedgerKey, fingerprint: str, response: bytes) -> None:
        expires_at = self._state.clock.now() + self._lifetime
        self._state.ledger[key] = Answered(fingerprint, response, expires_at)


def sight(state: FakeState, project: str, operation: str, request_id: str, signatures: Sequence[Signature]) -> None:
    """Record one sighting of each signature; one that is there stays."""
    today = state.clock.now().astimezone(UTC).date()
    for one in signatures:
        state.signatures.setdefault(one.sig_sha, one)
        state.occurrences.setdefault(Occurrence(project, operation, request_id, one.sig_sha), today)


def correct(state: FakeState, signatures: Sequence[Signature]) -> None:
    """Add signatures, or put right what identifies those that are there; the rest stays that of the first sighting."""
    for one in entries.once(signatures):
        first = state.signatures.get(one.sig_sha, one)
        state.signatures[one.sig_sha] = first.model_copy(update=one.model_dump(include=IDENTIFYING))


def count(state: FakeState, sig_shas: Sequence[str], reach: Reach) -> dict[str, Seen]:
    """The counts of each signature within a reach."""
    found = {}
    for sig_sha in sig_shas:
        days = list(_sightings(state, sig_sha, reach).values())
        found[sig_sha] = Seen(len(days), max(days).isoformat() if days else None)
    return found


def _first_seen(state: FakeState, sig_shas: Sequence[str], reach: Reach) -> dict[str, str]:
    """The day of the first sighting of each signature that an acceptance saw."""
    sightings = {sig_sha: _sightings(state, sig_sha, reach) for sig_sha in sig_shas}
    return {
        sig_sha: min(days.values()).isoformat()
        for sig_sha, days in sightings.items()
        if any(one.operation == "accept" for one in days)
    }


def _sightings(state: FakeState, sig_sha: str, reach: Reach) -> dict[Occurrence, date]:
    return {
        one: day
        for one, day in state.occurrences.items()
        if one.sig_sha == sig_sha and (reach.counted is None or one.project in reach.counted)
    }
