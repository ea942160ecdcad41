"""A namespace that was not made by the embedded stack gets its search attributes from `mem migrate`."""

from __future__ import annotations

import asyncio
from datetime import timedelta

import pytest
from google.protobuf.duration_pb2 import Duration
from temporalio.api.operatorservice.v1 import ListSearchAttributesRequest
from temporalio.api.workflowservice.v1 import RegisterNamespaceRequest
from temporalio.client import Client
from temporalio.common import SearchAttributeIndexedValueType, SearchAttributeKey
from temporalio.service import RPCError

from mem.clients.temporal.search_attributes import (
    SEARCH_ATTRIBUTES,
    check_search_attributes,
    register_search_attributes,
)
from mem.domain.errors import ConfigurationError
from tests.temporal_server import TemporalServer
from workflows import search_attributes as keys

NAMESPACE = "brought-along"


async def test_missing_attributes_are_registered_once(temporal_server: TemporalServer) -> None:
    """Registering adds what is missing with its kind, and again adds nothing; a worker waits a moment for it."""
    client = await _fresh(temporal_server)
    with pytest.raises(ConfigurationError, match=r"MemDegraded\. Run `mem migrate`"):
        await check_search_attributes(client, seconds=0)
    waiting = asyncio.create_task(check_search_attributes(client))
    added = await register_search_attributes(client)
    listed = await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=NAMESPACE))
    assert set(SEARCH_ATTRIBUTES) <= set(listed.custom_attributes)
    assert set(added) == set(SEARCH_ATTRIBUTES)
    assert await register_search_attributes(client) == []
    await asyncio.wait_for(waiting, 30)


def test_workflows_set_no_attribute_that_is_not_registered() -> None:
    """The names and kinds that workflows set are those that are registered."""
    kinds = {
        SearchAttributeIndexedValueType.KEYWORD: "Keyword",
        SearchAttributeIndexedValueType.KEYWORD_LIST: "KeywordList",
    }
    used = {
        key.name: kinds[key.indexed_value_type] for key in vars(keys).values() if isinstance(key, SearchAttributeKey)
    }
    assert used == SEARCH_ATTRIBUTES


async def _fresh(server: TemporalServer) -> Client:
    """A client of a namespace that was just made; a server takes a moment to know it everywhere."""
    client = await server.client(NAMESPACE)
    retention = Duration()
    retention.FromTimedelta(timedelta(days=1))
    await client.workflow_service.register_namespace(
        RegisterNamespaceRequest(namespace=NAMESPACE, workflow_execution_retention_period=retention)
    )
    async with asyncio.timeout(30):
        while True:
            try:
                await client.operator_service.list_search_attributes(ListSearchAttributesRequest(namespace=NAMESPACE))
            except RPCError:
                await asyncio.sleep(0.2)
            else:
                return client
