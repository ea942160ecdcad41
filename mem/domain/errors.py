"""The error tree. Each error says what went wrong and what to do about it.

MemError
├── InvalidRequest          the caller's input breaks a rule of the contract (422)
│   └── TooLarge            a text or body is over a limit (413)
├── Unauthorized            the caller brings no token, or one that is not known (401)
├── Forbidden               the caller's token lacks the right (403)
├── RequestConflict         the request id was used before with another body or rights (409)
├── NotFound                no node, record or request under that name (404)
│   └── AmbiguousPrefix     several nodes begin with that prefix, so it names none (422)
├── Unavailable             a part that the call needs does not answer (503)
├── ControllerRefused       the language model will not answer this prompt, or not in a form that can be read
├── ConfigurationError      settings or installed parts do not fit together
│   ├── RuleError           a rule file is wrong; names file and rule
│   └── ModelMismatch       the embedder and the vector index disagree
├── StackError              the embedded stack cannot start or stop
└── JournalCorrupt          the hash chain of the journal does not hold
"""

from __future__ import annotations

from collections.abc import Sequence


class MemError(Exception):
    """Base of all errors of this package: `cause` in one sentence, `remedy` in another."""

    def __init__(self, cause: str, remedy: str = "") -> None:
        super().__init__(cause, remedy)
        self.cause = cause
        self.remedy = remedy

    def __str__(self) -> str:
        return f"{self.cause} {self.remedy}".strip()


class InvalidRequest(MemError):
    """The caller's input breaks a rule of the contract."""


class TooLarge(InvalidRequest):
    """A text or a body is over a limit."""


class Unauthorized(MemError):
    """The caller brings no token, or one that is not known."""


class Forbidden(MemError):
    """The caller's token lacks the right."""


class RequestConflict(MemError):
    """The request id was used before with another body, or under other rights."""

    @classmethod
    def of(cls, request: str) -> RequestConflict:
        """The conflict of one request, named by its id."""
        return cls(
            f"The request id {request!r} was used before with another body, or under other rights.",
            "Send the same body to get the same answer, or choose a new request id.",
        )


class NotFound(MemError):
    """Nothing exists under that name."""


class AmbiguousPrefix(NotFound):
    """Several nodes begin with that prefix; `candidates` are the shas of the first of them, where they are told."""

    def __init__(self, cause: str, remedy: str = "", *, candidates: Sequence[str] = ()) -> None:
        super().__init__(cause, remedy)
        self.candidates = tuple(candidates)


class Unavailable(MemError):
    """A part that the call needs does not answer.

    `retry_after`: the seconds after which asking again makes sense, where that is known.
    """

    def __init__(self, cause: str, remedy: str = "", *, retry_after: float | None = None) -> None:
        super().__init__(cause, remedy)
        self.retry_after = retry_after


class ControllerRefused(MemError):
    """The language model will not answer this prompt, or not in a form that can be read."""


class ConfigurationError(MemError):
    """Settings or installed parts do not fit together."""


class RuleError(ConfigurationError):
    """A rule file is wrong; the cause names file and rule."""


class ModelMismatch(ConfigurationError):
    """The embedder and the vector index disagree; the cause names both."""


class StackError(MemError):
    """The embedded stack cannot start or stop."""


class JournalCorrupt(MemError):
    """The hash chain of the journal does not hold."""
