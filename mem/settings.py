"""Configuration from the environment, read once by the composition root."""

from __future__ import annotations

from pathlib import Path

from pydantic import Field
from pydantic_settings import BaseSettings, SettingsConfigDict


class Settings(BaseSettings):
    """All settings with the prefix MEM_; Temporal and OpenAI keep their own conventions.

    Nothing set means the embedded stack under `home` and the offline models.
    """

    model_config = SettingsConfigDict(env_prefix="MEM_", extra="ignore")

    home: Path = Path(".mem")
    app_dir: Path | None = None
    """Folder that holds worker.py, workflows/ and activities/; None: the current checkout, if it is one."""
    database_url: str | None = None
    task_queue: str = "mem"
    http_port: int | None = Field(default=None, ge=1, le=65535)
    database_pool: int = Field(default=8, ge=2, le=200)
    temporal_address: str | None = Field(default=None, validation_alias="TEMPORAL_ADDRESS")
    temporal_namespace: str | None = Field(default=None, validation_alias="TEMPORAL_NAMESPACE")
    ledger_days: int = Field(default=30, ge=1, le=3650)
