"""What /openapi.json says of requests and answers that the routes read and write themselves."""

from __future__ import annotations

from typing import Any

from mem.domain.accepting import AcceptRequest
from mem.domain.gaps import GapsAnswer, GapsRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest

GAPS_EXAMPLE: dict[str, Any] = {
    "project": "billing",
    "tool": "npm",
    "since": "2026-06-25",
    "total": 34,
    "gaps": [
        {
            "sig_sha": "91344ada1345b02e5a2cb138303c1714fc3d20a48574348b8e3d0e80c1cd9354",
            "sig_coarse": "410496a9eb67a59305799f15ed4a4c4ccf6e7f9369638272b7cf7e93c6d3df4f",
            "tool": "npm",
            "rule": "npm.eresolve",
            "code": "ERESOLVE",
            "message": 'shop-ui@undefined shop-ui@"^3.0.0" shop-grid@2.3.1',
            "seen_count": 41,
            "first_seen": "2026-05-11",
            "last_seen": "2026-07-02",
            "projects": ["billing"],
            "variants": 2,
            "known_variants": 0,
        }
    ],
}

GAPS_ANSWERS: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The gaps, those seen most first; none is an empty list.",
        "model": GapsAnswer,
        "content": {"application/json": {"example": GAPS_EXAMPLE}},
    },
    422: {"description": "A parameter breaks the contract: a problem document."},
    503: {"description": "The gateway knows no database, or it does not answer: a problem document."},
}


def body(model: type[ContextRequest | AcceptRequest | QueryRequest]) -> dict[str, Any]:
    """A request body, for a route that reads it itself."""
    schema = model.model_json_schema(ref_template="{model}")
    # FastAPI takes this as it is and names no components: what the fields refer to has to stand in them.
    parts = schema.pop("$defs", {})
    for field in schema["properties"].values():
        if "$ref" in field.get("items", {}):
            field["items"] = parts[field["items"]["$ref"]]
    schema["required"] = [name for name in schema.get("required", []) if name != "request_id"]
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


def parameters(model: type[GapsRequest]) -> dict[str, Any]:
    """The parameters of a URL, for a route that reads them itself."""
    fields = model.model_json_schema()["properties"]
    return {"parameters": [{"name": name, "in": "query", "schema": schema} for name, schema in fields.items()]}
