"""A job that passed has no failure, whatever words its tools use; several failures are several signatures."""

from __future__ import annotations

from itertools import combinations

import pytest

from mem.parsing import extract
from tests.unit.parsing.passing import BLOCKS, PROSE
from tests.unit.parsing.renderings import PASSED

NAMES = sorted(BLOCKS)
PAIRS = list(combinations(NAMES, 2))[::7]
SYSTEMS = sorted(PASSED)


@pytest.mark.parametrize("name", NAMES)
def test_a_tool_that_passed_has_no_failure(name: str) -> None:
    """What a tool writes when all is well is no failure, even where nothing tells that the job passed."""
    assert [(one.rule, one.message) for one in extract(BLOCKS[name])] == []


@pytest.mark.parametrize("names", PAIRS, ids="+".join)
def test_several_tools_that_passed_have_no_failure(names: tuple[str, ...]) -> None:
    """What one tool wrote does not make a failure of what another one wrote."""
    assert [(one.rule, one.message) for one in extract("".join(BLOCKS[name] for name in names))] == []


@pytest.mark.parametrize("name", NAMES)
def test_a_job_that_passed_has_no_failure_in_any_system(name: str) -> None:
    """A system that says that the job passed is believed; one that says nothing adds no failure."""
    for system in SYSTEMS:
        assert [(system, one.rule, one.message) for one in extract(PASSED[system](BLOCKS[name]))] == []


@pytest.mark.parametrize("name", sorted(PROSE))
def test_prose_about_errors_is_no_failure(name: str) -> None:
    """A text about errors is none."""
    assert [(one.rule, one.message) for one in extract(PROSE[name])] == []
