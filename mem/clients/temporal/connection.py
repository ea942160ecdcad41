"""Connecting by Temporal's own conventions: environment, TLS and profile file."""

from __future__ import annotations

import asyncio

from temporalio.client import Client
from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.envconfig import ClientConfig
from temporalio.service import RPCError

from mem.domain.errors import Unavailable

CONNECT_SECONDS = 10.0


async def connect(*, address: str | None, namespace: str | None, seconds: float = CONNECT_SECONDS) -> Client:
    """A connected client.

    Args:
        address: host and port; None takes what environment and profile file say.
        namespace: likewise.

    Raises:
        Unavailable: nothing answers there.
    """
    config = ClientConfig.load_client_connect_config()
    if address is not None:
        config["target_host"] = address
    if namespace is not None:
        config["namespace"] = namespace
    target = config.get("target_host", "localhost:7233")
    try:
        async with asyncio.timeout(seconds):
            return await Client.connect(**config, data_converter=pydantic_data_converter)
    except (RPCError, RuntimeError, OSError, TimeoutError) as error:
        raise Unavailable(
            f"No Temporal server answers at {target}: {_first_line(error)}.",
            "Start the embedded stack with `mem up`, or set TEMPORAL_ADDRESS to a server that runs.",
        ) from error


def _first_line(error: BaseException) -> str:
    return (str(error) or "no answer in time").splitlines()[0][:200].rstrip(".")
