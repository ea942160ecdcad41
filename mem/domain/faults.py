"""The faults of an input, and of an installation, in words."""

from __future__ import annotations

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from mem.domain.errors import ConfigurationError
from mem.domain.ids import MEANT


def told(error: ValidationError, *, whole: str = "input", most: int | None = None) -> str:
    """The faults of an input in one line: field and what is wrong with it; values are left out.

    Args:
        whole: how to call what has no field.
        most: tell so many faults, and count the rest.
    """
    faults = [
        f"{'.'.join(str(part) for part in fault['loc']) or whole}: {_said(fault)}"
        for fault in error.errors(include_url=False, include_input=False)
    ]
    more = f"; and {len(faults) - most} more" if most is not None and len(faults) > most else ""
    return "; ".join(faults[:most]) + more


def not_installed(error: ModuleNotFoundError, extras: str) -> ConfigurationError:
    """What to install where an import failed.

    Args:
        error: of the import.
        extras: those of this package that bring what the caller needs.

    Raises:
        ModuleNotFoundError: what is missing is a part of this package, which no extra brings.
    """
    if (error.name or "mem").split(".")[0] == "mem":
        raise error
    return ConfigurationError(
        f"{error.name} is not installed.", f'Install it with `pip install "PATH-OF-THE-CHECKOUT[{extras}]"`.'
    )


def _said(fault: ErrorDetails) -> str:
    """What is wrong; a pattern of names in words, since nobody reads which characters are invisible."""
    ours = fault.get("ctx", {}).get("error")
    if isinstance(ours, ValueError):
        return str(ours)
    return MEANT.get(str(fault.get("ctx", {}).get("pattern")), fault["msg"])
