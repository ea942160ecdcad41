"""Configuration from the environment, read once by the composition root."""

from __future__ import annotations

from pathlib import Path

from pydantic import AliasChoices, Field, SecretStr, field_validator
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
    chat_model: str | None = Field(default=None, max_length=200)
    """The controller; None: no model is asked, and the embedded defaults do its work."""
    embedding_model: str | None = Field(default=None, max_length=200)
    """None: the embedded MiniLM."""
    embedding_dimensions: int | None = Field(default=None, ge=1, le=4000)
    """Of the embedding model's vectors; None: found out by one call where the index does not tell."""
    openai_api_key: SecretStr | None = Field(
        default=None, validation_alias=AliasChoices("openai_api_key", "OPENAI_API_KEY")
    )
    openai_base_url: str | None = Field(
        default=None, validation_alias=AliasChoices("openai_base_url", "OPENAI_BASE_URL")
    )

    @field_validator(
        "chat_model", "embedding_model", "embedding_dimensions", "openai_api_key", "openai_base_url", mode="before"
    )
    @classmethod
    def _blank_is_unset(cls, value: object) -> object:
        """A variable that is set to nothing names nothing."""
        return None if isinstance(value, str) and not value.strip() else value
