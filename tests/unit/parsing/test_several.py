# ruff: noqa: RUF001 - tests write what tools write
"""Several failures of one log: each is found once, with the key that it has alone, the best first."""

from __future__ import annotations

import pytest

from mem.parsing import extract
from tests.unit.parsing.renderings import docker_build, github

HEAD = """============================= test session starts ==============================
platform linux -- Python 3.12.4, pytest-8.3.2, pluggy-1.5.0
collected 12 items

=================================== FAILURES ===================================
"""
TOTAL = """_________________________________ test_total ___________________________________

    def test_total():
>       assert Cart([3, 4]).total() == 7
E       assert 12 == 7

tests/test_cart.py:14: AssertionError
"""
REFUND = """_________________________________ test_refund __________________________________

    def test_refund():
>       pay.refund(None)
E       AttributeError: 'NoneType' object has no attribute 'amount'

tests/test_pay.py:22: AttributeError
"""
LISTED = {
    TOTAL: "FAILED tests/test_cart.py::test_total - assert 12 == 7\n",
    REFUND: "FAILED tests/test_pay.py::test_refund - AttributeError: 'NoneType' object has no attribute 'amount'\n",
}
ESLINT = """/home/ci/shop/src/cart.js
  14:7  error  'totl' is not defined  no-undef

✖ 1 problem (1 error, 0 warnings)
"""
JEST = """FAIL src/pay.test.js
  ● refund › gives the money back

    expect(received).toBe(expected) // Object.is equality

    Expected: 12
    Received: 0

      at Object.toBe (src/pay.test.js:21:26)

Tests:       1 failed, 8 passed, 9 total
"""
GO = """--- FAIL: TestTotal (0.00s)
    cart_test.go:14: got 12, want 7
FAIL
FAIL	git.example/shop	0.004s
"""
NPM = """npm error code ERESOLVE
npm error ERESOLVE unable to resolve dependency tree
npm error
npm error While resolving: shop@1.0.0
npm error Found: react@18.3.1
npm error node_modules/react
npm error   react@"^18.3.1" from the root project
npm error
npm error Could not resolve dependency:
npm error peer react@"^17.0.0" from cart-widget@2.1.0
npm error A complete log of this run can be found in: /home/ci/.npm/_logs/2026-02-03T04_05_06_789Z-debug-0.log
"""


def pytest_run(*blocks: str) -> str:
    title = "=========================== short test summary info ============================\n"
    listed = "".join(LISTED[block] for block in blocks)
    return f"{HEAD}{''.join(blocks)}{title}{listed}== {len(blocks)} failed in 0.41s ==\n"


def steps(*outputs: str) -> str:
    """A workflow that goes on after a step that failed."""
    lines: list[str] = []
    for number, output in enumerate(outputs):
        lines += [f"##[group]Run step {number}", "shell: /usr/bin/bash -e {0}", "##[endgroup]"]
        lines += [*output.rstrip("\n").split("\n"), "##[error]Process completed with exit code 1."]
    return "\n".join(f"2026-02-03T04:05:{i % 60:02}.1234567Z {line}" for i, line in enumerate(lines))


def keys(log: str) -> list[str]:
    return [one.sig_sha for one in extract(log)]


def alone(log: str) -> str:
    found = keys(log)
    assert len(found) == 1, "one failure is one signature"
    return found[0]


TESTS = {"total": pytest_run(TOTAL), "refund": pytest_run(REFUND), "eslint": ESLINT, "jest": JEST, "go": GO, "npm": NPM}


@pytest.mark.parametrize("name", sorted(TESTS))
def test_one_failure_is_one_signature(name: str) -> None:
    """Neither the heading above a failure nor the list below that repeats it is a second one."""
    assert len(keys(TESTS[name])) == 1
    assert keys(github(TESTS[name]))[0] == alone(TESTS[name])


def test_two_tests_of_one_run_are_two_failures() -> None:
    """Each has the key that it has where it fails alone."""
    both = keys(pytest_run(TOTAL, REFUND))
    assert sorted(both) == sorted([alone(pytest_run(TOTAL)), alone(pytest_run(REFUND))])


def test_two_steps_are_two_failures_the_first_leads() -> None:
    """What failed in two steps is told in their order, without what wraps it."""
    assert keys(steps(ESLINT, JEST)) == [alone(ESLINT), alone(JEST)]


def test_three_steps_are_three_failures() -> None:
    """No step's failures push out those of another."""
    expected = {alone(ESLINT), alone(GO), alone(pytest_run(TOTAL)), alone(pytest_run(REFUND))}
    assert set(keys(steps(ESLINT, GO, pytest_run(TOTAL, REFUND)))) == expected


def test_the_tool_in_an_image_build_leads() -> None:
    """The build of the image tells that npm failed; npm tells what."""
    assert keys(docker_build(NPM))[0] == alone(NPM)
    assert keys(github(docker_build(NPM)))[0] == alone(NPM)


def test_of_very_many_tests_the_first_is_among_the_signatures() -> None:
    """The others may follow from it."""
    many = "".join(f"--- FAIL: Test{name} (0.00s)\n    a_test.go:7: no {name}\n" for name in "ABCDEFGHIJKL")
    found = extract(many + "FAIL\nFAIL\tgit.example/shop\t0.004s\n")
    assert any(one.line_start == 1 for one in found)


def test_what_fails_after_an_image_was_built_is_found() -> None:
    """The build of an image that went well says nothing of what runs next."""
    built = "Step 1/1 : FROM acme/base:1\n ---> 0f1e2d3c4b5a\nSuccessfully built 0f1e2d3c4b5a\n"
    assert keys(f"{built}running the tests in the image\n{pytest_run(TOTAL)}") == [alone(pytest_run(TOTAL))]
