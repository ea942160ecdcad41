"""Where servers of tests keep their files."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

MEMORY = Path("/dev/shm")
ROOM = 2**30


def new_folder(prefix: str) -> Path:
    """A new folder, in memory where there is room: making a database takes a tenth of the work there."""
    roomy = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM
    return Path(tempfile.mkdtemp(prefix=prefix, dir=MEMORY if roomy else None))
