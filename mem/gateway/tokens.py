"""The tokens that are in force: read from a file or from the environment, and looked up without telling by time."""

from __future__ import annotations

import hmac
import os
import stat
import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import structlog
from pydantic import ValidationError

from mem.domain.errors import ConfigurationError
from mem.domain.faults import told
from mem.domain.rights import Rights, Token, TokenList, hash_of, rights_of_token
from mem.settings import Settings

log = structlog.get_logger()

_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH
_OTHERS_READ = stat.S_IROTH
_NEW = "Make an entry with `mem token new NAME --read PROJECT`, and put it there as it is printed."


class _Stand(NamedTuple):
    """What tells one state of a file from another."""

    changed: int
    modified: int
    size: int
    inode: int


class Tokens:
    """Finds the rights of a secret. A file that changed counts from the next look-up on."""

    def __init__(self, tokens: Sequence[Token], file: Path | None = None) -> None:
        self._file = file
        self._stand = None if file is None else _stand_of(file)
        self._rights = _by_hash(tokens)

    def rights_of(self, secret: bytes) -> Rights | None:
        """What a secret gives; None where it is of no token.

        Every entry is compared, each in the same time, so that how long it takes tells nothing.
        """
        self._renew()
        presented = hash_of(secret).encode("ascii")
        found: Rights | None = None
        for kept, rights in self._rights:
            if hmac.compare_digest(kept, presented):
                found = rights
        return found

    def _renew(self) -> None:
        """Read the file again where it changed; one that cannot be used leaves in force what was, and is logged once.

        A file that goes away is no reason to let everybody in.
        """
        if self._file is None:
            return
        stand = _stand_of(self._file)
        if stand == self._stand:
            return
        self._stand = stand
        try:
            self._rights = _by_hash(read_file(self._file))
        except ConfigurationError as error:
            log.error("tokens not renewed", cause=error.cause, remedy=error.remedy)  # noqa: TRY400 - its text says all
        else:
            log.info("tokens renewed", tokens=len(self._rights))


def find_tokens(settings: Settings) -> Tokens | None:
    """The tokens of the settings; None where none are configured.

    Raises:
        ConfigurationError: they cannot be read, are malformed, or stand in two places.
    """
    if settings.tokens is not None and settings.tokens_file is not None:
        raise ConfigurationError("MEM_TOKENS and MEM_TOKENS_FILE are both set.", "Set one of them.")
    if settings.tokens is not None:
        return Tokens(_parsed(settings.tokens.get_secret_value(), "MEM_TOKENS"))
    if settings.tokens_file is not None:
        return Tokens(read_file(settings.tokens_file), settings.tokens_file)
    return None


def read_file(path: Path) -> list[Token]:
    """The tokens of a file, which others must not write, nor all of them read.

    Raises:
        ConfigurationError: it cannot be read, lies open, or is malformed; says what to do.
    """
    where = f"The tokens file {path}"
    try:
        with path.open("rb") as opened:
            mode = os.fstat(opened.fileno()).st_mode
            content = opened.read()
    except OSError as error:
        raise ConfigurationError(
            f"{where} cannot be read: {error.strerror}.",
            f"Name a file in MEM_TOKENS_FILE that user {os.geteuid()} may read.",
        ) from error
    if mode & (_OTHERS_WRITE | _OTHERS_READ):
        may = "may be changed by others than its owner" if mode & _OTHERS_WRITE else "may be read by everybody"
        raise ConfigurationError(f"{where} {may} (mode {stat.S_IMODE(mode):04o}).", f"Run `chmod 600 {path}`.")
    try:
        text = content.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ConfigurationError(f"{where} is no text in UTF-8.", _NEW) from error
    return _parsed(text, where)


def _parsed(text: str, where: str) -> list[Token]:
    """The tokens of a text; a fault is told by its place, and never quotes what may be a secret."""
    try:
        return TokenList.model_validate(tomllib.loads(text)).token
    except tomllib.TOMLDecodeError as error:
        place = str(error).rpartition("(")[2].rstrip(")")  # what stands before may quote a secret
        raise ConfigurationError(f"{where} is no TOML, {place}.", _NEW) from None
    except ValidationError as error:
        raise ConfigurationError(f"{where} is malformed: {told(error, whole='file', most=3)}.", _NEW) from None


def _by_hash(tokens: Sequence[Token]) -> list[tuple[bytes, Rights]]:
    return [(token.sha256.encode("ascii"), rights_of_token(token)) for token in tokens]


def _stand_of(path: Path) -> _Stand | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return _Stand(found.st_ctime_ns, found.st_mtime_ns, found.st_size, found.st_ino)
