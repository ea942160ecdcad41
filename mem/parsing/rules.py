"""The rule files: read once, validated, compiled. They are data; no code names a rule in them."""

from __future__ import annotations

import re
import tomllib
from functools import cache
from importlib import resources
from typing import Annotated, Any, Literal, TypeVar

import re2
from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    PlainValidator,
    ValidationError,
)

from mem.domain.errors import RuleError

T = TypeVar("T", bound=BaseModel)
_PIECE = re.compile(r"\{\{(\w+)\}\}")
SHARED = {"envelopes.toml", "classes.toml", "mask.toml", "ranking.toml", "redact.toml", "gist.toml"}


def compile_pattern(pattern: str) -> Any:
    """`pattern` as a linear-time regular expression; ValueError where it is none."""
    options = re2.Options()
    options.log_errors = False
    options.max_mem = 16 << 20
    try:
        return re2.compile(pattern, options)
    except re2.error as error:
        raise ValueError(f"bad pattern {pattern!r}: {error}") from None


def _pattern(value: Any) -> Any:
    if not isinstance(value, str):
        raise ValueError("a pattern is a string")  # noqa: TRY004  pydantic turns only this into a report
    return compile_pattern(value)


Pattern = Annotated[Any, PlainValidator(_pattern)]


Hint = Annotated[str, Field(min_length=1, pattern=r"^[^A-Z]+$")]


class _Strict(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)


class Rule(_Strict):
    """How one kind of failure looks; the fields are explained at the head of the rule files."""

    id: str = Field(pattern=r"^[a-z0-9_-]+(\.[a-z0-9_-]+)+$")
    tool: str = ""
    hints: tuple[Hint, ...] = Field(min_length=1)
    anchor: Pattern
    unless: Pattern | None = None
    back: Pattern | None = None
    more: Pattern | None = None
    stop: Pattern | None = None
    include_stop: bool = False
    indent: bool = False
    blanks: bool = False
    text: int = Field(default=0, ge=0, le=40)
    max: int = Field(default=1, ge=1, le=400)
    last: Pattern | None = None
    chain: Pattern | None = None
    need: Pattern | None = None
    title: Pattern | None = None
    title_lines: int = Field(default=300, ge=1, le=2000)
    names: Pattern | None = None
    headline: Pattern | None = None
    require: bool = False
    pick: Literal["first", "last"] = "last"
    code: str | None = None
    message: str | None = None
    identity: tuple[Pattern, ...] = ()
    flow: bool = False
    frame: Pattern | None = None
    foreign: Pattern | None = None
    nearest: Literal["first", "last"] = "last"
    first: bool = False
    clears: str | None = None
    each: bool = False
    weight: float = 0.0


class RuleFile(_Strict):
    """One tool's rules, in order of precedence."""

    version: int = Field(ge=1)
    tool: str = Field(pattern=r"^[a-z0-9-]+$")
    rule: tuple[Rule, ...]


class Prefix(_Strict):
    """What may stand before each line."""

    envelope: str | None = None
    pattern: Pattern


class Marker(_Strict):
    """A line that structures the log."""

    envelope: str | None = None
    kind: Literal["open", "body", "close", "exit", "after", "quote", "timed", "note", "done"]
    pattern: Pattern
    until: Pattern | None = None
    implies: int | None = None
    opens_next: bool = False


class Label(_Strict):
    """A word that the envelope sets before a message."""

    pattern: Pattern
    red: bool = False


class Envelopes(_Strict):
    """All that is known about CI systems."""

    version: int = Field(ge=1)
    starts: tuple[str, ...]
    hints: tuple[Hint, ...]
    inner: tuple[str, ...] = ()
    whole: tuple[str, ...] = ()
    prefix: tuple[Prefix, ...]
    marker: tuple[Marker, ...]
    label: tuple[Label, ...]


class LineClass(_Strict):
    """A set of lines that mean the same for the ranking."""

    name: str
    any: tuple[Pattern, ...]


class Classes(_Strict):
    """The line classes."""

    version: int = Field(ge=1)
    hints: tuple[Hint, ...]
    empty_words: str = ""
    prose_words: str = ""
    line_class: tuple[LineClass, ...]


class Mask(_Strict):
    """One kind of text, kept as it is or replaced by a token."""

    name: str
    pattern: Pattern
    token: str | None = None
    coarse: bool = False
    coarse_only: bool = False


class Masks(_Strict):
    """The masks in order of precedence."""

    version: int = Field(ge=1)
    mask: tuple[Mask, ...]


class Ranking(_Strict):
    """Weights by feature, and the score that a first signature needs."""

    version: int = Field(ge=1)
    floor: float
    floor_words: float
    floor_failed: float
    margin: float
    weights: dict[str, float]


class Gists(_Strict):
    """What is not what a line says."""

    version: int = Field(ge=1)
    prefix: tuple[Pattern, ...]
    saying: tuple[str, ...]
    pairs: Pattern
    erring: Pattern
    field: Pattern
    markup: Pattern


def load(name: str, model: type[T]) -> T:
    """The rule file `name` as `model`; RuleError names the file and the rule."""
    text = resources.files(__package__).joinpath("rules").joinpath(name).read_text(encoding="utf-8")
    return parse(name, text, model)


def parse(name: str, text: str, model: type[T], noun: str = "rule") -> T:
    """`text` as the rule file `name`, each of whose parts is a `noun`.

    Raises:
        RuleError: it is no TOML or breaks the form; it names the file and the part.
    """
    try:
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise RuleError(f"{name} is no TOML: {error}.", "Correct the file.") from None
    try:
        return model.model_validate(_named(name, data))
    except ValidationError as error:
        first = error.errors()[0]
        place = _where(data, first["loc"], noun)
        raise RuleError(f"{name}, {place}: {first['msg']}.", f"Correct the {noun}.") from None


def _named(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """`data` with the pieces of patterns that its table `pieces` names put where a rule writes `{{piece}}`."""
    pieces = data.pop("pieces", {})
    if not isinstance(pieces, dict) or not all(isinstance(piece, str) for piece in pieces.values()):
        raise RuleError(f"{name}, pieces: they are a table of patterns.", "Correct the file.")

    def put(found: re.Match[str]) -> str:
        piece = pieces.get(found[1])
        if piece is None:
            raise RuleError(f"{name}: no piece is called {found[1]}.", "Name one of the table `pieces`.")
        return str(piece)

    def filled(value: Any) -> Any:
        if isinstance(value, list):
            return [filled(item) for item in value]
        if isinstance(value, dict):
            return {key: filled(item) for key, item in value.items()}
        return _PIECE.sub(put, value) if isinstance(value, str) else value

    return {key: filled(value) for key, value in data.items()} if pieces else data


def _where(data: Any, location: tuple[int | str, ...], noun: str) -> str:
    """The part at `location` by its own name, followed by the field."""
    entry: Any = data
    name = ""
    for part in location:
        try:
            entry = entry[part]
        except (KeyError, IndexError, TypeError):
            break
        if isinstance(entry, dict):
            name = str(entry.get("id") or entry.get("name") or name)
    place = ".".join(str(part) for part in location)
    return f"{noun} {name} ({place})" if name else place


@cache
def tool_rules() -> tuple[Rule, ...]:
    """The rules of all tools, file by file, each with its tool."""
    folder = resources.files(__package__).joinpath("rules")
    names = sorted(item.name for item in folder.iterdir() if item.name.endswith(".toml"))
    rules: list[Rule] = []
    for name in names:
        if name not in SHARED:
            rules += of_file(name, load(name, RuleFile), {rule.id for rule in rules})
    return tuple(rules)


def of_file(name: str, file: RuleFile, taken: set[str]) -> list[Rule]:
    """The rules of one file, checked against the ids that are taken."""
    rules = []
    for rule in file.rule:
        if rule.id in taken:
            raise RuleError(f"{name}, rule {rule.id}: the id is taken.", "Give each rule one id.")
        if rule.anchor.search("") is not None:
            raise RuleError(f"{name}, rule {rule.id}: the anchor matches anything.", "Narrow it.")
        taken.add(rule.id)
        rules.append(rule.model_copy(update={"tool": rule.tool or file.tool}))
    return rules
