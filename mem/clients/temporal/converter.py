"""How messages and errors are written into Temporal's histories, by clients and workers alike."""

from __future__ import annotations

from dataclasses import replace

from temporalio.contrib.pydantic import pydantic_data_converter
from temporalio.converter import DataConverter

from mem.clients.temporal.failures import BoundedFailures


def data_converter() -> DataConverter:
    """Pydantic models as JSON, and failures that are bounded."""
    return replace(pydantic_data_converter, failure_converter_class=BoundedFailures)
