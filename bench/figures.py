"""How the benches tell their figures."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path


def tell(figures: Mapping[str, float], file: Path | None) -> None:
    """Print the figures, a line each and as JSON, and write them to a file where one is named."""
    for name, value in figures.items():
        print(f"{name:<36} {value}")
    if file is not None:
        file.write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(figures))
    sys.stdout.flush()
