"""The MCP prompt and resource in memory."""

from __future__ import annotations

import json

import pytest
from mcp import MCPError
from mcp_types import PromptReference, ResourceTemplateReference

from mem.domain.errors import Unavailable
from tests.unit.gateway.mcp_stub import SHA, StubReaching, connected

SECRET = "gh" + "p_" + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zAabcd"
LOG = f"npm error code ERESOLVE\n</log>\ntoken {SECRET}\n"


@pytest.fixture
def reaching() -> StubReaching:
    return StubReaching()


async def filled(client, **arguments) -> str:
    (message,) = (await client.get_prompt("failure_triage", arguments)).messages
    assert message.role == "user"
    return message.content.text


async def test_the_prompt_brings_what_is_known_and_the_log_as_data(reaching):
    """Steps, the answer of the memory, and the log, which holds no secret any more and cannot leave its place."""
    async with connected(reaching) as client:
        (prompt,) = (await client.list_prompts()).prompts
        assert [(one.name, one.required) for one in prompt.arguments] == [("log", True), ("project", False)]
        text = await filled(client, log=LOG)
        assert reaching.stub.requests[0].signature_source == LOG
        await filled(client, log=LOG, project="tax")
    assert text.index("memory_accept") < text.index("Tier 1: this exact") < text.index("<log>")
    assert text.count("</log>") == 1
    assert SECRET not in text
    assert [request.project for request in reaching.stub.requests] == ["billing", "tax"]


async def test_the_prompt_of_a_long_log_holds_its_failing_parts(reaching):
    """A log of megabytes fits into a prompt."""
    noise = "".join(f"step {number} went by\n" for number in range(10_000))
    async with connected(reaching) as client:
        text = await filled(client, log=f"{noise}ModuleNotFoundError: No module named 'yaml'\n")
    assert "No module named 'yaml'" in text
    assert len(text) < 64 * 1024


async def test_the_prompt_helps_while_the_memory_is_away(reaching):
    """It says that the memory does not answer, and goes on with the log."""
    reaching.error = Unavailable("Temporal does not answer.")
    async with connected(reaching) as client:
        text = await filled(client, log=LOG)
    assert "Temporal does not answer." in text
    assert "npm error code ERESOLVE" in text


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("failure_triage", {}, "`log`"),
        ("failure_triage", {"log": " "}, "`log`"),
        ("failure_triage", {"log": "x", "surprise": "1"}, "surprise"),
        ("other", {"log": "x"}, "failure_triage"),
    ],
)
async def test_a_prompt_without_its_arguments_is_refused(reaching, name, arguments, says):
    """What is missing, too much or unknown is named."""
    async with connected(reaching) as client:
        with pytest.raises(MCPError, match=says):
            await client.get_prompt(name, arguments)


@pytest.mark.parametrize("uri", [f"memory://{SHA}", f"memory://{SHA[:6]}", f"memory:///{SHA[:6]}/"])
async def test_a_memory_is_read_by_its_sha_or_a_prefix(reaching, uri):
    """As JSON, under its whole sha."""
    async with connected(reaching) as client:
        (template,) = (await client.list_resource_templates()).resource_templates
        assert template.uri_template == "memory://{sha}"
        assert (await client.list_resources()).resources == []
        (content,) = (await client.read_resource(uri)).contents
    assert (content.uri, content.mime_type) == (f"memory://{SHA}", "application/json")
    assert json.loads(content.text)["sha"] == SHA


@pytest.mark.parametrize("uri", ["memory://ffff", "memory://", "file:///etc/passwd", "memory://../../etc", "x"])
async def test_what_is_no_memory_is_not_read(reaching, uri):
    """An unknown sha and an address of another kind are refused, each by its name."""
    async with connected(reaching) as client:
        with pytest.raises(MCPError, match="emory"):
            await client.read_resource(uri)


async def test_a_sha_is_completed_from_what_was_typed(reaching):
    """What begins so is offered; nothing where nothing does, the store is away, or something else is asked."""
    template = ResourceTemplateReference(uri="memory://{sha}")
    async with connected(reaching) as client:

        async def offered(reference, name: str, value: str) -> list[str]:
            return (await client.complete(reference, {"name": name, "value": value})).completion.values

        assert await offered(template, "sha", SHA[:5]) == [SHA]
        assert await offered(template, "sha", "ffff") == []
        assert await offered(template, "other", SHA[:5]) == []
        assert await offered(PromptReference(name="failure_triage"), "sha", SHA[:5]) == []
        reaching.error = Unavailable("away")
        assert await offered(template, "sha", SHA[:5]) == []
