"""`mem mcp`: what it hands to the server, and what it refuses before."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from mem.cli.main import app_for

app = app_for(("mcp",))


@pytest.mark.parametrize("options", [["--host", "127.0.0.1"], ["--port", "8700"]])
def test_an_address_without_http_is_wrong_usage(monkeypatch, options):
    """Nothing would listen there: that is said, and no server is started."""
    started: list[str] = []
    monkeypatch.setattr("mem.cli.mcp.os.execv", lambda *_: started.append("a server"))
    result = CliRunner().invoke(app, ["mcp", *options])
    assert (result.exit_code, result.stdout, started) == (2, "", [])
    assert result.stderr == "error: --host and --port belong to --http. Leave them out, or add --http.\n"
    CliRunner().invoke(app, ["mcp", "--http", *options])
    assert started == ["a server"]
