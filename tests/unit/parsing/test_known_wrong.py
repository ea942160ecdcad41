"""Cases that come out wrong: the list fails when one of them gets fixed, which then becomes a golden log."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from mem.parsing import extract

CASES: list[dict[str, Any]] = tomllib.loads(
    (Path(__file__).parents[2] / "fixtures" / "known_wrong.toml").read_text(encoding="utf-8")
)["case"]


def seen(log: str) -> dict[str, str | int | None]:
    found = extract(log)
    first = found[0] if found else None
    return {
        "count": len(found),
        "tool": first.tool if first else "",
        "rule": first.rule if first else "",
        "code": (first.code or "") if first else "",
        "message": first.message if first else "",
    }


@pytest.mark.parametrize("case", CASES, ids=lambda case: case["id"])
def test_a_known_wrong_case_is_still_wrong_in_the_known_way(case: dict[str, Any]) -> None:
    """What is desired does not hold, and what the list calls actual does."""
    shown = seen(case["log"])
    assert case["actual"].keys() == case["desired"].keys()
    assert {name: shown[name] for name in case["desired"]} != case["desired"], "fixed: make it a golden log"
    assert {name: shown[name] for name in case["actual"]} == case["actual"], "wrong in another way: correct the list"
