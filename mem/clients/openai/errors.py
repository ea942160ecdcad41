"""What a failed call to an OpenAI-compatible endpoint means: ask again, mend the configuration, or take it as a no.

No text of the answer, no key and nothing of the address but its host gets into an error: errors stay in histories.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import NamedTuple

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError

from mem.clients.bounded_http import OversizedError, UnreadableError
from mem.domain.errors import ControllerRefused, MemError, Unavailable

RARELY = 30.0
"""Seconds between attempts where only a person can help: somebody may mend the configuration at any time."""

_PASSING = {408, 409, 425, 429}
_KEY = {401, 403}
_ADDRESS = {404, 405, 410, 421}
_CONFIGURATION_CODES = {
    "invalid_api_key", "model_not_found", "insufficient_quota", "billing_hard_limit_reached",
}  # fmt: skip
"""Codes that say so whatever the status is: some servers answer 400 to a wrong key or an unknown model."""
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}")

_MEND = "Check OPENAI_API_KEY, {setting} and OPENAI_BASE_URL, then restart the worker."
_WAIT = "Nothing is lost: it is asked again until it answers."
REFUSED = "It is asked a few times; then the embedded default stands in for it."


class Asked(NamedTuple):
    """Which model was asked, where, and which setting names it."""

    kind: str
    model: str
    host: str
    setting: str

    def __str__(self) -> str:
        return f"The {self.kind} {self.model!r} at {self.host}"


CALL_ERRORS = (APIConnectionError, APIStatusError, httpx2.HTTPError, OversizedError, UnreadableError, TimeoutError)
"""What a call fails with, other than by a fault of ours."""


def failure_of(error: Exception, asked: Asked) -> MemError:
    """The error of the domain for one of `CALL_ERRORS`."""
    if isinstance(error, APIStatusError):
        return _of_status(error, asked)
    if isinstance(error, OversizedError):
        return ControllerRefused(f"{asked} sent more than {error.max_bytes} bytes.", REFUSED)
    if isinstance(error, UnreadableError):
        return ControllerRefused(f"{asked} sent an answer in an encoding that was not asked for.", REFUSED)
    if isinstance(error, (APITimeoutError, TimeoutError)):
        return Unavailable(f"{asked} did not answer in time.", _WAIT)
    reason = error.__cause__ if error.__cause__ is not None else error
    return Unavailable(
        f"{asked} cannot be reached ({type(reason).__name__}).",
        f"{_WAIT} If it is elsewhere, set OPENAI_BASE_URL.",
    )


def unreadable(asked: Asked, what: str) -> ControllerRefused:
    """An answer that came, and is none."""
    return ControllerRefused(f"{asked} {what}.", REFUSED)


def _of_status(error: APIStatusError, asked: Asked) -> MemError:
    status, headers = error.status_code, error.response.headers
    code = error.code if error.code is not None and _CODE.fullmatch(error.code) else None
    said = f"{asked} answered {status}" + (f" ({code})" if code else "")
    again = headers.get("x-should-retry")
    if code in _CONFIGURATION_CODES or status in _KEY:
        return _misconfigured(f"{said}: the key is wrong, or does not give access to this model", asked)
    if status in _ADDRESS or status < 400:
        return _misconfigured(f"{said}: there is no such model, or no such address", asked)
    delay = retry_after(headers, now=datetime.now(UTC))
    if again == "true" or status in _PASSING or status >= 500:
        if again == "false" and delay is None:
            delay = RARELY
        return Unavailable(f"{said}.", _WAIT, retry_after=delay)
    return ControllerRefused(f"{said}: it will not answer this prompt.", REFUSED)


def _misconfigured(cause: str, asked: Asked) -> Unavailable:
    """A fault of the configuration leaves the request waiting, in sight, rather than lost."""
    return Unavailable(f"{cause}.", _MEND.format(setting=asked.setting), retry_after=RARELY)


def retry_after(headers: Mapping[str, str], *, now: datetime) -> float | None:
    """The seconds that the server asks to wait; None where it says nothing that can be read."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after")
    seconds = _number(said)
    if seconds is not None or said is None:
        return seconds
    try:
        until = parsedate_to_datetime(said)
    except (ValueError, TypeError):
        return None
    return max(0.0, (until.replace(tzinfo=until.tzinfo or UTC) - now).total_seconds())


def _number(text: str | None) -> float | None:
    try:
        number = float(text or "")
    except ValueError:
        return None
    return number if math.isfinite(number) and number >= 0 else None
