"""What a line says, without what a logger sets around it."""

from __future__ import annotations

import json
import re
from typing import Any

_PREFIXES = (
    re.compile(r"^\s*[│╷╵|>#]+\s+"),
    re.compile(r"^\[?\w{3},? +\d{1,2}\.? \d\d:\d\d:\d\d(?:\.\d+)?\]? (?:[\w.-]+ )?"),
    re.compile(
        r"^\[?\d{4}[-/]\d\d[-/]\d\d[T ,]+\d\d:\d\d(?::\d\d)?[\d.,]*(?:Z| ?UTC| ?CES?T|[+-]\d\d:?\d\d)?\]?[:,]?\s*"
    ),
    re.compile(r"^\[?\d\d:\d\d:\d\d[\d.,]*\]?\s+"),
    re.compile(r"^[\w.@/-]{1,60}\[\d+\]: "),
    re.compile(r"^\[\d{1,8}\]:? "),
    re.compile(r"^[\w.-]{1,40}(?:-\d+)? +\| "),
    re.compile(r"^\d{1,8}#\d{1,8}: (?:\*\d+ )?"),
    re.compile(r"^\{[\w.-]+\.py:\d+\} "),
    re.compile(r"^\[(?:main|[\w.-]*(?:thread|pool|worker|exec|Process)[\w.#/-]*)\] ?"),
    re.compile(r"^\[?(?:ERROR|CRITICAL|FATAL|WARN(?:ING)?|SEVERE)(?:/[\w-]+)?\]? *[:|-]? +(?=\S+ \S)"),
    re.compile(r"^\[(?:crit|error|emerg|alert|warn)\] +"),
    re.compile(r"^##\[error\] ?"),
)
_ROUNDS = 4
_SAYING = (
    "error",
    "err",
    "exception",
    "msg",
    "message",
    "reason",
    "errorMessage",
    "error_message",
    "detail",
    "cause",
    "log",
)
_FIELD = re.compile(r"\b(?:err|error|msg|message|reason)=(\"(?:[^\"\\]|\\.){3,400}\"|\S{3,200})")
_SHORT = 3


def gist(line: str) -> str:
    """`line` without times, hosts, process ids and levels; of a record in JSON or in pairs what it says happened."""
    text = " ".join(line.split())
    for _ in range(_ROUNDS):
        before = text
        for prefix in _PREFIXES:
            shorter = prefix.sub("", text, count=1)
            if len(shorter) >= _SHORT:
                text = shorter
        if text == before:
            break
    brace = text.find("{")
    if brace >= 0 and text.endswith("}"):
        return _of_json(text[brace:]) or text
    said = [found.group(1).strip('"') for found in _FIELD.finditer(text)]
    return " ".join(dict.fromkeys(said)) if said and ("level=" in text or "lvl=" in text) else text


def _of_json(text: str) -> str:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        return ""
    return " ".join(dict.fromkeys(" ".join(part.split()) for part in _said(data))) if isinstance(data, dict) else ""


def _said(data: dict[str, Any]) -> list[str]:
    found: list[str] = []
    for name in _SAYING:
        value = data.get(name)
        if isinstance(value, str) and value.strip():
            found.append(value)
        elif isinstance(value, dict):
            found += _said(value)
    return found
