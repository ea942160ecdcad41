"""What the Dockerfile makes, made without Docker: the wheel in an environment of its own, and the folder of the app.

Everything is taken from the file, so that the tests follow it: what is copied, what is set, what runs as whom.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path
from typing import NamedTuple

from tests.deploy.dockerfile import Stage, copy_into, read_dockerfile

ROOT = Path(__file__).resolve().parents[2]
DOCKERFILE = ROOT / "docker" / "Dockerfile"
LOCK = ROOT / "docker" / "requirements.lock"


class Image(NamedTuple):
    """The places that stand for those in the image, and what it says about a process."""

    root: Path
    stage: Stage
    user: int | None
    """As whom processes run; None: as the caller."""

    @property
    def venv(self) -> Path:
        return self.root / "opt" / "mem"

    @property
    def app(self) -> Path:
        return self.root / "app"

    def here(self, value: str, tmp: Path, secrets: Path) -> str:
        """A value of the image, with its places in the place of the image's."""
        places = {"/opt/mem": self.venv, "/app": self.app, "/tmp": tmp, "/run/secrets": secrets}
        return re.sub(rf"(?<![\w/.])({'|'.join(places)})(?!\w)", lambda found: str(places[found[1]]), value)

    def environment(self, tmp: Path, secrets: Path, given: dict[str, str]) -> dict[str, str]:
        """What a process finds: the image's variables and those given, and nothing of the caller's."""
        both = {**self.stage.environment, "MEM_SECRETS_DIR": "/run/secrets", **given}
        return {name: self.here(value, tmp, secrets) for name, value in both.items()}


def make_image(root: Path) -> Image:
    """Build it below a folder that other users reach."""
    build, runtime = read_dockerfile(DOCKERFILE)
    interpreter, user = _interpreter(int(runtime.last("USER").partition(":")[0]))
    image = Image(root, runtime, user)
    source = root / "src"
    copy_into(build, ROOT, source)
    wheels = root / "wheel"
    command = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(wheels)]
    assert " ".join(command[1:6]) in build.last("RUN"), "the file builds the wheel by the same command"
    subprocess.run(command, cwd=source, check=True, capture_output=True, timeout=300)
    subprocess.run([interpreter, "-m", "venv", "--without-pip", image.venv], check=True, timeout=300)
    packages = next(image.venv.glob("lib/python*/site-packages"))
    install = [sys.executable, "-m", "pip", "--python", str(image.venv / "bin" / "python"), "install", "--quiet"]
    wheel = next(wheels.glob("*.whl"))
    subprocess.run([*install, "--no-deps", "--no-index", str(wheel)], check=True, capture_output=True, timeout=300)
    _lay_in(packages, reachable=user is not None)
    copy_into(runtime, ROOT, image.app)
    return image


def _interpreter(number: int) -> tuple[str, int | None]:
    """An interpreter of this version that the image's user can run, and that user; else this one, as the caller."""
    own = os.path.realpath(sys.executable)
    if os.geteuid() != 0:
        return own, None
    for each in (own, f"/usr/bin/python{sys.version_info.major}.{sys.version_info.minor}"):
        if Path(each).exists() and _reached(Path(each)):
            return each, number
    return own, None


def _reached(path: Path) -> bool:
    """Whether everybody may pass through the folders above."""
    return all(folder.stat().st_mode & 0o001 for folder in path.resolve().parents)


def _lay_in(packages: Path, *, reachable: bool) -> None:
    """Put in what the image's lock names, and nothing else of what is installed here."""
    locked = re.findall(r"^([a-z0-9._-]+)==", LOCK.read_text(encoding="utf-8"), re.MULTILINE)
    for name in locked:
        try:
            found = distribution(name)
        except PackageNotFoundError:
            continue  # for another system
        place = Path(str(found.locate_file("")))
        tops = {file.parts[0] for file in found.files or () if file.parts[0] != ".."}
        for top in tops:
            if not (packages / top).exists():
                _lay(place / top, packages / top, linked=not reachable or _reached(place / top))


def _lay(source: Path, target: Path, *, linked: bool) -> None:
    if linked:
        target.symlink_to(source)
    elif source.is_dir():
        shutil.copytree(source, target, symlinks=True)
    else:
        shutil.copy(source, target)
