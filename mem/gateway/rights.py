"""Who calls, and what they may do: a bearer token before every route but the open ones."""

from __future__ import annotations

from starlette.requests import Request
from starlette.types import ASGIApp, Receive, Scope, Send

from mem.domain.errors import Unauthorized
from mem.domain.rights import UNRESTRICTED, Rights
from mem.gateway.problems import problem_of
from mem.gateway.tokens import Tokens

OPEN = frozenset({"/healthz", "/readyz", "/openapi.json"})
"""What whoever watches the process asks, and what tells how to ask, need no token."""

_REMEDY = "Send the header `Authorization: Bearer SECRET` with the secret that `mem token new` printed."
_STATE = "rights"


class Guard:
    """Middleware that finds the rights of each caller; without tokens everybody has all.

    It stands before the routes, so that a path which nobody thought of is not open, and reads no body of a stranger.
    """

    def __init__(self, app: ASGIApp, tokens: Tokens | None) -> None:
        self._app = app
        self._tokens = tokens

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a call on with the rights of its caller, or answer 401."""
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})  # there are none
            return
        if scope["type"] == "http" and scope["path"] not in OPEN:
            try:
                rights = self._rights(scope)
            except Unauthorized as error:
                await problem_of(error)(scope, receive, send)
                return
            scope.setdefault("state", {})[_STATE] = rights
        await self._app(scope, receive, send)

    def _rights(self, scope: Scope) -> Rights:
        if self._tokens is None:
            return UNRESTRICTED
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        if not given:
            raise Unauthorized("This needs a token.", _REMEDY)
        scheme, _, secret = given[0].partition(b" ")
        rights = None
        if len(given) == 1 and scheme.lower() == b"bearer":
            rights = self._tokens.rights_of(secret.strip())
        if rights is None:
            raise Unauthorized("The token is not known.", _REMEDY)
        return rights


def rights_of(request: Request) -> Rights:
    """What the caller may do."""
    rights = request.scope["state"][_STATE]
    if not isinstance(rights, Rights):
        raise TypeError("The guard does not stand before this route.")
    return rights


def readable_by(request: Request, project: str | None = None) -> list[str] | None:
    """The projects that the caller may read, None for all; of them `project`, or else any, is asked for.

    Raises:
        Forbidden: the caller may not read it.
    """
    rights = rights_of(request)
    rights.require("read", project)
    return rights.readable


def readable_by_writer(request: Request, project: str) -> list[str] | None:
    """The projects that a caller may read, who writes to one.

    Raises:
        Forbidden: the caller may not write to it.
    """
    rights = rights_of(request)
    rights.require("write", project)
    return rights.readable


def require_admin_everywhere(request: Request) -> None:
    """For what concerns every project at once, as what Temporal stores: the right `admin` in all.

    Raises:
        Forbidden: the caller lacks it in some.
    """
    rights_of(request).require_everywhere("admin")


def require_admin(request: Request) -> None:
    """A dependency for what concerns no single project, as /metrics: the right `admin` in any.

    Raises:
        Forbidden: the caller has it nowhere.
    """
    rights_of(request).require("admin")
