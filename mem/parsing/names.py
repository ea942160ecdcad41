"""Names that callers choose: ids, projects, users, sources. They are shown in lists, and stored as they are."""

from __future__ import annotations

from mem.domain.errors import InvalidRequest
from mem.parsing.redact import redact


def refuse_secret_names(**names: str | None) -> None:
    """Refuse a name that looks like a secret, which cannot be redacted without becoming another one.

    Raises:
        InvalidRequest: one does; it is not quoted.
    """
    for field, value in names.items():
        if value is not None and redact(value).kinds:
            raise InvalidRequest(
                f"`{field}` looks like a secret.", "Choose a name that is none; names are shown in lists."
            )
