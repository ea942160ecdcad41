"""Secrets as files, one for each, as Docker and Kubernetes hand them to a process."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import PydanticBaseSettingsSource

DEFAULT_FOLDER = Path("/run/secrets")
FOLDER = "MEM_SECRETS_DIR"


class SecretFileError(ValueError):
    """A secret file that cannot be used; its text names the file and the remedy, and quotes nothing of it."""


def secret_file(name: str) -> str | None:
    """The content of a secret's file without the white space around it; None where there is no such file or folder.

    Args:
        name: that of the environment variable, as the file is called too; in small letters it is found as well.

    Raises:
        SecretFileError: the file is there and cannot be used.
    """
    folder = Path(os.environ.get(FOLDER, "").strip() or DEFAULT_FOLDER)
    path = next((folder / each for each in (name, name.lower()) if _is_there(folder / each)), None)
    return None if path is None else _content(path)


class SecretFiles(PydanticBaseSettingsSource):
    """The settings that are secrets, from their files.

    A fault is handed on as the value of its setting, so that it is told like any other wrong value: by a validator.
    """

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The value, or the fault, of one setting; None where it is no secret or has no file."""
        if SecretStr in _types(field) or field_name == "database_url":
            try:
                return secret_file(self._variable(field, field_name)), field_name, False
            except SecretFileError as fault:
                return fault, field_name, False
        return None, field_name, False

    def __call__(self) -> dict[str, Any]:
        """Every setting that has a file."""
        found = (
            (_key(field, name), self.get_field_value(field, name)[0])
            for name, field in self.settings_cls.model_fields.items()
        )
        return {key: value for key, value in found if value is not None}

    def _variable(self, field: FieldInfo, name: str) -> str:
        if field.validation_alias is not None:
            return _key(field, name).upper()
        return f"{self.config.get('env_prefix', '')}{name}".upper()


def _is_there(path: Path) -> bool:
    """Whether there is something of this name, be it a link that leads nowhere: a secret was meant to be there."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError as error:
        raise _unreadable(path, error) from error
    return True


def _unreadable(path: Path, error: OSError) -> SecretFileError:
    reason = (error.strerror or "no reason is told").lower()
    return SecretFileError(f"the secret file {path} cannot be read: {reason}; user {os.geteuid()} has to")


def _content(path: Path) -> str:
    if path.is_fifo():
        raise SecretFileError(f"the secret file {path} is a pipe, which can be read once; write a file in its place")
    try:
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            content = opened.read()
    except OSError as error:
        raise _unreadable(path, error) from error
    if mode & stat.S_IWOTH:
        raise SecretFileError(f"the secret file {path} may be changed by everybody; run `chmod o-w {path}`")
    try:
        text = content.decode("utf-8-sig").strip()
    except UnicodeDecodeError:
        raise SecretFileError(f"the secret file {path} is no text in UTF-8; write it anew") from None
    if not text:
        raise SecretFileError(f"the secret file {path} is empty; write the secret into it, or take the file away")
    return text


def _types(field: FieldInfo) -> tuple[Any, ...]:
    return getattr(field.annotation, "__args__", (field.annotation,))


def _key(field: FieldInfo, name: str) -> str:
    """By which key a value of the setting is accepted."""
    alias = field.validation_alias
    choices = getattr(alias, "choices", [alias])
    return str(choices[-1]) if alias is not None else name
