"""`python -m mem.gateway`: serve, without tokens on a loopback address alone."""

from __future__ import annotations

import asyncio
import logging
import sys

from pydantic import ValidationError

from mem.clients.temporal.ending import end
from mem.domain.errors import MemError
from mem.domain.faults import not_installed, told
from mem.settings import Settings


async def serve(settings: Settings) -> None:
    """Serve until SIGTERM or SIGINT.

    Raises:
        ConfigurationError: a part that this needs is not installed, the tokens cannot be read, or there are none
            and the address is not a loopback one.
        MemError: no Temporal server is known, or it does not answer.
    """
    try:
        from mem.gateway.starting import serve_gateway  # noqa: PLC0415 - only with the extra `http`
    except ModuleNotFoundError as error:
        raise not_installed(error, "worker,http") from error
    await serve_gateway(settings)


def main() -> None:
    """Run the gateway; one clear line where it cannot start."""
    logging.basicConfig(
        level=logging.WARNING, stream=sys.stderr, format="%(asctime)s %(levelname)s %(name)s %(message)s"
    )
    logging.getLogger("mem").setLevel(logging.INFO)
    code = 0
    try:
        asyncio.run(serve(Settings()))
    except MemError as error:
        sys.stderr.write(f"error: {error}\n")
        code = 1
    except ValidationError as error:
        sys.stderr.write(f"error: the environment: {told(error)}\n")
        code = 2
    end(code)


if __name__ == "__main__":
    main()
