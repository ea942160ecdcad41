"""Fixtures that all tests may ask for."""

from __future__ import annotations

import os

from tests.live_models import refuse_live_models

pytest_plugins = ["tests.postgres", "tests.temporal_server"]

refuse_live_models(os.environ)
