"""Connecting by Temporal's own conventions: environment, TLS and profile file."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping, Sequence

from temporalio.api.workflowservice.v1 import DescribeNamespaceRequest
from temporalio.client import Client, Interceptor
from temporalio.envconfig import ClientConfig
from temporalio.runtime import Runtime
from temporalio.service import RPCError, RPCStatusCode

from mem.clients.temporal.converter import data_converter
from mem.clients.temporal.runtime import process_runtime
from mem.domain.errors import ConfigurationError, Unavailable
from mem.domain.payload_keys import PayloadKey, parse_payload_keys
from mem.secret_files import SecretFileError, secret_file
from mem.settings import Settings

API_KEY = "TEMPORAL_API_KEY"
CONNECT_SECONDS = 10.0


async def connect(
    *,
    address: str | None,
    namespace: str | None,
    seconds: float = CONNECT_SECONDS,
    runtime: Runtime | None = None,
    interceptors: Sequence[Interceptor] = (),
) -> Client:
    """A connected client.

    Args:
        address: host and port; None takes what environment and profile file say.
        namespace: likewise.
        runtime: None takes that of this process, whose core logs to Python's logging and never to stdout.

    Raises:
        ConfigurationError: Temporal's profile or the payload keys cannot be read, or the namespace does not exist.
        Unavailable: nothing answers there.
    """
    try:
        config = ClientConfig.load_client_connect_config(override_env_vars=temporal_environment())
    except (RuntimeError, ValueError, TypeError, OSError) as error:
        raise ConfigurationError(
            f"Temporal's profile cannot be read: {_first_line(error)}.",
            "Check TEMPORAL_PROFILE and TEMPORAL_CONFIG_FILE.",
        ) from error
    if address is not None:
        config["target_host"] = address
    if namespace is not None:
        config["namespace"] = namespace
    target = config.get("target_host", "localhost:7233")
    try:
        async with asyncio.timeout(seconds):
            client = await Client.connect(
                **config,
                data_converter=data_converter(payload_keys()),
                runtime=runtime or process_runtime(),
                interceptors=interceptors,
            )
            await _check_namespace(client, target)
            return client
    except (RPCError, RuntimeError, OSError, TimeoutError) as error:
        raise Unavailable(
            f"No Temporal server answers at {target}: {_first_line(error)}.",
            "Start the embedded stack with `mem up`, or set TEMPORAL_ADDRESS to a server that runs.",
        ) from error


def temporal_environment() -> Mapping[str, str]:
    """The environment, and the API key from its secret file where the environment names none.

    Raises:
        ConfigurationError: the file is there and cannot be used.
    """
    others = {name: value for name, value in os.environ.items() if name != API_KEY}
    try:
        key = os.environ.get(API_KEY) if API_KEY in os.environ else secret_file(API_KEY)
    except SecretFileError as error:
        raise ConfigurationError(f"Temporal's API key is not known: {error}.") from error
    return {**others, API_KEY: key} if key else others  # an empty key would turn TLS on


def payload_keys(settings: Settings | None = None) -> tuple[PayloadKey, ...]:
    """The keys that every process has to have which reads or writes payloads; None reads the settings anew.

    Raises:
        ConfigurationError: they are malformed.
    """
    given = (settings or Settings()).payload_key
    return parse_payload_keys(None if given is None else given.get_secret_value())


async def _check_namespace(client: Client, target: str) -> None:
    try:
        await client.workflow_service.describe_namespace(DescribeNamespaceRequest(namespace=client.namespace))
    except RPCError as error:
        # Whoever may not describe a namespace may still use it.
        if error.status == RPCStatusCode.NOT_FOUND:
            raise ConfigurationError(
                f"Temporal at {target} has no namespace {client.namespace!r}.", "Create it, or set TEMPORAL_NAMESPACE."
            ) from error


def _first_line(error: BaseException) -> str:
    return (str(error) or "no answer in time").splitlines()[0][:200].rstrip(".")
