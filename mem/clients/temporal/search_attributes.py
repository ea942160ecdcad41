"""The search attributes by which runs are found, and how a namespace gets them."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping

from temporalio.api.enums.v1 import IndexedValueType
from temporalio.api.operatorservice.v1 import AddSearchAttributesRequest, ListSearchAttributesRequest
from temporalio.client import Client
from temporalio.service import RPCError, RPCStatusCode

from mem.clients.temporal.calls import target_of
from mem.domain import run_attributes
from mem.domain.errors import ConfigurationError, Unavailable

SEARCH_ATTRIBUTES: Mapping[str, str] = {
    run_attributes.PROJECT: "Keyword",
    run_attributes.TOOL: "Keyword",
    run_attributes.TIER: "Keyword",
    run_attributes.OUTCOME: "Keyword",
    run_attributes.SIGNATURE: "KeywordList",
    run_attributes.DEGRADED: "KeywordList",
}
"""Name and kind, as the server's own command line spells them."""

KNOWN_SECONDS = 20.0
"""So long the servers of a cluster may take to know of an attribute that one of them has added."""
PAUSE_SECONDS = 0.5

_KINDS = {
    "Keyword": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD,
    "KeywordList": IndexedValueType.INDEXED_VALUE_TYPE_KEYWORD_LIST,
}


async def register_search_attributes(client: Client) -> list[str]:
    """Add what the client's namespace lacks; the names of what was added.

    Raises:
        ConfigurationError: the server does not let this client do so.
        Unavailable: it does not answer.
    """
    operator = client.operator_service
    try:
        missing = await _missing(client)
        if missing:
            kinds = {name: _KINDS[SEARCH_ATTRIBUTES[name]] for name in missing}
            await operator.add_search_attributes(
                AddSearchAttributesRequest(search_attributes=kinds, namespace=client.namespace)
            )
    except RPCError as error:
        if error.status in {RPCStatusCode.PERMISSION_DENIED, RPCStatusCode.UNIMPLEMENTED}:
            wanted = ", ".join(f"{name} ({kind})" for name, kind in SEARCH_ATTRIBUTES.items())
            raise ConfigurationError(
                f"Temporal at {target_of(client)} does not let this client add search attributes.",
                f"Ask its operator for: {wanted}.",
            ) from error
        raise Unavailable(
            f"Temporal at {target_of(client)} did not add the search attributes: {error.message}.",
            "Run `mem migrate` again.",
        ) from error
    return missing


async def check_search_attributes(client: Client, *, seconds: float = KNOWN_SECONDS) -> None:
    """Return once the namespace has all of them, or if it does not tell this client.

    Raises:
        ConfigurationError: it lacks some after so many seconds, without which no run comes further than its first step.
    """
    last = time.monotonic() + seconds
    while True:
        try:
            missing = await _missing(client)
        except RPCError:
            return
        if not missing:
            return
        if time.monotonic() < last:
            await asyncio.sleep(PAUSE_SECONDS)
            continue
        raise ConfigurationError(
            f"Temporal at {target_of(client)}, namespace {client.namespace!r}, lacks the search attributes "
            f"{', '.join(missing)}.",
            "Run `mem migrate` once.",
        )


async def _missing(client: Client) -> list[str]:
    request = ListSearchAttributesRequest(namespace=client.namespace)
    known = await client.operator_service.list_search_attributes(request)
    return [name for name in SEARCH_ATTRIBUTES if name not in known.custom_attributes]
