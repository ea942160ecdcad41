"""One log as other systems show it: envelopes, noise before and after, colour, line ends."""

from __future__ import annotations


def github(log: str) -> str:
    lines = ["##[group]Run make", "make", "##[endgroup]", *log.rstrip("\n").split("\n")]
    lines.append("##[error]Process completed with exit code 1.")
    return "\n".join(f"2026-02-03T04:05:{i % 60:02}.1234567Z {line}" for i, line in enumerate(lines))


def gitlab(log: str) -> str:
    return (
        "section_start:1767000000:step_script\r\x1b[0KExecuting script\n\x1b[32;1m$ make\x1b[0;m\n"
        f"{log}\nsection_end:1767000009:step_script\r\x1b[0K\n"
        "\x1b[31;1mERROR: Job failed: exit code 1\n\x1b[0;m"
    )


def travis(log: str) -> str:
    return (
        f"travis_time:start:0a1b2c3d\r\x1b[0K$ make\n{log}\n"
        "travis_time:end:0a1b2c3d:start=1,finish=2,duration=1\r\x1b[0K\n"
        '\x1b[31;1mThe command "make" exited with 2.\x1b[0m\n\nDone. Your build exited with 1.\n'
    )


def coloured(log: str) -> str:
    return "\n".join(f"\x1b[31m{line}\x1b[0m" if line.strip() else line for line in log.split("\n"))


def jenkins(log: str) -> str:
    lines = ["Started by user ci", "[Pipeline] sh", "+ make", *log.rstrip("\n").split("\n")]
    lines += ["[Pipeline] }", "[Pipeline] // stage", "[Pipeline] End of Pipeline", "ERROR: script returned exit code 2"]
    return "\n".join([*lines, "Finished: FAILURE", ""])


def jenkins_stamped(log: str) -> str:
    return "\n".join(f"[2026-02-03T04:05:{i % 60:02}.123Z] {line}" for i, line in enumerate(jenkins(log).split("\n")))


def buildkite(log: str) -> str:
    stamped = "\n".join(f"\x1b_bk;t=17670000{i:05}\x07{line}" for i, line in enumerate(log.rstrip("\n").split("\n")))
    return (
        "~~~ Preparing working directory\n$ cd /var/lib/buildkite-agent/builds/agent-1/acme/app\n"
        f"~~~ Running commands\n\x1b[90m$\x1b[0m make\n{stamped}\n"
        "\x1b[31m\U0001f6a8 Error: The command exited with status 2\x1b[0m\n^^^ +++\n"
        "user command error: exit status 2\n"
    )


def circleci(log: str) -> str:
    return f"#!/bin/bash -eo pipefail\nmake\n{log}\nExited with code exit status 2\n\nCircleCI received exit code 2\n"


def azure(log: str) -> str:
    lines = ["##[section]Starting: Build", "=" * 78, "Task         : Command line", "=" * 78]
    lines += ["Generating script.", "========================== Starting Command Output ==========================="]
    lines += [*log.rstrip("\n").split("\n"), "##[error]Bash exited with code '2'.", "##[section]Finishing: Build"]
    return "\n".join(f"2026-02-03T04:05:{i % 60:02}.1234567Z {line}" for i, line in enumerate(lines))


BEFORE = """Installing dependencies
WARNING: running as another user than the owner of the folder
warning: 2 deprecated options are ignored
Download failed, retrying in 3 s (attempt 1 of 3)
Download complete
test_rejects_bad_input: expected error "invalid amount" was raised ... ok
checked 214 files, 0 errors, 0 warnings
"""
AFTER = """Uploading logs
Saved 3 artifacts, 0 failed
Build failed
The script exited with 1
"""

RENDERINGS = {
    "prefixed": lambda log: BEFORE + log,
    "suffixed": lambda log: log.rstrip("\n") + "\n" + AFTER,
    "both": lambda log: BEFORE + log.rstrip("\n") + "\n" + AFTER,
    "github both": lambda log: github(BEFORE + log.rstrip("\n") + "\n" + AFTER),
    "jenkins": jenkins,
    "jenkins stamped": jenkins_stamped,
    "buildkite": buildkite,
    "circleci": circleci,
    "azure": azure,
    "github": github,
    "gitlab": gitlab,
    "travis": travis,
    "crlf": lambda log: log.replace("\n", "\r\n"),
    "colour": coloured,
    "shifted": lambda log: "one line more\n\n" + log,
    "trailing": lambda log: log + "\n\n",
}
