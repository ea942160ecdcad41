"""The files of a stack's home: stack.json for everyone, processes.json for whoever has to clean up, one lock."""

from __future__ import annotations

import fcntl
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ConfigDict, ValidationError

from mem.domain.errors import StackError
from mem.local.options import ReadyKind
from mem.local.processes import ProcessId

Model = TypeVar("Model", bound=BaseModel)


class TemporalAddress(BaseModel):
    """Where Temporal answers."""

    model_config = ConfigDict(frozen=True)

    address: str
    namespace: str


class PartRecord(BaseModel):
    """One part of the stack, as `mem status` checks it; an external one was given and not started."""

    model_config = ConfigDict(frozen=True)

    name: str
    ready: ReadyKind
    external: bool = False


class StackFile(BaseModel):
    """The content of stack.json; it exists only while every part has answered."""

    model_config = ConfigDict(frozen=True)

    http: str
    ui: str | None
    temporal: TemporalAddress
    database_url: str
    pids: dict[str, int]
    started: dict[str, float] = {}
    """Creation time of each process, since a pid alone may have been given to another one."""
    task_queue: str = "mem"
    home: str = ""
    postgres_dir: str | None = None
    postgres_binaries: str | None = None
    parts: tuple[PartRecord, ...] = ()

    def process(self, name: str) -> ProcessId | None:
        """The process of a part, None for a given one."""
        if name not in self.pids:
            return None
        return ProcessId(pid=self.pids[name], started=self.started.get(name, 0.0))


class StartedProcess(BaseModel):
    """One process that a supervisor started, with what is needed to stop it."""

    model_config = ConfigDict(frozen=True)

    name: str
    process: ProcessId
    stop_signal: int
    grace: float


class Processes(BaseModel):
    """The content of processes.json: what has to be ended if the supervisor itself can no longer do it."""

    model_config = ConfigDict(frozen=True)

    supervisor: ProcessId
    parts: tuple[StartedProcess, ...] = ()
    """In the order in which they started."""


@dataclass(frozen=True)
class StackHome:
    """The paths below $MEM_HOME."""

    root: Path

    @classmethod
    def at(cls, path: Path) -> StackHome:
        """The home at `path`, which need not exist."""
        return cls(path.expanduser().resolve())

    def make(self) -> None:
        """Create the folder where it is missing; a folder that exists keeps its mode."""
        try:
            if not self.root.exists():
                self.root.mkdir(parents=True)
                # Root's Postgres runs as another user, which has to get through; nobody else's has to.
                self.root.chmod(0o711 if os.geteuid() == 0 else 0o700)
            if not self.logs.exists():
                self.logs.mkdir(mode=0o700)
        except OSError as error:
            raise StackError(
                f"The folder {self.root} cannot be created: {error.strerror}.",
                "Set MEM_HOME to a folder that you may write.",
            ) from error
        if not os.access(self.root, os.W_OK | os.X_OK):
            raise StackError(f"The folder {self.root} is not writable.", "Set MEM_HOME to a folder that you may write.")

    @property
    def stack_file(self) -> Path:
        """What clients read."""
        return self.root / "stack.json"

    @property
    def processes_file(self) -> Path:
        """What a later start or `mem down` reads to clean up."""
        return self.root / "processes.json"

    @property
    def lock_file(self) -> Path:
        """Locked for as long as a supervisor lives; the file itself is never removed."""
        return self.root / "stack.lock"

    @property
    def logs(self) -> Path:
        """One log a part."""
        return self.root / "logs"

    def log(self, name: str) -> Path:
        """The log of one part."""
        return self.logs / f"{name}.log"

    @property
    def temporal_db(self) -> Path:
        """The database file of the dev server."""
        return self.root / "temporal.db"

    @property
    def postgres_password(self) -> Path:
        """The password of the embedded Postgres, made once."""
        return self.root / "postgres.password"

    @property
    def postgres(self) -> Path:
        """The folder of the Postgres data, where its user can reach it here."""
        return self.root / "postgres"

    @property
    def postgres_pointer(self) -> Path:
        """Names that folder where it is elsewhere, so that a later start does not choose another one."""
        return self.root / "postgres.path"

    def read_stack(self) -> StackFile | None:
        """What stack.json says; None where there is none or it cannot be understood."""
        return _read(self.stack_file, StackFile)

    def read_processes(self) -> Processes | None:
        """What processes.json says; None where there is none or it cannot be understood."""
        return _read(self.processes_file, Processes)

    @contextmanager
    def lock(self) -> Iterator[None]:
        """Hold this home alone.

        Raises:
            BlockingIOError: Another process holds it.
        """
        # The descriptor is not inheritable, so a part can never keep a dead supervisor's lock.
        descriptor = os.open(self.lock_file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            yield
        finally:
            os.close(descriptor)


def write_private(path: Path, text: str) -> None:
    """Write a file that only its owner may read, all of it or nothing."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")  # mkstemp makes it 0600
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def write_model(path: Path, model: BaseModel) -> None:
    """Write a model as private JSON."""
    write_private(path, model.model_dump_json(indent=1) + "\n")


def _read(path: Path, model: type[Model]) -> Model | None:
    try:
        return model.model_validate_json(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError, ValidationError):
        return None
    except OSError as error:
        raise StackError(
            f"{path} cannot be read: {error.strerror}.", "Use the stack as the user who started it, or set MEM_HOME."
        ) from error
