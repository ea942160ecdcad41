"""What /openapi.json says of requests beyond their types, and of the routes that read from the store."""

from __future__ import annotations

from typing import Any

from fastapi import Path
from pydantic import BaseModel

from mem.domain.accepting import AcceptRequest
from mem.domain.gaps import GapsAnswer, GapsRequest
from mem.domain.grounding import GroundRequest
from mem.domain.lookup import ContextRequest
from mem.domain.query import QueryRequest
from mem.domain.shown import ShownMemory
from mem.gateway.openapi import answers

NOT_BLANK = r"[^\s\u001c-\u001f]"
_SAYS_SOMETHING = {"type": "string", "pattern": NOT_BLANK}


def _private(visibility: str, *needed: str) -> dict[str, Any]:
    """For whom a memory is has to be told."""
    said = {name: {"type": "string"} for name in needed}
    return {"properties": {"visibility": {"const": visibility}, **said}, "required": ["visibility", *needed]}


REQUESTS: dict[type[BaseModel], dict[str, Any]] = {
    ContextRequest: {
        "anyOf": [
            {"properties": {name: _SAYS_SOMETHING}, "required": [name]} for name in ("tool", "task", "signature_source")
        ]
    },
    AcceptRequest: {
        "properties": {"text": {"pattern": NOT_BLANK, "description": "At most 8 KB as JSON."}},
        "anyOf": [
            {"properties": {"visibility": {"const": "global"}}},
            _private("user", "user_id"),
            _private("container", "user_id", "container"),
        ],
    },
    QueryRequest: {"properties": {"question": {"pattern": NOT_BLANK}}},
    GroundRequest: {"properties": {"message": {"pattern": NOT_BLANK}}},
}
"""The bodies of all routes, with the rules that their code checks."""

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

GAPS_ANSWERS = answers(
    GapsAnswer,
    "The gaps, those seen most first; none is an empty list.",
    GAPS_EXAMPLE,
    422,
    503,
    s422="A parameter breaks the contract.",
    s503="The gateway knows no database, or it does not answer, or the gateway is at its limit.",
)

SHA_PARAMETER: Any = Path(
    description="The sha of the memory, or 4 to 64 hex digits that no other one begins with.",
    examples=["748fa2459ce4"],
    json_schema_extra={"pattern": "^[0-9A-Fa-f]{4,64}$"},
)

SHOWN_EXAMPLE: dict[str, Any] = {
    "sha": "748fa2459ce4b3e0c7f0a1f0f2a77d8f5f4d5f9a1a7f6b0b86e8f4a3b5d1c2e9",
    "level": "L1",
    "project": "billing",
    "text": "ledger-core is pinned below 2, and tax-rules needs 2.1. Upgrade the two together.",
    "visibility": "global",
    "owner": None,
    "container": None,
    "source": None,
    "turn": None,
    "live": True,
    "accepted": {"request_id": "run-811-lesson", "at": "2026-06-30T08:14:03Z"},
    "superseded_by": None,
    "successor": None,
    "supersedes": ["0b6a3f8c1d2e4f5a6b7c8d9e0f1a2b3c4d5e6f7a8b9c0d1e2f3a4b5c6d7e8f9a"],
    "projection": {
        "text": "ERROR: ResolutionImpossible: ledger-core>=2.1 and ledger-core<2",
        "model_id": "extractive-1",
        "prompt_sha": "3f5d0c6be2f0a94be9bb2b4ef2a1c7f3e2a8a1d7c5b3e9f0a1b2c3d4e5f60718",
    },
    "vectors": ["text", "symptom"],
    "signatures": [
        {
            "sig_sha": "91344ada1345b02e5a2cb138303c1714fc3d20a48574348b8e3d0e80c1cd9354",
            "sig_coarse": "410496a9eb67a59305799f15ed4a4c4ccf6e7f9369638272b7cf7e93c6d3df4f",
            "algo": 1,
            "tool": "pip",
            "rule": "pip.resolution",
            "code": "ResolutionImpossible",
            "message": "ledger-core",
            "seen_count": 3,
            "first_seen": "2026-06-30",
            "last_seen": "2026-07-02",
            "sightings": [
                {"project": "billing", "seen_count": 2, "first_seen": "2026-06-30", "last_seen": "2026-07-02"},
                {"project": "tax", "seen_count": 1, "first_seen": "2026-07-01", "last_seen": "2026-07-01"},
            ],
        }
    ],
    "parents": [
        {
            "level": "L0",
            "sha": "c4d1a9e7f2b35608d9e0c7b6a5f4e3d2c1b0a9f8e7d6c5b4a3f2e1d0c9b8a7f6",
            "source": "ci:811",
            "turn": 4,
            "title": "ERROR: Cannot install invoice-report and tax-rules",
        }
    ],
    "children": [],
}

SHOWN_ANSWERS = answers(
    ShownMemory,
    "The memory; one that was superseded too. The same as `mem show --format json` prints.",
    SHOWN_EXAMPLE,
    404,
    422,
    503,
    s404="No memory that everybody may read begins so, be it that there is none, that a candidate was "
    "rejected, or that it is of a user or a container.",
    s422="It is no hex of 4 to 64 digits, or several memories begin so: then with the title AmbiguousPrefix and the "
    "shas of the first 20 of them, in their order, as `candidates`.",
    s503="The gateway knows no database, or it does not answer, or the gateway is at its limit.",
)


def parameters(model: type[GapsRequest]) -> dict[str, Any]:
    """The parameters of a URL, for a route that reads them itself."""
    fields = model.model_json_schema()["properties"]
    return {"parameters": [{"name": name, "in": "query", "schema": schema} for name, schema in fields.items()]}
