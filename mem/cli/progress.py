"""How far a long command is: a bar on stderr, where somebody can see it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mem.domain.replaying import Progress


@contextmanager
def progress_bar() -> Iterator[Callable[[Progress], None] | None]:
    """What a command tells its progress to while the bar stands there; None where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console  # noqa: PLC0415 - with what follows, a tenth of a second to import
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn  # noqa: PLC0415
    from rich.progress import Progress as Bar  # noqa: PLC0415

    columns = (TextColumn("{task.description:>8}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("begin", total=None)
        yield lambda at: bar.update(task, description=at.phase, completed=at.done, total=at.total)
