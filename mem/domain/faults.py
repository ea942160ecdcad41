"""The faults of an input in words."""

from __future__ import annotations

from pydantic import ValidationError


def told(error: ValidationError, *, whole: str = "input", most: int | None = None) -> str:
    """The faults of an input in one line: field and what is wrong with it; values are left out.

    Args:
        whole: how to call what has no field.
        most: tell so many faults, and count the rest.
    """
    faults = [
        f"{'.'.join(str(part) for part in fault['loc']) or whole}: {fault['msg']}"
        for fault in error.errors(include_url=False, include_input=False, include_context=False)
    ]
    more = f"; and {len(faults) - most} more" if most is not None and len(faults) > most else ""
    return "; ".join(faults[:most]) + more
