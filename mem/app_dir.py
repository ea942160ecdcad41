"""The folder of the code that the worker runs, which no installed package brings."""

from __future__ import annotations

from pathlib import Path

from mem.domain.errors import StackError


def find_app_dir(given: Path | None) -> Path:
    """The folder whose worker.py the stack runs: the given one, or the current folder.

    Raises:
        StackError: There is no worker.py.
    """
    folder = (given or Path.cwd()).resolve()
    if (folder / "worker.py").is_file():
        return folder
    if given is not None:
        raise StackError(
            f"MEM_APP_DIR is {folder}, which has no worker.py.", "Set MEM_APP_DIR to a checkout of this project."
        )
    raise StackError(
        f"The current folder {folder} has no worker.py, which the stack's worker runs.",
        "Run this from a checkout of the project, or set MEM_APP_DIR to the folder that holds worker.py.",
    )
