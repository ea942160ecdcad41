"""Running a tool that fails and turning what it printed into a log that names no host."""

from __future__ import annotations

import getpass
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from mem.parsing.redact import redact

TIMEOUT_SECONDS = 60


@dataclass(frozen=True)
class Bench:
    """Where one rendering of a scenario runs.

    `variant` is 1 or 2; scenarios use it to differ in what is no identity: ids, line numbers, times.
    `root` is a real folder, which the log shows as `shown_root`.
    """

    variant: int
    root: Path
    shown_root: str
    python: str
    replacements: Mapping[str, str] = field(default_factory=dict)

    def write(self, name: str, text: str) -> Path:
        """A file below the root."""
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run(self, *argv: str, cwd: Path | None = None, env: Mapping[str, str] | None = None) -> str:
        """What the command printed to both streams, whatever its exit code; bounded in time."""
        process = subprocess.Popen(
            argv,
            cwd=cwd or self.root,
            env=self.environment() | dict(env or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            # The session is our own: only what this command started is in it.
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
        return output.decode("utf-8", "replace")

    def environment(self) -> dict[str, str]:
        """As little of the caller's environment as tools need, with a home below the root."""
        home, scratch = self.root / ".home", self.root / ".tmp"
        for folder in (home, scratch):
            folder.mkdir(exist_ok=True)
        kept = ("PATH", "RUSTUP_HOME", "JAVA_HOME", "LD_LIBRARY_PATH")
        env = {name: os.environ[name] for name in kept if name in os.environ}
        rustup = Path.home() / ".rustup"
        if rustup.is_dir():
            env.setdefault("RUSTUP_HOME", str(rustup))
        quiet = {"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "NO_COLOR": "1"}
        git = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_TERMINAL_PROMPT": "0"}
        return (
            env
            | quiet
            | git
            | {"HOME": str(home), "TMPDIR": str(scratch), "LANG": "C.UTF-8", "NPM_CONFIG_UPDATE_NOTIFIER": "false"}
        )


def neutral(text: str, bench: Bench) -> str:
    """`text` without paths, names and secrets of this host; all else as the tool printed it."""
    pairs = dict(bench.replacements)
    pairs[str(bench.root)] = bench.shown_root
    pairs[sys.base_prefix] = "/usr/local"
    pairs[str(Path.home() / ".rustup")] = "/usr/local/rustup"
    pairs[socket.gethostname()] = "runner"
    for found in sorted(pairs, key=len, reverse=True):
        if "/" in found:
            text = text.replace(found, pairs[found])
        else:
            text = re.sub(rf"\b{re.escape(found)}\b(?=[:@\]])", pairs[found], text)
    home = str(Path.home())
    text = text.replace(home + "/", "/home/ci/").replace(f"/home/{getpass.getuser()}/", "/home/ci/")
    return redact(text.replace("\r\n", "\n")).text


def github(text: str, command: str, started: datetime, code: int) -> str:
    """`text` as the log of a GitHub Actions step."""
    head = [f"##[group]Run {command}", command, "shell: /usr/bin/bash -e {0}", "##[endgroup]"]
    lines = [*head, *text.rstrip("\n").split("\n"), f"##[error]Process completed with exit code {code}."]
    return "".join(f"{stamp:%Y-%m-%dT%H:%M:%S.%f}0Z {line}\n" for stamp, line in _stamped(lines, started))


def gitlab(text: str, command: str, started: datetime, code: int) -> str:
    """`text` as the log of a GitLab job with timestamps."""
    lines = [f"$ {command}", *text.rstrip("\n").split("\n"), f"ERROR: Job failed: exit code {code}"]
    return "".join(f"{stamp:%Y-%m-%dT%H:%M:%S.%f}Z 01O {line}\n" for stamp, line in _stamped(lines, started))


def _stamped(lines: Sequence[str], started: datetime) -> list[tuple[datetime, str]]:
    step = timedelta(milliseconds=37, microseconds=411)
    return [(started.astimezone(UTC) + number * step, line) for number, line in enumerate(lines)]
