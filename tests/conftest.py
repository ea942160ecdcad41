"""Fixtures that all tests may ask for."""

from __future__ import annotations

pytest_plugins = ["tests.postgres", "tests.temporal_server"]
