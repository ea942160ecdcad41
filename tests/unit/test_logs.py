"""The log of a process: one line of JSON for each event, whoever it is of."""

from __future__ import annotations

import io
import json
import logging
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
import structlog

from mem.clients.temporal.runtime import CORE_LOGGER, _forwarded
from mem.logs import MAX_TOLD
from tests.written_logs import written_logs

SECRET = "ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a"


@pytest.fixture
def stream() -> Iterator[io.StringIO]:
    with written_logs() as written:
        yield written


def the_line(stream: io.StringIO) -> dict[str, Any]:
    (line,) = stream.getvalue().splitlines()
    return json.loads(line)


def test_a_library_writes_as_we_do(stream):
    """Event, level and time, and which library; line feeds stay in the line, secrets and length do not."""
    logging.getLogger("psycopg.pool").warning("lost %s\nand %s", SECRET, "x" * 9000)
    line = the_line(stream)
    assert (line["logger"], line["level"]) == ("psycopg.pool", "warning")
    assert line["timestamp"].endswith("Z")
    assert SECRET not in line["event"]
    assert len(line["event"]) <= MAX_TOLD


def test_a_warning_of_python_is_a_line_too(stream):
    """Where code and its place would stand on lines of their own."""
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        logging.captureWarnings(capture=True)
        warnings.warn("a coroutine was never awaited", RuntimeWarning, stacklevel=1)
    line = the_line(stream)
    assert (line["logger"], line["level"]) == ("py.warnings", "warning")
    assert "RuntimeWarning: a coroutine was never awaited" in line["event"]


@pytest.mark.parametrize("log", [structlog.get_logger(), logging.getLogger("openai")], ids=["ours", "a library's"])
def test_a_fault_is_told_by_kind_and_place(stream, log):
    """The lines below the first quote rows and inputs: neither they nor a secret are told."""
    try:
        raise ValueError(f"no good: token={SECRET}\nDETAIL: the row was (private)")
    except ValueError:
        log.exception("broke")
    line = the_line(stream)
    assert (line["event"], line["level"], line["kind"]) == ("broke", "error", "ValueError")
    assert line["told"].startswith("no good: ")
    assert line["at"][-1].endswith("test_a_fault_is_told_by_kind_and_place")
    for hidden in (SECRET, "private"):
        assert hidden not in stream.getvalue()


def test_what_the_core_says_is_a_line_too(stream):
    """It is handed to Python's logging, and a program that configures none hears nothing of it."""
    forwarding = _forwarded().forwarding
    assert forwarding is not None
    assert forwarding.logger.name == CORE_LOGGER
    assert any(isinstance(handler, logging.NullHandler) for handler in forwarding.logger.handlers)
    forwarding.logger.warning("poll failed")
    assert the_line(stream)["logger"] == CORE_LOGGER
