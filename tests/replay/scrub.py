"""What a recorded history may say of the machine it was recorded on: nothing."""

from __future__ import annotations

from typing import Any

_REPLACED = {"identity": "recorded", "stackTrace": "", "buildId": "recorded", "binaryChecksum": ""}


def scrubbed(value: Any) -> Any:
    """A history as JSON, without hosts, process ids, paths and names of sticky queues."""
    if isinstance(value, list):
        return [scrubbed(each) for each in value]
    if not isinstance(value, dict):
        return value
    kept = {key: _REPLACED[key] if key in _REPLACED else scrubbed(each) for key, each in value.items()}
    if kept.get("kind") == "TASK_QUEUE_KIND_STICKY":
        kept["name"] = "sticky"
    return kept
