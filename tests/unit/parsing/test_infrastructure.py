"""Short failures of infrastructure: the tool is told, noise keeps the key, identity changes it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from mem.domain.signatures import Signature
from mem.parsing import extract

FILE = Path(__file__).parents[2] / "fixtures" / "infrastructure_failures.toml"
CASES = tomllib.loads(FILE.read_text(encoding="utf-8"))["case"]


def first_of(log: str) -> Signature:
    """The first failure of a run that shows `log` between a good line and a wrapper."""
    found = extract(f"checked 3 files, 0 errors\n{log}\nmake: *** [run] Error 1\n")
    assert found, "nothing was found"
    return found[0]


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['tool']}: {case['log'][:60]}")
def test_a_failure_is_told_apart(case: dict[str, Any]) -> None:
    """Each case has its tool; its edits of noise share its key, its edits of identity do not."""
    log = case["log"]
    first = first_of(log)
    assert first.tool == case["tool"]
    for old, new in case.get("same", []):
        assert old in log, "the change changes nothing"
        assert first_of(log.replace(old, new)).sig_sha == first.sig_sha, (old, new)
    for old, new in case.get("other", []):
        assert old in log, "the change changes nothing"
        assert first_of(log.replace(old, new)).sig_sha != first.sig_sha, (old, new)
