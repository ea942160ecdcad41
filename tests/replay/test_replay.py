"""Runs that were recorded under earlier versions of the workflows still replay."""

from __future__ import annotations

import base64
import json
import re
import socket
from typing import Any

import pytest

from mem.parsing.redact import redact
from tests.replay.histories import paths
from tests.replay.procedure import PROCEDURE
from tests.replay.scrub import scrubbed

MACHINE = re.compile(r"(?<![\w-])\d+@|/(?:home|root|work|usr|tmp|Users)/|site-packages")


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
async def test_replay(path, replayed):
    """Today's workflows take every decision of a recorded run again."""
    failure = replayed[path.name].failure
    assert failure is None, f"{failure}\n{PROCEDURE}"
    # A run that was ended in its first step, a local one, had nothing in its history.
    assert replayed[path.name].commands or path.stem.endswith("timed_out")


@pytest.mark.parametrize("path", paths(), ids=lambda path: path.stem)
def test_nothing_of_the_machine_is_in_it(path):
    """A committed history names no host, process, path or secret, in its payloads neither."""
    history = json.loads(path.read_text(encoding="utf-8"))
    assert scrubbed(history) == history
    texts = [path.read_text(encoding="utf-8"), *_payloads(history)]
    assert len(texts) > 1
    for text in texts:
        assert socket.gethostname() not in text
        assert not MACHINE.search(text)
    for text in set(texts[1:]):
        assert redact(text).text == text


def _payloads(value: Any) -> list[str]:
    """What the payloads of a history say."""
    if isinstance(value, list):
        return [text for each in value for text in _payloads(each)]
    if not isinstance(value, dict):
        return []
    if isinstance(value.get("data"), str):
        return [base64.b64decode(value["data"]).decode("utf-8", "replace")]
    return [text for each in value.values() for text in _payloads(each)]
