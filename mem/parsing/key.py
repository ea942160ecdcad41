"""From a block to the key that stands for its failure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, NamedTuple

from mem.domain.canonical import canonical_sha
from mem.domain.signatures import ALGO, EarlierKey
from mem.parsing.blocks import headline, unprefixed
from mem.parsing.clean import cap
from mem.parsing.mask import mask, mask_coarse, path, source
from mem.parsing.page import Candidate, Page
from mem.parsing.patterns import stands_in
from mem.parsing.redact import redact
from mem.parsing.rules import Classes, Rule, compile_pattern, load

FALLBACK_TOOL = "generic"
FALLBACK_RULE = "generic.failure"
_FRAMES = 3
_MESSAGE = 600
_RAW_MESSAGE = 4 * _MESSAGE
_MESSAGE_LINES = 4
_IDENTITY_LINES = 6
_EXCERPT = 4000
_WORDS = compile_pattern(r"[^\W\d_]{3,}")
_TOKENS = compile_pattern(r"<[a-z]{1,8}>")
_MARGIN = compile_pattern(r"^\s*[│|]")
_VOLATILE = compile_pattern(r"\b0x[0-9a-fA-F]{4,}\b")


@dataclass(frozen=True, slots=True)
class Key:
    """The key of one failure with what went into it, and those of the earlier versions, newest first."""

    algo: int
    sig_sha: str
    sig_coarse: str
    tool: str
    rule: str
    code: str | None
    message: str
    excerpt: str
    earlier: tuple[EarlierKey, ...]


class Block(NamedTuple):
    """What an algorithm makes a key from: a candidate with its redacted lines and the line that titles it."""

    page: Page
    one: Candidate
    lines: list[str]
    title: str


class Identity(NamedTuple):
    """What one version of the algorithm takes for the failure; its parts are hashed together with the version."""

    code: str | None
    message: str
    strict: Mapping[str, Any]
    coarse: Mapping[str, Any]


@dataclass(slots=True)
class _Record:
    """What a block says, before masking."""

    code: str | None
    symbol: str
    file: str
    message: list[str]
    frames: list[str]


def key_of(page: Page, one: Candidate) -> Key | None:
    """The key of a candidate; None where nothing in it identifies a failure."""
    text = redact("\n".join(cap(page.lines[line]) for line in range(one.start, one.end + 1))).text
    title = "" if one.title is None else redact(cap(page.lines[one.title])).text
    block = Block(page, one, text.split("\n"), title)
    algo, *before = sorted(ALGOS, reverse=True)
    identity = ALGOS[algo](block)
    if identity is None:
        return None
    tool, rule = _names(one)
    sig_sha, sig_coarse = _hashed(algo, one, identity)
    old = [(earlier, found) for earlier in before if (found := ALGOS[earlier](block)) is not None]
    return Key(
        algo=algo,
        sig_sha=sig_sha,
        sig_coarse=sig_coarse,
        tool=tool,
        rule=rule,
        code=identity.code,
        message=identity.message,
        excerpt=text[:_EXCERPT],
        earlier=tuple(EarlierKey(earlier, *_hashed(earlier, one, found)) for earlier, found in old),
    )


def current_algo() -> int:
    """The version that new keys are made under."""
    return max(ALGOS)


def _names(one: Candidate) -> tuple[str, str]:
    return (one.rule.tool, one.rule.id) if one.rule else (FALLBACK_TOOL, FALLBACK_RULE)


def _hashed(algo: int, one: Candidate, identity: Identity) -> tuple[str, str]:
    """The strict and the coarse key."""
    tool, rule = _names(one)
    base = {"algo": algo, "tool": tool, "rule": rule, "code": identity.code}
    return canonical_sha({**base, **identity.strict}), canonical_sha({**base, **identity.coarse})


def first_algorithm(block: Block) -> Identity | None:
    """Version 1: code, symbol, file, masked message and the nearest frames; None where they identify nothing."""
    page, one, lines, title = block
    record = _of_words(page, lines, one) if one.rule is None else _of_rule(lines, title, one, one.rule)
    message = mask("\n".join(record.message)[:_RAW_MESSAGE])[:_MESSAGE].strip()
    symbol = _name(record.symbol)
    if not (symbol or record.code or _says_something(message)):
        return None
    return Identity(
        code=record.code,
        message=_shown(message or symbol, record.frames),
        strict={"symbol": symbol, "file": record.file, "message": message, "frames": record.frames},
        coarse={"message": _coarse(message, record.symbol)},
    )


def _shown(message: str, frames: list[str]) -> str:
    """What a person reads: a bare READ or KASAN says less than where it happened."""
    if message and not message.isupper():
        return message
    return " < ".join(dict.fromkeys(filter(None, (message, *frames))))


Algorithm = Callable[[Block], Identity | None]

ALGOS: dict[int, Algorithm] = {ALGO: first_algorithm}
"""The versions still understood. The highest makes new keys; the others find the rows that were written under them.

One that is listed gives the keys that it always gave: what a new version changes, it brings as functions of its own.
"""


def _coarse(message: str, symbol: str) -> str:
    if len(symbol) > 2:
        message = message.replace(symbol, "<symbol>")
    return mask_coarse(message)


def _name(symbol: str) -> str:
    """A test or a symbol keeps its numbers; only addresses and folders go."""
    head, separator, rest = symbol.partition("::")
    # The title of a test is prose: what it names may hold slashes and is no path.
    if ("/" in head or "\\" in head) and " " not in head:
        head = path(head)
    return str(_VOLATILE.sub("<n>", head + separator + rest))


def _says_something(message: str) -> bool:
    words = _WORDS.findall(_TOKENS.sub(" ", message).lower())
    return any(word not in _empty_words() for word in words)


@cache
def _empty_words() -> frozenset[str]:
    return frozenset(load("classes.toml", Classes).empty_words.split())


def _of_words(page: Page, lines: list[str], one: Candidate) -> _Record:
    """Without a rule the anchor speaks, and where it has no error word its whole block."""
    names, bits = page.names, page.bits
    skip = page.bit("frame", "ruler", "wrapper", "summary")
    telling = names["strong"] | names["lead"] | names["exception"]
    if bits[one.anchor] & telling and not bits[one.anchor] & skip:
        return _Record(None, "", "", [lines[one.anchor - one.start].strip()], [])
    kept = [
        text.strip()
        for offset, text in enumerate(lines[: one.end - one.start + 1])
        if text.strip() and not bits[one.start + offset] & skip
    ]
    return _Record(None, "", "", kept[:_MESSAGE_LINES], [])


def _of_rule(lines: list[str], title: str, one: Candidate, rule: Rule) -> _Record:
    texts = [unprefixed(text, one.prefix) for text in lines]
    anchor = texts[min(one.anchor - one.start, len(texts) - 1)]
    found = rule.anchor.search(anchor)
    groups = _groups(found)
    if title and rule.title is not None:
        groups = _groups(rule.title.search(unprefixed(title, one.prefix))) | groups
    main = headline(texts, rule)
    if main is not None:
        groups |= _groups(main[1])
    default = texts[main[0]] if main is not None else anchor
    if rule.flow:
        texts, main = [_flowing(texts)], None
    code = rule.code or groups.get("code")
    message = [groups.get("msg", default.strip()) if rule.message is None else rule.message]
    message += _identity(texts, rule, None if main is None else main[0])
    file = groups.get("file", "")
    return _Record(
        code=code,
        symbol=" > ".join([groups.get("test") or groups.get("symbol") or "", *_names_below(texts, one, rule)]),
        file=path(file).rpartition("/")[2] if file else "",
        message=message,
        frames=_frames(texts, rule, 0 if main is None else main[0]),
    )


def _flowing(texts: list[str]) -> str:
    """The lines as one: where a text was wrapped says how wide the terminal was."""
    return " ".join(word for text in texts for word in _MARGIN.sub("", text).split())


def _names_below(texts: list[str], one: Candidate, rule: Rule) -> list[str]:
    """The rest of a test's name, where a tool writes it over several lines below the first."""
    result: list[str] = []
    for text in texts[one.anchor - one.start + 1 :]:
        found = None if rule.names is None else rule.names.search(text)
        if found is None:
            break
        result.append(found.group(1).strip())
    return result


def _groups(found: Any) -> dict[str, str]:
    if found is None:
        return {}
    return {name.rstrip("0123456789"): text.strip() for name, text in found.groupdict().items() if text is not None}


def _identity(texts: list[str], rule: Rule, spoken: int | None) -> list[str]:
    """What else identifies; the line that gave the message does not say it twice."""
    result = []
    for index, text in enumerate(texts if rule.identity else ()):
        if index == spoken and rule.message is None:
            continue
        for pattern in rule.identity:
            if stands_in(pattern, text):
                groups = [group for group in pattern.search(text).groups() if group]
                result.append(" ".join(groups) if groups else text.strip())
                break
    return list(dict.fromkeys(result))[:_IDENTITY_LINES]


def _frames(texts: list[str], rule: Rule, spoken: int) -> list[str]:
    """The application's own frames nearest to the failure, recursion collapsed.

    Where frames follow what they explain, those of the cause that is told are meant, not those of what wraps it.
    """
    if rule.frame is None:
        return []
    if rule.nearest == "first":
        return (_own(texts[spoken:], rule) or _own(texts, rule))[:_FRAMES]
    return _own(texts, rule)[-_FRAMES:]


def _own(texts: list[str], rule: Rule) -> list[str]:
    """All frames of the application, in the order of the block."""
    found: list[dict[str, str]] = []
    for text in texts:
        if rule.frame is None or not stands_in(rule.frame, text):
            continue
        if rule.foreign is None or not stands_in(rule.foreign, text):
            found.append(_groups(rule.frame.search(text)))
    folders = {groups["file"].rpartition("/")[0] for groups in found if groups.get("file")}
    frames: list[str] = []
    for groups in found:
        file = _placed(groups["file"], folders) if groups.get("file") else ""
        frame = _VOLATILE.sub("<n>", ":".join(part for part in (file, groups.get("func", "")) if part))
        if frame and frame not in frames:
            frames.append(frame)
    return frames


def _placed(file: str, folders: set[str]) -> str:
    """A source file; of one that lies above the others the folder is left out, which is named by the checkout."""
    folder, _, name = file.rpartition("/")
    if folder and any(other.startswith(f"{folder}/") for other in folders):
        return name
    return source(file)
