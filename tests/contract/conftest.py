"""Contract tests run against the fakes and against Postgres."""

from __future__ import annotations

import pytest

from tests.contract.parts import Parts, fake_parts, postgres_parts


@pytest.fixture(params=["fakes", "postgres"])
def parts(request: pytest.FixtureRequest) -> Parts:
    if request.param == "fakes":
        return fake_parts()
    return postgres_parts(request.getfixturevalue("pool"))


@pytest.fixture
def both(pool) -> tuple[Parts, Parts]:
    return fake_parts(), postgres_parts(pool)
