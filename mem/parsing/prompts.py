"""Prompts as validated data: a file each, known by the sha256 of its bytes.

A file has TOML between two lines `+++` (name, version, max_tokens, limits and the JSON schema of the answer), then the
parts `=== system ===` and `=== user ===`. Data goes into the user part alone, as blocks between tags that no text can
contain, so that none can end its block.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mem.domain.canonical import canonical_sha, sha256_hex
from mem.domain.errors import ConfigurationError
from mem.domain.faults import told
from mem.ports import Prompt

FENCE = "fence"
FENCE_LENGTH = 16
_PARTS = re.compile(
    r"\+\+\+\n(?P<head>.*?\n)\+\+\+\n=== system ===\n(?P<system>.+?)\n=== user ===\n(?P<user>.+)", re.DOTALL
)
_PLACEHOLDER = re.compile(r"\{\{([a-z_]+)\}\}")
_NONE = "(none)"


class _Head(BaseModel):
    """The front matter of a prompt file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True, populate_by_name=True)

    name: str = Field(pattern=r"^[a-z][a-z0-9_-]{0,63}$")
    version: int = Field(ge=1)
    max_tokens: int = Field(ge=16, le=8192)
    limits: dict[str, float | int]
    answer: dict[str, Any] = Field(alias="schema")


class Template(NamedTuple):
    """A prompt before its data is put in."""

    name: str
    sha: str
    max_tokens: int
    limits: Mapping[str, float]
    schema: Mapping[str, Any]
    system: str
    user: str

    def limit(self, name: str) -> int:
        """A limit that counts something."""
        return int(self.limits[name])

    def render(self, **texts: str | Sequence[str]) -> Prompt:
        """The prompt with each placeholder replaced by the block, or blocks, of its texts."""
        parts = {name: [text] if isinstance(text, str) else list(text) for name, text in texts.items()}
        fence = fence_for(parts)
        blocks = {name: _blocks(name, each, fence) for name, each in parts.items()} | {FENCE: fence}
        # One pass: what looks like a placeholder inside of a text stays as it is.
        user = _PLACEHOLDER.sub(lambda match: blocks[match[1]], self.user)
        return Prompt(
            sha=self.sha,
            system=self.system,
            user=user,
            schema_name=self.name,
            schema=self.schema,
            max_tokens=self.max_tokens,
        )


def fence_for(parts: Mapping[str, Sequence[str]]) -> str:
    """A word that none of the texts contains, the same for the same texts."""
    given = {name: list(texts) for name, texts in parts.items()}
    number = 0
    while True:
        fence = canonical_sha([number, given])[:FENCE_LENGTH]
        if not any(fence in text for texts in given.values() for text in texts):
            return fence
        number += 1


def load_prompt(folder: Path, name: str, *, placeholders: frozenset[str], limits: frozenset[str]) -> Template:
    """Read and check the prompt `name` of a folder.

    Raises:
        ConfigurationError: the file is missing or wrong; the cause names file and fault.
    """
    path = folder / f"{name}.tmpl"
    try:
        data = path.read_bytes()
        text = data.decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigurationError(
            f"The prompt {path} cannot be read ({type(error).__name__}), and MEM_CHAT_MODEL names a model to ask.",
            "Run the worker from a checkout or image that holds `prompts/` beside worker.py, or unset MEM_CHAT_MODEL.",
        ) from error
    try:
        return _parse(data, text, name, placeholders, limits)
    except ValueError as error:
        raise ConfigurationError(f"The prompt {path} is wrong: {error}.", "Correct the file.") from error


def _parse(data: bytes, text: str, name: str, placeholders: frozenset[str], limits: frozenset[str]) -> Template:
    match = _PARTS.fullmatch(text)
    if match is None:
        raise ValueError("it needs TOML between lines `+++`, then `=== system ===` and `=== user ===` with a text each")
    try:
        head = _Head.model_validate(tomllib.loads(match["head"]))
    except ValidationError as error:
        raise ValueError(told(error)) from error
    if head.name != name:
        raise ValueError(f"its name is {head.name!r}")
    _check_names("limits", set(head.limits), limits)
    _check_names("placeholders", set(_PLACEHOLDER.findall(match["user"])), placeholders | {FENCE})
    for part in ("system", "user"):
        _check_braces(part, match[part])
    _check_schema(head.answer)
    return Template(
        name=name,
        sha=sha256_hex(data),
        max_tokens=head.max_tokens,
        limits=head.limits,
        schema=head.answer,
        system=match["system"].strip(),
        user=match["user"].strip(),
    )


def _check_names(what: str, found: set[str], wanted: frozenset[str]) -> None:
    if missing := sorted(wanted - found):
        raise ValueError(f"{what} lack {', '.join(missing)}")
    if surplus := sorted(found - wanted):
        raise ValueError(f"{what} have {', '.join(surplus)}, which nothing fills")


def _check_braces(part: str, text: str) -> None:
    if part == "system" and _PLACEHOLDER.search(text):
        raise ValueError("the system part has a placeholder; data belongs into the user part")
    if "{{" in _PLACEHOLDER.sub("", text) or "}}" in _PLACEHOLDER.sub("", text):
        raise ValueError(f"the {part} part has braces that are no placeholder")


def _check_schema(schema: Mapping[str, Any]) -> None:
    """Servers that enforce a schema want every field of an object required and no other allowed."""
    properties = schema.get("properties")
    if schema.get("type") != "object" or not isinstance(properties, dict) or not properties:
        raise ValueError("the schema is not that of an object with properties")
    if schema.get("additionalProperties") is not False or set(schema.get("required", ())) != set(properties):
        raise ValueError("the schema must require all its properties and allow no other")


def _blocks(name: str, texts: Sequence[str], fence: str) -> str:
    return "\n".join(f"<{name}-{fence}>\n{text}\n</{name}-{fence}>" for text in texts) or _NONE
