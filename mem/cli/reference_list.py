"""How the documents of the reference corpus are listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from mem.domain.ids import SHARED
from mem.ports import HeldDocument


def as_json(found: Sequence[HeldDocument], by_document: bool) -> dict[str, Any]:
    """The rows, and how much there is in all."""
    rows = [
        {**row, "project": None if row["project"] == SHARED else row["project"]} for row in _rows(found, by_document)
    ]
    total = {"documents": len(found), "chunks": sum(len(one.shas) for one in found)}
    return {"documents" if by_document else "collections": rows, "total": total}


def as_text(found: Sequence[HeldDocument], by_document: bool) -> str:
    """A table, with the total below."""
    if not found:
        return "no document: add some with `mem reference add PATH`"
    rows = _rows(found, by_document)
    head = list(rows[0])
    table = [[key.replace("_", " ") for key in head]]
    table += [["(shared)" if row[key] == SHARED else str(row[key]) for key in head] for row in rows]
    widths = [max(map(len, column)) for column in zip(*table, strict=True)]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in table]
    chunks = sum(len(one.shas) for one in found)
    return "\n".join([*lines, "", f"{chunks} chunks of {len(found)} documents in all"])


def _rows(found: Sequence[HeldDocument], by_document: bool) -> list[dict[str, Any]]:
    if by_document:
        return [
            {
                "source": one.source,
                "project": one.project,
                "chunks": len(one.shas),
                "updated_on": one.updated_on.isoformat(),
            }
            for one in found
        ]
    names = sorted({(_collection(one.source), one.project) for one in found})
    rows = []
    for name, project in names:
        members = [one for one in found if (_collection(one.source), one.project) == (name, project)]
        rows.append(
            {
                "name": name,
                "project": project,
                "documents": len(members),
                "chunks": sum(len(one.shas) for one in members),
                "updated_on": max(one.updated_on for one in members).isoformat(),
            }
        )
    return rows


def _collection(source: str) -> str:
    """The name before the first slash; a path from the root, as earlier versions kept it, stands for itself."""
    return source.partition("/")[0] or source
