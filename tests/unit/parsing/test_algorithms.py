"""Keys under more than one version of the algorithm."""

from __future__ import annotations

import pytest

from mem.domain.signatures import ALGO
from mem.parsing import current_algo, distill, extract
from mem.parsing.key import ALGOS
from tests.algorithms import blind_algorithm, rough_algorithm, second_algorithm

ONE = "a.c:1:2: error: unknown type name 'alpha'\n"
OTHER = "a.c:1:2: error: unknown type name 'beta'\n"
NOISE = "".join(f"2026-07-02T10:00:00Z step {number} of the build went by without a word\n" for number in range(3000))


def test_the_highest_version_is_the_current_one(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the domain names is what keys are made under, and a higher version takes its place."""
    assert current_algo() == ALGO
    assert (extract(ONE)[0].algo, extract(ONE)[0].earlier) == (ALGO, ())
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    assert (current_algo(), extract(ONE)[0].algo) == (2, 2)


def test_a_new_version_changes_both_keys_and_knows_the_old_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """The version is a part of both keys; those of every earlier version come along, newest first."""
    old = extract(ONE)[0]
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    middle = extract(ONE)[0]
    monkeypatch.setitem(ALGOS, 3, second_algorithm)
    new = extract(ONE)[0]
    assert len({old.sig_sha, middle.sig_sha, new.sig_sha, old.sig_coarse, middle.sig_coarse, new.sig_coarse}) == 6
    assert new.earlier == ((2, middle.sig_sha, middle.sig_coarse), (1, old.sig_sha, old.sig_coarse))
    assert new.keys == [new.sig_sha, middle.sig_sha, old.sig_sha]
    assert new.coarse_keys == [new.sig_coarse, middle.sig_coarse, old.sig_coarse]
    assert (new.tool, new.rule, new.message, new.excerpt) == (old.tool, old.rule, old.message, old.excerpt)


def test_earlier_keys_are_never_written_down(monkeypatch: pytest.MonkeyPatch) -> None:
    """Contract, journal and rows have the fields that they had."""
    fields = set(extract(ONE)[0].model_dump())
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    assert set(extract(ONE)[0].model_dump()) == fields
    assert "earlier" not in extract(ONE)[0].model_dump_json()


def test_versions_tell_failures_apart_on_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two failures that an earlier version took for one are two, with one earlier key."""
    monkeypatch.setattr("mem.parsing.key.ALGOS", {1: rough_algorithm, 2: second_algorithm})
    one, other = extract(ONE + "\n" * 9 + OTHER)
    assert one.sig_sha != other.sig_sha
    assert one.earlier == other.earlier != ()


def test_a_version_that_identifies_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The current version decides whether there is a signature; an earlier one may have had none."""
    monkeypatch.setattr("mem.parsing.key.ALGOS", {1: blind_algorithm, 2: second_algorithm})
    assert [signature.earlier for signature in extract(ONE)] == [()]
    monkeypatch.setattr("mem.parsing.key.ALGOS", {1: second_algorithm, 2: blind_algorithm})
    assert extract(ONE) == []


def test_distilling_keeps_the_keys_of_all_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    """A long log is cut by its caller, and still finds the rows of every version."""
    monkeypatch.setitem(ALGOS, 2, second_algorithm)
    log = NOISE + ONE + NOISE
    assert [one.keys for one in extract(distill(log).text)] == [one.keys for one in extract(log)] != []
