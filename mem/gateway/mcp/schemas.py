"""What tools take and give as JSON schemas, made from the contract and the texts that stand in texts.toml."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

from pydantic import BaseModel

_UNPORTABLE = r"\p{"
"""What no regular expression of Python has, and not all readers of schemas are written in the same language."""


@cache
def texts() -> dict[str, Any]:
    """All that an agent is told of this server."""
    return tomllib.loads(files(__package__).joinpath("texts.toml").read_text("utf-8"))


def told_of(name: str, project: str | None) -> tuple[str, str, dict[str, str]]:
    """Title, description and the texts of the fields of a tool or prompt.

    Args:
        name: its name.
        project: which one is meant where none is named; None: it has to be named.
    """
    said = "It has to be named." if project is None else f"Left out: {project}, the project of this server."
    told = texts()[name]
    fields = {field: text.strip().replace("{project}", said) for field, text in told.get("fields", {}).items()}
    return told["title"], told["description"].strip(), fields


def input_schema(model: type[BaseModel], told: Mapping[str, str], *, needed: tuple[str, ...]) -> dict[str, Any]:
    """The schema of a tool's arguments: the fields of the model that are told of, in that order.

    It refers to nothing and takes no null, since not every agent can read more; an argument that is null counts as left
    out all the same.
    """
    schema = model.model_json_schema()
    parts = schema.pop("$defs", {})
    properties = {name: _field(schema["properties"][name], parts, told, name) for name in told if "." not in name}
    return {"type": "object", "properties": properties, "required": list(needed), "additionalProperties": False}


def output_schema(model: type[BaseModel]) -> dict[str, Any]:
    """The schema of a tool's structured answer."""
    # Of what is read, not of what is written: a field that is left out where it is empty is not required.
    schema: dict[str, Any] = _untitled(model.model_json_schema(mode="validation"))
    return schema


def _field(schema: dict[str, Any], parts: dict[str, Any], told: Mapping[str, str], name: str) -> dict[str, Any]:
    field = _plain(schema, parts)
    field["description"] = told[name]
    parts_of = field.get("items", field)
    if "properties" in parts_of:
        inside = {each: f"{name}.{each}" for each in parts_of["properties"] if f"{name}.{each}" in told}
        parts_of["properties"] = {
            each: _field(parts_of["properties"][each], parts, told, place) for each, place in inside.items()
        }
    if "items" in field:
        field["items"].pop("description", None)
    return field


def _plain(schema: dict[str, Any], parts: dict[str, Any]) -> dict[str, Any]:
    """A schema without references and titles, its null and what not every reader takes left out."""
    if "$ref" in schema:
        schema = parts[schema["$ref"].rsplit("/", 1)[-1]] | {k: v for k, v in schema.items() if k != "$ref"}
    if "anyOf" in schema:
        (only,) = [each for each in schema["anyOf"] if each.get("type") != "null"]
        schema = {**{k: v for k, v in schema.items() if k != "anyOf"}, **only}
    plain = {k: v for k, v in schema.items() if k != "title" and not (k == "default" and v is None)}
    if "pattern" in plain:
        if _UNPORTABLE in plain["pattern"]:
            del plain["pattern"]
        else:
            plain["pattern"] = plain["pattern"].replace(r"\z", "$")
    if "items" in plain:
        plain["items"] = _plain(plain["items"], parts)
    return plain


def _untitled(schema: Any) -> Any:
    """Without the titles that pydantic makes of names: they tell nothing, and an agent pays for each word."""
    match schema:
        case dict():
            return {
                name: _untitled(value)
                for name, value in schema.items()
                if not (name == "title" and isinstance(value, str))
            }
        case list():
            return [_untitled(each) for each in schema]
        case _:
            return schema
