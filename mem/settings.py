"""Configuration from the environment and from secret files, read once by the composition root."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import AliasChoices, Field, SecretStr, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource, SettingsConfigDict

from mem.secret_files import SecretFileError, SecretFiles


class Settings(BaseSettings):
    """All settings with the prefix MEM_; Temporal and OpenAI keep their own conventions.

    Nothing set means the embedded stack under `home` and the offline models. A secret may stand in a file of its own
    instead of the environment (`mem.secret_files`); where it stands in both, the environment's counts.
    """

    model_config = SettingsConfigDict(env_prefix="MEM_", extra="ignore", env_ignore_empty=True)

    home: Path = Path(".mem")
    app_dir: Path | None = None
    """Folder that holds worker.py, workflows/ and activities/; None: the current checkout, if it is one."""
    secrets_dir: Path | None = None
    """Folder of secret files; None: /run/secrets, where that exists."""
    database_url: str | None = None
    task_queue: str = "mem"
    worker_serves: Literal["all", "lookups", "writes"] = "all"
    """`lookups`: lookups, queries and turns; `writes`: acceptances and rebuilds."""
    worker_deployment: str | None = Field(default=None, max_length=200)
    worker_build_id: str | None = Field(default=None, max_length=200)
    """Both: the worker is versioned, and gets runs once its build is the deployment's current one; None: it is not."""
    http_port: int | None = Field(default=None, ge=1, le=65535)
    http_host: str = "127.0.0.1"
    """Where the gateway listens; without tokens a loopback address alone."""
    health_file: Path | None = None
    """Where this process tells how it is, for `python -m mem.health`; None: nobody asks."""
    tokens_file: Path | None = None
    """Who may do what over HTTP; None: nobody needs a token."""
    tokens: SecretStr | None = None
    """What such a file holds, for where there is none."""
    database_pool: int = Field(default=8, ge=2, le=200)
    temporal_address: str | None = Field(default=None, validation_alias="TEMPORAL_ADDRESS")
    temporal_namespace: str | None = Field(default=None, validation_alias="TEMPORAL_NAMESPACE")
    metrics_address: str | None = None
    """Host and port where the worker serves its metrics; None: nowhere."""
    payload_key: SecretStr | None = None
    """`id:base64` of what encrypts payloads in Temporal, and behind commas what did before; None: nothing does."""
    ui_origins: str = ""
    """Where pages come from, separated by commas, that may call the codec's routes of the gateway: the Temporal UI."""
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

    rerank_url: str | None = None
    """A server's address; None: the embedded scorer, or the cross-encoder of `rerank_path`."""
    rerank_path: Path | None = None
    """A folder with model.onnx and tokenizer.json, or an .onnx file with its tokenizer beside it."""
    rerank_model: str | None = Field(default=None, max_length=200)
    """Which of its models the server shall use; None: it has one."""
    rerank_key: SecretStr | None = None
    rerank_scores: Literal["probability", "logit"] | None = None
    """What the reranker answers; None: what the calibration says, else probabilities of a server, logits of a file."""
    rerank_calibration: Path | None = None
    rerank_seconds: float = Field(default=1.8, gt=0, le=1.9)
    """Its deadline, below the one of a leg, so that the work ends before nobody waits for it any more."""
    rerank_most: int | None = Field(default=None, ge=1, le=1000)
    """How many candidates of a lookup it scores, the best by recall order; None: what its kind has time for."""
    rerank_batch: int = Field(default=32, ge=1, le=1000)
    """How many documents a server takes in one request."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,  # noqa: ARG003 - ours takes its place
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, then the environment, then secret files."""
        return init_settings, env_settings, dotenv_settings, SecretFiles(settings_cls)

    @field_validator("*", mode="before")
    @classmethod
    def _usable(cls, value: object, info: ValidationInfo) -> object:
        """A secret file that cannot be used is a wrong value, and a variable set to blanks names nothing."""
        if isinstance(value, SecretFileError):
            raise value
        blank = isinstance(value, str) and not value.strip()
        return cls.model_fields[str(info.field_name)].default if blank else value

    @field_validator("secrets_dir")
    @classmethod
    def _is_folder(cls, folder: Path | None) -> Path | None:
        """Where it is named and missing, no secret would be found, and nobody told."""
        if folder is not None and not folder.is_dir():
            raise ValueError(f"{folder} is no folder; name the one that holds the secrets, or unset MEM_SECRETS_DIR")
        return folder
