"""`mem key new`: a key as the setting takes it."""

from __future__ import annotations

import json

from typer.testing import CliRunner

from mem.cli.main import app_for
from mem.domain.payload_keys import parse_payload_keys


def _run(*arguments: str):
    return CliRunner().invoke(app_for(["key"]), ["key", "new", *arguments])


def test_what_is_printed_is_what_the_setting_takes():
    """Stdout holds the new key alone, as text or as one document, and a bad id is bad input."""
    first, second = _run(), _run()
    (one,), (other,) = parse_payload_keys(first.stdout), parse_payload_keys(second.stdout)
    assert (first.exit_code, len(one.secret)) == (0, 32)
    assert one != other
    told = json.loads(_run("--id", "2026", "--format", "json").stdout)
    (named,) = parse_payload_keys(told["key"])
    assert (named.id, told["id"]) == ("2026", "2026")
    assert _run("--id", "a:b").exit_code == 2
