"""One log as other systems show it: envelopes, noise before and after, colour, line ends."""

from __future__ import annotations

from collections.abc import Callable


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
    lines = ["Started by user ci", "[Pipeline] Start of Pipeline", "[Pipeline] node"]
    lines += ["Running on agent-3 in /var/lib/jenkins/workspace/app@2", "[Pipeline] {", "[Pipeline] stage"]
    lines += ["[Pipeline] { (Build)", "[Pipeline] sh", "+ make", *log.rstrip("\n").split("\n")]
    lines += ["[Pipeline] }", "[Pipeline] // stage", "[Pipeline] stage", "[Pipeline] { (Deploy)"]
    lines += [
        'Stage "Deploy" skipped due to earlier failure(s)',
        "[Pipeline] }",
        "[Pipeline] // stage",
        "[Pipeline] stage",
    ]
    lines += ["[Pipeline] { (Declarative: Post Actions)", "[Pipeline] junit", "Recording test results"]
    lines += ["[Pipeline] sh", "+ docker compose down", "Stopping app_db_1 ... done", "Removing app_db_1 ... done"]
    lines += ["[Pipeline] }", "[Pipeline] // stage", "[Pipeline] }", "[Pipeline] // node", "[Pipeline] End of Pipeline"]
    return "\n".join([*lines, "ERROR: script returned exit code 2", "Finished: FAILURE", ""])


def jenkins_freestyle(log: str) -> str:
    lines = ["Started by an SCM change", "Running as SYSTEM", "Building in workspace /var/lib/jenkins/workspace/app"]
    lines += ["[app] $ /bin/sh -xe /tmp/jenkins4512345678901234567.sh", "+ make", *log.rstrip("\n").split("\n")]
    lines += ["Build step 'Execute shell' marked build as failure", "Archiving artifacts", "Finished: FAILURE", ""]
    return "\n".join(lines)


def jenkins_stamped(log: str) -> str:
    return "\n".join(f"[2026-02-03T04:05:{i % 60:02}.123Z] {line}" for i, line in enumerate(jenkins(log).split("\n")))


def jenkins_clock(log: str) -> str:
    return "\n".join(f"04:05:{i % 60:02}  {line}" for i, line in enumerate(jenkins_freestyle(log).split("\n")))


def buildkite(log: str) -> str:
    lines = ["~~~ Preparing working directory", "\x1b[90m$\x1b[0m cd /var/lib/buildkite-agent/builds/agent-1/acme/app"]
    lines += ["\x1b[90m$\x1b[0m git fetch -v --prune origin main", "~~~ Running commands", "\x1b[90m$\x1b[0m make"]
    lines += ["--- :hammer: Build", *log.rstrip("\n").split("\n")]
    lines += ["\x1b[31m\U0001f6a8 Error: The command exited with status 2\x1b[0m", "^^^ +++"]
    lines += ["user command error: exit status 2", "~~~ Running global pre-exit hook"]
    lines += ["\x1b[90m$\x1b[0m /etc/buildkite-agent/hooks/pre-exit", "Removed 2 containers", ""]
    return "\n".join(f"\x1b_bk;t=17670000{i:05}\x07{line}\r" for i, line in enumerate(lines))


def buildkite_pasted(log: str) -> str:
    """As it is copied from a browser: colour is gone, of the stamps only their letters are left."""
    return buildkite(log).replace("\x1b_", "_").replace("\x1b[90m", "").replace("\x1b[31m", "").replace("\x1b[0m", "")


def circleci(log: str) -> str:
    return (
        f"#!/bin/bash -eo pipefail\nmake\n\n{log}\n\nExited with code exit status 2\n\nCircleCI received exit code 2\n"
    )


def circleci_local(log: str) -> str:
    before = "====>> Spin up environment\nBuild-agent version 1.0.2\n====>> Checkout code\n====>> make\n"
    after = "Error: Exited with code exit status 2\n\nStep failed\nTask failed\n"
    return f"{before}  #!/bin/bash -eo pipefail\nmake\n{log}\n{after}"


def azure(log: str) -> str:
    lines = ["##[section]Starting: Build", "=" * 78, "Task         : Command line"]
    lines += ["Description  : Run a command line script using Bash on Linux and macOS and cmd.exe on Windows"]
    lines += [
        "Version      : 2.212.0",
        "Author       : Acme",
        "=" * 78,
        "Generating script.",
        "Script contents:",
        "make",
    ]
    lines += ["========================== Starting Command Output ==========================="]
    lines += ["[command]/usr/bin/bash --noprofile --norc /azp/agent/_temp/1f3c2a90-5d6e-4b7a-8c9d-0e1f2a3b4c5d.sh"]
    lines += [*log.rstrip("\n").split("\n"), "##[error]Bash exited with code '2'.", "##[section]Finishing: Build"]
    lines += ["##[section]Starting: Post-job: Checkout app@main to s", "Cleaning any cached credential from repository"]
    lines += ["##[section]Finishing: Post-job: Checkout app@main to s", "##[section]Finishing: Job"]
    return "\n".join(f"2026-02-03T04:05:{i % 60:02}.1234567Z {line}" for i, line in enumerate(lines))


def docker_build(log: str) -> str:
    lines = [
        "#1 [internal] load build definition from Dockerfile",
        "#1 transferring dockerfile: 512B done",
        "#1 DONE 0.0s",
    ]
    lines += ["", "#7 [build 3/7] COPY . .", "#7 CACHED", "", "#8 [build 4/7] RUN make"]
    shown = log.rstrip("\n").split("\n")
    lines += [f"#8 {0.31 + i / 7:.4g} {line}" for i, line in enumerate(shown)]
    lines += ['#8 ERROR: process "/bin/sh -c make" did not complete successfully: exit code: 2', "------"]
    lines += [" > [build 4/7] RUN make:", *(f"{0.31 + i / 7:.4g} {line}" for i, line in enumerate(shown)), "------"]
    lines += [
        "Dockerfile:9",
        "-" * 20,
        "   7 |     COPY . .",
        "   8 |     ",
        "   9 | >>> RUN make",
        "  10 |     ",
        "-" * 20,
    ]
    lines += ['ERROR: failed to solve: process "/bin/sh -c make" did not complete successfully: exit code: 2', ""]
    return "\n".join(lines)


def docker_quote(log: str) -> str:
    """What the client says at the end, without the progress above."""
    return docker_build(log).partition("exit code: 2\n")[2]


def docker_classic(log: str) -> str:
    return (
        "Sending build context to Docker daemon  4.096kB\nStep 1/3 : FROM acme/base:1.2\n ---> 8ad9f8f1d1c2\n"
        "Step 2/3 : COPY . .\n ---> Using cache\n ---> 0f1e2d3c4b5a\n"
        "Step 3/3 : RUN make\n ---> Running in 5a1d2c3b4e5f\n"
        f"{log}\nRemoving intermediate container 5a1d2c3b4e5f\n"
        "The command '/bin/sh -c make' returned a non-zero code: 2\n"
    )


def kubectl(log: str) -> str:
    lines = log.rstrip("\n").split("\n")
    return "\n".join(
        f"[pod/app-7d9c8b5f6-x2x4z/app] 2026-02-03T04:05:{i % 60:02}.123456789Z {line}" for i, line in enumerate(lines)
    )


def kubectl_stamped(log: str) -> str:
    return "\n".join(
        f"2026-02-03T04:05:{i % 60:02}.12345678{i % 9 + 1}Z {line}" for i, line in enumerate(log.split("\n"))
    )


def compose(log: str) -> str:
    return "\n".join(f"\x1b[36mweb_1        | \x1b[0m{line}" for line in log.split("\n"))


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

ENVELOPES = {
    "github": (github, "github-actions"),
    "gitlab": (gitlab, "gitlab-ci"),
    "travis": (travis, "travis"),
    "jenkins": (jenkins, "jenkins"),
    "jenkins freestyle": (jenkins_freestyle, "jenkins"),
    "jenkins stamped": (jenkins_stamped, "jenkins"),
    "jenkins clock": (jenkins_clock, "jenkins"),
    "buildkite": (buildkite, "buildkite"),
    "buildkite pasted": (buildkite_pasted, "buildkite"),
    "circleci": (circleci, "circleci"),
    "circleci local": (circleci_local, "circleci"),
    "azure": (azure, "azure-pipelines"),
    "docker": (docker_build, "docker-build"),
    "docker quote": (docker_quote, "docker-build"),
    "docker classic": (docker_classic, "docker-build"),
    "docker in github": (lambda log: github(docker_build(log)), "github-actions"),
    "kubectl": (kubectl, "kubectl-logs"),
    "kubectl stamped": (kubectl_stamped, "kubectl-logs"),
    "compose": (compose, None),
}
"""How each system shows a log, and the name that it is to be known by."""

RENDERINGS = {
    "prefixed": lambda log: BEFORE + log,
    "suffixed": lambda log: log.rstrip("\n") + "\n" + AFTER,
    "both": lambda log: BEFORE + log.rstrip("\n") + "\n" + AFTER,
    "github both": lambda log: github(BEFORE + log.rstrip("\n") + "\n" + AFTER),
    "crlf": lambda log: log.replace("\n", "\r\n"),
    "colour": coloured,
    "shifted": lambda log: "one line more\n\n" + log,
    "trailing": lambda log: log + "\n\n",
    **{name: show for name, (show, _) in ENVELOPES.items()},
}


def _github_passed(log: str) -> str:
    shown = github(log).rpartition("\n")[0]
    stamp = "2026-02-03T04:06:00.1234567Z "
    return "\n".join([shown, f"{stamp}Post job cleanup.", f"{stamp}Cleaning up orphan processes"])


def _jenkins_passed(log: str) -> str:
    failed = jenkins(log).replace('Stage "Deploy" skipped due to earlier failure(s)\n', "[Pipeline] echo\ndeployed\n")
    return failed.replace("ERROR: script returned exit code 2\n", "").replace("FAILURE", "SUCCESS")


def _gitlab_passed(log: str) -> str:
    return gitlab(log).partition("\x1b[31;1mERROR: Job failed")[0] + "\x1b[32;1mJob succeeded\n\x1b[0;m"


def _travis_passed(log: str) -> str:
    return travis(log).replace("exited with 2", "exited with 0").replace("exited with 1", "exited with 0")


def _buildkite_passed(log: str) -> str:
    before, _, after = buildkite(log).partition("\x1b[31m\U0001f6a8")
    return before + after.partition("exit status 2\r\n")[2]


def _docker_passed(log: str) -> str:
    return docker_build(log).partition("#8 ERROR")[0] + "#8 DONE 3.1s\n#9 exporting to image\n#9 DONE 0.1s\n"


PASSED: dict[str, Callable[[str], str]] = {
    "github": _github_passed,
    "gitlab": _gitlab_passed,
    "travis": _travis_passed,
    "jenkins": _jenkins_passed,
    "buildkite": _buildkite_passed,
    "circleci": lambda log: f"#!/bin/bash -eo pipefail\nmake\n\n{log}\nCircleCI received exit code 0\n",
    "azure": lambda log: "\n".join(line for line in azure(log).split("\n") if "##[error]" not in line),
    "docker": _docker_passed,
    "kubectl": kubectl,
    "compose": compose,
    "coloured": lambda log: log.replace("error", "\x1b[33merror\x1b[0m"),
}
"""How each system shows a job that passed, as far as it says so."""
