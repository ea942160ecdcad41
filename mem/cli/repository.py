"""The git repository that a folder is in, read from its files: git itself need not be installed."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

_POINTER_BYTES = 8192
_HEADER = re.compile(r'\[[ \t]*([A-Za-z0-9.-]+)(?:[ \t]+"((?:[^"\\\n]|\\[^\n])*)")?[ \t]*\]')
_NAME = re.compile(r"([A-Za-z][A-Za-z0-9-]*)[ \t]*(=?)")
_ESCAPED = {"n": "\n", "t": "\t", "b": "\b"}
_SEPARATOR = re.compile(r"[/\\:]")
_ONLY_HOST = re.compile(r"([^/\\]*):[0-9]*")


class Repository(NamedTuple):
    """A repository: the folder that it is called by, and where its configuration is, if that is there.

    Of a linked work tree both are of the main repository.
    """

    folder: Path
    config: Path | None

    @property
    def name(self) -> str:
        """What its folder calls it."""
        return self.folder.name.removesuffix(".git")

    @property
    def origin(self) -> str | None:
        """The URL of the remote `origin`; None without."""
        return None if self.config is None else origin_of(_read(self.config))


def repository_at(folder: Path) -> Repository | None:
    """The repository whose work tree begins at this folder, or whose own folder it is, as with bare ones."""
    marker = folder / ".git"
    if _is_git_folder(marker):
        return Repository(folder, marker / "config")
    if there(marker.is_file):
        return _linked(folder, marker)
    return _of_git_folder(folder) if _is_git_folder(folder) else None


def origin_of(config: str) -> str | None:
    """The URL of the remote `origin` in a git configuration, the first one where it has several."""
    return next((value for key, value in _settings(config) if key == ("remote", "origin", "url") and value), None)


def name_in(url: str) -> str | None:
    """What a repository is called by its URL, in all forms that git takes; None where nothing is left to call it by.

    The same as the folder that `git clone` would make of it.
    """
    _, scheme, behind = url.partition("://")
    host, slash, path = (behind if scheme else url).partition("/")
    bare = (host.rpartition("@")[2] + slash + path).rstrip("/\\ \t\n")
    bare = re.sub(r"[/\\]\.git$", "", bare).rstrip("/\\")
    if only := _ONLY_HOST.fullmatch(bare):
        bare = only[1]
    name = _SEPARATOR.split(bare)[-1].removesuffix(".git")
    return None if name in {"", ".", ".."} else name


def there(check: Callable[[], bool]) -> bool:
    """Whether a file is there, as a `Path` would tell if what may not be seen were no error."""
    try:
        return check()
    except (OSError, ValueError):
        return False


def _is_git_folder(folder: Path) -> bool:
    """What git itself looks for."""
    # HEAD may be a link into refs that are packed.
    head = folder / "HEAD"
    return (
        (there(head.is_file) or there(head.is_symlink))
        and there((folder / "objects").is_dir)
        and there((folder / "refs").is_dir)
    )


def _of_git_folder(folder: Path) -> Repository:
    """A repository by its git folder: a hidden one, such as `.git`, lies in what it is called by."""
    return Repository(folder.parent if folder.name.startswith(".") else folder, folder / "config")


def _linked(folder: Path, marker: Path) -> Repository:
    """A repository whose git folder is elsewhere: a submodule, or a further work tree of another one."""
    _, _, target = _read(marker).partition("gitdir:")
    git_folder = folder / target.strip()
    shared = git_folder / "commondir"
    if there(shared.is_file):
        common = (git_folder / _read(shared).strip()).resolve()
        if _is_git_folder(common):
            return _of_git_folder(common)
    return Repository(folder, git_folder / "config" if target and _is_git_folder(git_folder) else None)


def _read(path: Path) -> str:
    """The content of a small file of git; empty where it cannot be read."""
    try:
        with path.open("rb") as file:
            data = file.read() if path.name == "config" else file.read(_POINTER_BYTES)
    except (OSError, ValueError):
        return ""
    return data.decode("utf-8-sig", "replace").replace("\r\n", "\n")


def _settings(config: str) -> Iterator[tuple[tuple[str, str, str], str]]:
    """Section, subsection and name of each setting, with its value; what git would refuse is passed over."""
    section, subsection = "", ""
    at = 0
    while at < len(config):
        if config[at].isspace():
            at += 1
        elif header := _HEADER.match(config, at):
            section, _, dotted = header[1].lower().partition(".")
            subsection = dotted if header[2] is None else re.sub(r"\\(.)", r"\1", header[2])
            at = header.end()
        elif (name := _NAME.match(config, at)) and name[2]:
            value, at = _value(config, name.end())
            yield (section, subsection, name[1].lower()), value
        else:
            at = _line_end(config, at)


def _value(config: str, at: int) -> tuple[str, int]:
    """The value that begins there, and where it ends: quotes, escapes and comments as git reads them."""
    told: list[str] = []
    kept, quoted = 0, False
    while at < len(config) and config[at] != "\n":
        char = config[at]
        at += 1
        if char == '"':
            quoted = not quoted
        elif char in "#;" and not quoted:
            at = _line_end(config, at)
        elif char == "\\":
            following = config[at : at + 1]
            at += 1
            told += [] if following == "\n" else [_ESCAPED.get(following, following)]
            kept = len(told)
        elif quoted or not char.isspace():
            told.append(char)
            kept = len(told)
        elif told:
            told.append(char)
    return "".join(told[:kept]), at


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at)
    return len(text) if end < 0 else end
