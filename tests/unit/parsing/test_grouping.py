"""Which logs share an exact key: over-grouping is worse than under-grouping."""

from __future__ import annotations

import textwrap

import pytest

from mem.domain.signatures import Signature
from mem.parsing import extract, identifying

REMOTE = (
    "fatal: Could not read from remote repository.\n\n"
    "Please make sure you have the correct access rights\nand the repository exists.\n"
)


def step(text: str, command: str = "run it") -> str:
    """`text` as the output of a GitHub Actions step that failed."""
    body = f"##[group]Run {command}\n{command}\n##[endgroup]\n{text}##[error]Process completed with exit code 1."
    return "\n".join(f"2026-01-01T10:00:{i:02d}.1234567Z {line}" for i, line in enumerate(body.split("\n")))


def lifecycle(script: str, command: str) -> str:
    return (
        f"npm error Lifecycle script `{script}` failed with error:\nnpm error code 1\nnpm error path /app\n"
        f"npm error workspace app@1.0.0\nnpm error location /app\nnpm error command failed\n"
        f"npm error command sh -c {command}\n"
    )


def missing(script: str) -> str:
    advice = "npm error\nnpm error To see a list of scripts, run:\nnpm error   npm run\n"
    return f'npm error Missing script: "{script}"\n{advice}'


def installing(package: str, command: str) -> str:
    return (
        f"npm error code 1\nnpm error path /app/node_modules/{package}\nnpm error command failed\n"
        f"npm error command sh -c {command}\n"
    )


def building(before: str) -> str:
    return f'{before}process "/bin/sh -c npm ci" did not complete successfully: exit code: 1\n'


def trace(last: str, file: str = "/app/shop/cart.py") -> str:
    return f'Traceback (most recent call last):\n  File "{file}", line 3, in run\n    go()\n{last}\n'


def chained(first: str) -> str:
    return (
        trace(first) + "\nDuring handling of the above exception, another exception occurred:\n\n" + trace("OSError: x")
    )


def collecting(module: str) -> str:
    said = f"E   ModuleNotFoundError: No module named '{module}'"
    return f"ERROR collecting tests/test_a.py\n{said}\nERROR tests/test_a.py\n"


def asserted(status: int) -> str:
    return (
        f"=== FAILURES ===\n___ test_a ___\n\n    def test_a():\n>       assert get().status_code == 200\n"
        f"E       assert {status} == 200\n\ntests/test_x.py:4: AssertionError\n=== short test summary info ===\n"
        f"FAILED tests/test_x.py::test_a - assert {status} == 200\n=== 1 failed in 0.1s ===\n"
    )


def failing(file: str) -> str:
    """A test of one name, in `file`."""
    return f"____ test_a ____\n\n>       assert go() == 'x'\nE       assert 'y' == 'x'\n\n{file}:4: AssertionError\n"


def logged(times: str) -> str:
    """A trace of which a logger wrote each line with its own time."""
    stamps = [f"Mar 03 10:11:{time} node api[7]: " for time in times.split()]
    return "".join(
        stamp + line + "\n" for stamp, line in zip(stamps, trace("KeyError: 'id'").split("\n"), strict=False)
    )


def unsolved(width: int) -> str:
    """What a resolver explains on a terminal of `width` columns."""
    said = "Because flask==9.9 depends on click==1 and you require click==2, we can conclude that nothing fits."
    rows = textwrap.wrap(said, width, break_on_hyphens=False)
    return "  × No solution found when resolving dependencies:\n  ╰─▶ " + "\n      ".join(rows) + "\n"  # noqa: RUF001


def backoff(pod: str, uid: str) -> str:
    event = "  Warning  BackOff  2m (x5 over 3m)  kubelet  Back-off restarting failed container web in pod"
    return f"{event} {pod}_prod({uid})\n"


def scheduling(tail: str) -> str:
    return f"  Warning  FailedScheduling  1m  default-scheduler  0/3 nodes are available: 3 Insufficient cpu.{tail}\n"


def titled(title: str) -> str:
    return f"FAIL test/api.test.js\n  ● {title}\n\n    Error: no answer\n\n      at Object.get (test/api.test.js:3:9)\n"


def mocha(*titles: str) -> str:
    below = "".join("\n" + " " * (7 + 2 * depth) + title for depth, title in enumerate(titles))
    return (
        f"  1 failing\n\n  1) Cart{below}:\n     Error: no answer\n      at Context.<anonymous> (test/cart.js:9:17)\n"
    )


def keys(text: str) -> set[str]:
    return {signature.sig_sha for signature in identifying(extract(text))}


def leading(text: str) -> Signature:
    return extract(text)[0]


DIFFERENT = {
    "git over ssh, network": (
        "git@github.com: Permission denied (publickey).\n" + REMOTE,
        "ssh: connect to host github.com port 22: Connection timed out\n" + REMOTE,
    ),
    "git over ssh, reasons": (
        "ssh: connect to host github.com port 22: Connection refused\n" + REMOTE,
        "ssh: connect to host github.com port 22: Connection timed out\n" + REMOTE,
    ),
    "git over ssh, repository": (
        "ERROR: Repository not found.\n" + REMOTE,
        "Host key verification failed.\n" + REMOTE,
    ),
    "npm workspace scripts": (step(lifecycle("build", "tsc -p .")), step(lifecycle("test", "jest"))),
    "npm missing scripts": (step(missing("build")), step(missing("deploy"))),
    "npm install scripts": (installing("bcrypt", "node-gyp rebuild"), installing("sharp", "node-gyp rebuild")),
    "npm install commands": (installing("sharp", "node-gyp rebuild"), installing("sharp", "node install/check")),
    "methods in the title of a test": (titled("POST /v1/orders answers"), titled("PUT /v1/orders answers")),
    "numbers in the title of a test": (titled("takes 2 items"), titled("takes 3 items")),
    "titles over several lines": (mocha("prices", "rounds 2 items"), mocha("taxes", "rounds 2 items")),
    "last of the titles": (mocha("prices", "rounds 2 items"), mocha("prices", "rounds 3 items")),
    "images": (
        "Error response from daemon: manifest for alpine:3.98 not found\n",
        "Error response from daemon: manifest for alpine:3.99 not found\n",
    ),
    "shell crash": (
        "./ci.sh: line 3:  1234 Segmentation fault      (core dumped) ./geometry --all\n",
        "./ci.sh: line 3:  1234 Segmentation fault      (core dumped) ./import --all\n",
    ),
    "shell signal": (
        "./ci.sh: line 9: 77 Killed                  ./geometry\n",
        "./ci.sh: line 9: 77 Segmentation fault      ./geometry\n",
    ),
    "exit code of the program": (trace("SystemExit: 3"), trace("SystemExit: 4")),
    "errno after a connect": (
        "ERROR 2002 (HY000): Can't connect to MySQL server on 'db' (111)\n",
        "ERROR 2002 (HY000): Can't connect to MySQL server on 'db' (110)\n",
    ),
    "errno of a connect": ("error: connect() failed (111)\n", "error: connect() failed (110)\n"),
    "sqlstate in parentheses": ("ERROR 1045 (28000): Access denied\n", "ERROR 1045 (42000): Access denied\n"),
    "asserted status": (asserted(401), asserted(503)),
    "file of the frame": (
        trace("KeyError: 'id'", "/app/billing/main.py"),
        trace("KeyError: 'id'", "/app/users/main.py"),
    ),
    "root cause of several lines": (
        chained("app.Violation: key\nDETAIL:  Key (a)=(1) exists.\n"),
        chained("app.Violation: null\nDETAIL:  Row (1, 2) fails.\n[SQL: x]\n"),
    ),
    "import of one test file": (collecting("alpha"), collecting("beta")),
    "tests of one name": (failing("tests/a/test_x.py"), failing("tests/b/test_x.py")),
    "root cause": (chained("KeyError: 'a'"), chained("ValueError: disk")),
}
SAME = {
    "missing script in a step": (missing("build"), step(missing("build"))),
    "shell crash": (
        "./ci.sh: line 3:  1234 Segmentation fault      (core dumped) ./geometry --all\n",
        "/builds/g/p/ci.sh: line 8: 99 Segmentation fault      (core dumped) ./geometry --all\n",
    ),
    "formats of tsc": (
        "src/cart.ts(14,22): error TS2304: Cannot find name 'foo'.\n",
        "src/cart.ts:9:1 - error TS2304: Cannot find name 'foo'.\n\n9 foo();\n  ~~~\n\n\nFound 1 error.\n",
        "packages/web build: src/cart.ts(14,22): error TS2304: Cannot find name 'foo'.\n",
    ),
    "runners of many packages": (
        titled("adds items"),
        "".join(f"web:test: {line}\n" for line in titled("adds items").splitlines()),
        "".join(f"packages/web test: {line}".rstrip() + "\n" for line in titled("adds items").splitlines()),
        "".join(f"[web] {line}\n" for line in titled("adds items").splitlines()),
    ),
    "formats of eslint": (
        "/home/ci/shop/src/cart.js\n  12:5  error  'foo' is not defined  no-undef\n\n✖ 1 problem (1 error)\n",
        "/builds/acme/shop/src/cart.js:9:1: 'foo' is not defined. [Error/no-undef]\n\n1 problem\n",
        "/home/ci/shop/src/cart.js: line 12, col 5, Error - 'foo' is not defined. (no-undef)\n\n1 problem\n",
    ),
    "port of a listener": (
        "Error: listen EADDRINUSE: address already in use :::3000\n",
        "Error: listen EADDRINUSE: address already in use :::5432\n",
    ),
    "checkout": (
        trace("KeyError: 'id'", "/home/ci/build/123/shop/cart/total.py"),
        trace("KeyError: 'id'", "/builds/x/shop/cart/total.py"),
        trace("KeyError: 'id'", "/app/cart/total.py"),
    ),
    "root of the checkout": (
        trace("KeyError: 'id'", "/home/runner/_work/shop/shop/main.py"),
        trace("KeyError: 'id'", "/builds/group/shop/main.py"),
        trace("KeyError: 'id'", "/__w/shop/shop/main.py"),
        trace("KeyError: 'id'", "/Users/ada/shop/main.py"),
    ),
    "logger's times": (logged("01 01 01 01"), logged("01 02 03 04")),
    "width of the terminal": (unsolved(200), unsolved(60), unsolved(35)),
    "mounted folder": (
        trace("KeyError: 'id'", "/app/main.py"),
        trace("KeyError: 'id'", "/workspace/main.py"),
        trace("KeyError: 'id'", "/home/ada/main.py"),
    ),
    "pod of the kubelet": (
        backoff("web-7d9f8b6c5d-x2x4z", "3fd0c6f0-1111-4222-8333-444455556666"),
        backoff("web-7d9f8b6c5d-q9w8e", "aaaac6f0-1111-4222-8333-444455556666"),
        backoff("web-5c6d7f8b9d-abcde", "aaaac6f0-1111-4222-8333-444455556667"),
    ),
    "scheduling": (
        scheduling(""),
        scheduling(" preemption: 0/3 nodes are available: 3 No preemption victims found for incoming pod."),
        scheduling(" no new claims to deallocate, preemption: 0/3 nodes are available: 3 No victims."),
    ),
    "buildkit": (
        building("#12 ERROR: failed to solve: "),
        building("ERROR: failed to solve: "),
        building("failed to solve: "),
        building("#7 ERROR: "),
    ),
    "compiler quotes": (
        "src/main.c:5:3: error: 'foo' undeclared (first use in this function)\n",
        "src/main.c:9:1: error: ‘foo’ undeclared (first use in this function)\n",  # noqa: RUF001
        "../src/main.c:9:1: error: 'foo' undeclared (first use in this function); did you mean 'fop'?\n",
    ),
}
NOTHING = {
    "wrapper of git": REMOTE,
    "crash without a program": "./build/test_geometry\nSegmentation fault (core dumped)\n",
    "kill without a program": "cc1plus big.cpp\nKilled\n",
    "abort without a program": "Aborted (core dumped)\n",
    "end without a program": "Terminated\n",
    "workspace script": step(lifecycle("build", "tsc")),
    "advice of the resolver": (
        "To fix this you could try to:\n1. loosen the range of package versions you've specified\n"
        "2. remove package versions to allow pip to attempt to solve the dependency conflict\n"
    ),
}


@pytest.mark.parametrize("pair", DIFFERENT.values(), ids=DIFFERENT)
def test_different_failures_share_no_exact_key(pair: tuple[str, str]) -> None:
    """What tells two failures apart stands in every exact key of theirs."""
    one, other = keys(pair[0]), keys(pair[1])
    assert one.isdisjoint(other)


@pytest.mark.parametrize("name", [name for name in DIFFERENT if name != "npm workspace scripts"])
def test_a_failure_with_a_cause_has_an_exact_key(name: str) -> None:
    """Telling failures apart is no reason to know none of them."""
    assert all(keys(text) for text in DIFFERENT[name])


@pytest.mark.parametrize("texts", SAME.values(), ids=SAME)
def test_sightings_of_one_failure_share_the_leading_key(texts: tuple[str, ...]) -> None:
    """What differs between two sightings of one failure is no part of its key."""
    assert len({leading(text).sig_sha for text in texts}) == 1


@pytest.mark.parametrize("text", NOTHING.values(), ids=NOTHING)
def test_what_stands_below_any_failure_identifies_none(text: str) -> None:
    """A wrapper, an end without a program and advice have no exact key."""
    assert keys(text) == set()


@pytest.mark.parametrize(
    ("cause", "rule"),
    [
        ("git@github.com: Permission denied (publickey).\n", "ssh.denied"),
        ("ssh: connect to host github.com port 22: Connection timed out\n", "ssh.connect"),
        ("ssh: Could not resolve hostname git.example.test: Name or service not known\n", "ssh.connect"),
        ("ERROR: Repository not found.\n", "git.repository"),
        ("Host key verification failed.\n", "ssh.host-key"),
    ],
)
def test_the_cause_leads_over_its_wrapper(cause: str, rule: str) -> None:
    """What a transport reports is the failure, not what its caller says about it."""
    assert leading(cause + REMOTE).rule == rule
    assert leading(step(cause + REMOTE, "git fetch")).rule == rule


def test_a_tag_that_is_a_version_counts_in_the_strict_key_only() -> None:
    """Two versions of an image are two failures that are alike; two hashes are one failure."""
    line = '  Warning  Failed  2m  kubelet  Failed to pull image "reg.example.test/a/web:{}": not found\n'
    for pair in (("1.2.3", "1.3.0"), ("1", "2"), ("v3.1", "v3.2"), ("3.19-slim", "3.20-slim")):
        one, other = (leading(line.format(tag)) for tag in pair)
        assert one.sig_sha != other.sig_sha
        assert one.sig_coarse == other.sig_coarse
    assert leading(line.format("9f8e7d6")).sig_sha == leading(line.format("0a1b2c3")).sig_sha
