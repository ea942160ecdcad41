"""Fixtures that all tests may ask for."""

from __future__ import annotations

import os

from hypothesis import settings

from tests.live_models import refuse_live_models

pytest_plugins = ["tests.forks", "tests.postgres", "tests.temporal_server"]

# A law holds on a slow machine, too.
settings.register_profile("mem", deadline=None)
settings.load_profile("mem")

refuse_live_models(os.environ)
