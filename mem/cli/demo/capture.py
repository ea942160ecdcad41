"""Capture the demonstration's logs anew: `python -m mem.cli.demo.capture OUT`.

Each scenario runs a real tool into a real failure, twice, in two folders that the logs call by
different names. Only names of the host are replaced; a tool that is not there is left out.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from mem.cli.demo import scenarios, servers
from mem.cli.demo.running import Bench, github, gitlab, neutral


class Scenario(NamedTuple):
    """A failure: its log's name, the tools that it needs, the command as shown, and the exit code."""

    name: str
    tools: tuple[str, ...]
    shown: str
    code: int
    provoke: Callable[[Bench], str]


SCENARIOS = (
    Scenario("pip-conflict", (), "pip install -r requirements.txt", 1, scenarios.pip_conflict),
    Scenario("pytest-regression", (), "make test", 1, scenarios.pytest_regression),
    Scenario("python-import", (), "python run.py", 1, scenarios.python_import),
    Scenario("node-module", ("node",), "node src/server.js", 1, scenarios.node_module),
    Scenario("npm-eresolve", ("npm",), "npm install", 1, scenarios.npm_eresolve),
    Scenario("gcc-link", ("gcc", "make"), "make app", 2, scenarios.gcc_link),
    Scenario("git-rejected", ("git",), "git push origin HEAD:main", 1, scenarios.git_rejected),
    Scenario("cargo-types", ("cargo",), "cargo build --offline", 101, scenarios.cargo_types),
    Scenario("java-null", ("javac", "java"), "java -cp . Settle", 1, scenarios.java_null),
    Scenario("curl-413", ("curl",), "./upload.sh", 22, servers.curl_too_large),
    Scenario("git-413", ("git",), "git push models main", 1, servers.git_too_large),
    Scenario("python-413", (), "python publish.py", 1, servers.python_too_large),
    Scenario("curl-503", ("curl",), "./wait-for-health.sh", 22, servers.curl_unavailable),
    Scenario("curl-timeout", ("curl",), "./fetch-rates.sh", 28, servers.curl_timeout),
    Scenario("tls-self-signed", ("openssl",), "python fetch_rates.py", 1, servers.tls_self_signed),
    Scenario("psql-refused", (), "make migrate", 2, servers.psql_refused),
    Scenario("psql-duplicate", (), "make migrate", 3, servers.psql_duplicate),
    Scenario("psql-undefined", (), "make migrate", 3, servers.psql_undefined),
    Scenario("psql-deadlock", (), "make nightly", 1, servers.psql_deadlock),
)
SHOWN_ROOTS = {1: "/home/ci/builds/4821/{name}", 2: "/home/runner/_work/{name}"}
STARTED = {1: datetime(2026, 3, 9, 8, 14, 2, tzinfo=UTC), 2: datetime(2026, 6, 23, 21, 40, 55, tzinfo=UTC)}


def main() -> int:
    """Write `NAME.1.log` and `NAME.2.log` for each scenario whose tools are here."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--only", action="append", default=[], help="a scenario's name; repeatable")
    parser.add_argument("--python", default=sys.executable, help="an interpreter that has pip and pytest")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    for number, scenario in enumerate(SCENARIOS):
        if options.only and scenario.name not in options.only:
            continue
        if missing := [tool for tool in scenario.tools if shutil.which(tool) is None]:
            print(f"{scenario.name}: left out, no {', '.join(missing)}")
            continue
        for variant in (1, 2):
            log = capture(scenario, variant, options.python, timedelta(hours=5 * number))
            path = options.out / f"{scenario.name}.{variant}.log"
            path.write_text(log, encoding="utf-8")
            print(f"{path.name}: {len(log)} bytes")
    return 0


def capture(scenario: Scenario, variant: int, python: str, later: timedelta) -> str:
    """One rendering: the first bare or as GitLab shows it, the second as GitHub Actions does."""
    with tempfile.TemporaryDirectory(prefix="capture-") as folder:
        root = Path(folder) / f"job{variant}"
        root.mkdir()
        shown = SHOWN_ROOTS[variant].format(name=scenario.name.split("-")[0] + "-app")
        prefix = str(Path(python).parent.parent)
        bench = Bench(variant, root, shown, python, {prefix: f"/home/ci/venv{variant}"})
        text = neutral(scenario.provoke(bench), bench)
    if variant == 2:
        return github(text, scenario.shown, STARTED[2] + later, scenario.code)
    if len(scenario.name) % 2:
        return gitlab(text, scenario.shown, STARTED[1] + later, scenario.code)
    return text


if __name__ == "__main__":
    sys.exit(main())
