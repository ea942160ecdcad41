"""What a Dockerfile says, as far as the tests follow it."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path
from typing import NamedTuple


class Instruction(NamedTuple):
    """One instruction: its word, and the rest of its lines joined."""

    word: str
    rest: str


class Stage(NamedTuple):
    """A stage: the image that it begins with, and its instructions in order."""

    image: str
    instructions: tuple[Instruction, ...]

    def all(self, word: str) -> list[str]:
        return [one.rest for one in self.instructions if one.word == word]

    def last(self, word: str) -> str:
        return self.all(word)[-1]

    @property
    def environment(self) -> dict[str, str]:
        pairs = (word.partition("=") for rest in self.all("ENV") for word in shlex.split(rest))
        return {name: value for name, _, value in pairs}

    @property
    def command(self) -> list[str]:
        return json.loads(self.last("ENTRYPOINT"))

    @property
    def default(self) -> list[str]:
        return json.loads(self.last("CMD"))

    @property
    def health(self) -> list[str]:
        return json.loads(self.last("HEALTHCHECK").partition("CMD")[2])

    @property
    def copied(self) -> list[tuple[list[str], str]]:
        """Sources and destination of each COPY from the build context."""
        words = [shlex.split(rest) for rest in self.all("COPY")]
        return [(each[:-1], each[-1]) for each in words if not each[0].startswith("--from")]


def read_dockerfile(path: Path) -> list[Stage]:
    """The stages of a file."""
    lines = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    stages: list[tuple[str, list[Instruction]]] = []
    for line in filter(None, map(str.strip, joined.splitlines())):
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stages.append((rest, []))
        else:
            stages[-1][1].append(Instruction(word, rest.strip()))
    return [Stage(image, tuple(instructions)) for image, instructions in stages]


def copy_into(stage: Stage, context: Path, workdir: Path) -> None:
    """Do what the COPY lines say, but for what comes from other stages: files into a folder, a folder's content."""
    ignored = shutil.ignore_patterns("__pycache__", "*.py[co]")
    for sources, destination in stage.copied:
        target = workdir / destination
        for source in (context / each for each in sources):
            if source.is_dir():
                shutil.copytree(source, target, ignore=ignored, dirs_exist_ok=True)
            else:
                target.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)


def allowed(path: str, ignore: str) -> bool:
    """Whether a .dockerignore that ignores all but its exceptions lets a path into the build."""
    lines = [line for line in ignore.splitlines() if line and not line.startswith("#")]
    assert lines[0] == "*", "it begins by ignoring everything"
    return f"!{path}" in lines
