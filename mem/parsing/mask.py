"""Noise out of a message: what differs between two sightings of one failure."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, lru_cache
from typing import Any

from mem.domain.errors import RuleError
from mem.parsing.clean import LINE_LIMIT, cap
from mem.parsing.decode import without_surrogates
from mem.parsing.rules import Mask, Masks, compile_pattern, load

_PASSES = 6
_REMEMBERED = 2048
"""So many paths are kept masked: the frames of a trace, and of the traces of one log, share most of theirs."""
_WORKSPACES = compile_pattern(
    r"^(?:[A-Za-z]:)?/(?:(?:home|Users)/(?:runner|travis|vsts|vsts_azpcontainer)/(?:work|build)/[^/]+/[^/]+"
    r"|builds/[^/]+/[^/]+|__w/[^/]+/[^/]+|a/[^/]+/[^/]+|_work/[^/]+/[^/]+"
    r"|home/[^/]+|Users/[^/]+|root|var/lib/jenkins/workspace/[^/]+|workspaces/[^/]+|workspace|github/workspace"
    r"|private/var/folders/[^/]+/[^/]+/T|var/folders/[^/]+/[^/]+/T|tmp|var/tmp|usr/src/app|app|code|src|work)/"
)
_MOUNTS = compile_pattern(
    r"^(?:[A-Za-z]:)?/(?:home/[^/]+|Users/[^/]+|root|github/workspace|workspaces?|usr/src/app|app|code|src|work"
    r"|private/var/folders/[^/]+/[^/]+/T|var/folders/[^/]+/[^/]+/T|tmp|var/tmp)/"
)
"""Folders whose name says nothing about the project in them; the others' last part is the project's name."""
_POD = compile_pattern(r"-[a-f0-9]{8,10}-[a-z0-9]{5}\b")
_WORKSPACE_PARTS = 2
_LOCATION = compile_pattern(r"(?::\d{1,6}(?::\d{1,5})?|\(\d{1,6}(?:,\d{1,5})?\))$")
_TEMPORARY = compile_pattern(
    r"^(?:tmp[._-]?\w{4,}|temp[._-]\w{4,}|temp[a-z_]*\d\w*|\d+|pip-[\w-]+-[a-z0-9_]{8}|pytest-(?:of-\w+|\d+))$"
)
_BUILD = compile_pattern(r"^\d{4,}$")
_COUNTED = compile_pattern(r"^[a-z]+(?:-[a-z]+)+\d{6,}$")
_NUMBER = compile_pattern(r"\d[\d.,]*")
_HEX_RUN = compile_pattern(r"\b[0-9a-f]{7,128}\b")


def mask(text: str) -> str:
    """`text` with its noise replaced by tokens; masking twice changes nothing."""
    return _masked(text, coarse=False)


def mask_coarse(text: str) -> str:
    """`text` masked further: versions and quoted names go too."""
    return _masked(text, coarse=True)


def _masked(text: str, *, coarse: bool) -> str:
    """Masked until nothing changes, since a token may complete another pattern."""
    text = without_surrogates(text)
    if len(text) > LINE_LIMIT:
        text = "\n".join(cap(line) for line in text.split("\n"))  # a search may look to the end of its line
    for _ in range(_PASSES):
        before, text = text, _once(text, coarse=coarse)
        if text == before:
            break
    return text


@cache
def _alternation(*, coarse: bool) -> tuple[Any, tuple[Mask, ...]]:
    everything = load("mask.toml", Masks).mask
    masks = tuple(entry for entry in everything if coarse or not entry.coarse_only)
    for entry in masks:
        if entry.pattern.groups:
            raise RuleError(f"mask.toml, rule {entry.name}: it captures.", "Use (?:…).")
        if entry.token and entry.token.startswith("$") and entry.token[1:] not in _FUNCTIONS:
            raise RuleError(f"mask.toml, rule {entry.name}: no {entry.token}.", "Name another.")
    pattern = "|".join(f"({entry.pattern.pattern})" for entry in masks)
    return compile_pattern(pattern), masks


def _once(text: str, *, coarse: bool) -> str:
    pattern, masks = _alternation(coarse=coarse)
    # Matched as bytes: the offsets of characters would have to be counted anew for every match.
    raw = text.encode()
    pieces: list[bytes] = []
    position = 0
    for found in pattern.finditer(raw):
        start, end = found.span()
        if start == end:
            continue
        pieces.append(raw[position:start])
        position = end
        # Asking the match for each group in turn takes ten times as long as all the rest of it.
        number = next(i for i, span in enumerate(found._spans) if i and span[0] >= 0) - 1  # noqa: SLF001
        pieces.append(_replacement(masks[number], raw[start:end].decode(), coarse=coarse).encode())
    pieces.append(raw[position:])
    return b"".join(pieces).decode()


def _replacement(entry: Mask, text: str, *, coarse: bool) -> str:
    if entry.token is None or (entry.coarse and not coarse):
        return text
    if entry.token.startswith("$"):
        return _FUNCTIONS[entry.token[1:]](text)
    return entry.token


@lru_cache(_REMEMBERED)
def path(text: str) -> str:
    """The last two parts of a path under its workspace, without line and column."""
    plain = text.replace("\\\\", "/").replace("\\", "/")
    plain = _LOCATION.sub("", plain)
    return _ending(plain, _WORKSPACES)


@lru_cache(_REMEMBERED)
def source(text: str) -> str:
    """The last two parts of a source file's path, whatever folder its project was checked out in.

    The checkout's own name stays: most systems give it the project's, and one that is known to be any project's goes.
    """
    return _ending(text.replace("\\\\", "/").replace("\\", "/"), _MOUNTS)


def _ending(plain: str, roots: Any) -> str:
    found = roots.match(plain)
    if found:
        plain = plain[found.end() :]
    parts = [part for part in plain.split("/") if part not in ("", ".", "..", "~")]
    kept = [_part(part) for part in parts[-_WORKSPACE_PARTS:]]
    return "/".join(kept) or "/"


@lru_cache(_REMEMBERED)
def _part(part: str) -> str:
    if _TEMPORARY.match(part):
        return "<n>"
    if _COUNTED.match(part):
        return part.rstrip("0123456789") + "<n>"
    part = _POD.sub(lambda found: _pod(found.group()), part)
    return str(_HEX_RUN.sub(lambda found: _hex(found.group()), part))


def _hex(text: str) -> str:
    """A run of hex digits; a word of the letters a to f alone is a word."""
    return "<n>" if any(char.isdigit() for char in text) else text


def _url(text: str) -> str:
    """The scheme and the shape of the path: host, query and numbers are noise."""
    trail = text[len(text.rstrip(".:;!?")) :]
    scheme, _, rest = text[: len(text) - len(trail)].partition("://")
    _, _, where = rest.partition("/")
    where = where.partition("?")[0].partition("#")[0]
    parts = [part for part in where.split("/") if part]
    kept = "/".join(_part(part) for part in parts[-_WORKSPACE_PARTS:])
    return f"{scheme.lower()}:<host>/{kept}{trail}" if kept else f"{scheme.lower()}:<host>{trail}"


def _ip(text: str) -> str:
    """An address; the arrow of a connection before it is no comparison with a version."""
    return "-><host>" if text.startswith("->") else "<host>"


def _ip6(text: str) -> str:
    """An address of version 6; two short names joined by `::` are none."""
    return "<host>" if any(char.isdigit() for char in text) else text


def _package(text: str) -> str:
    """A package with its major version."""
    name, _, version = text.rpartition("@")
    major = version.lstrip("^~v><=").partition(".")[0]
    return f"{name}@{major}"


def _object(text: str) -> str:
    """An object's class without its number."""
    return text.partition("@")[0] + "@<n>"


def _pod(text: str) -> str:
    """The random end of a pod's name; a plain word is part of the name."""
    name = text.removesuffix("_")
    owner, tail = name[1:-6], name[-5:]
    mixed = any(char.isdigit() for char in tail) and any(char.isalpha() for char in tail)
    made_up = any(char.isdigit() for char in owner) if owner else mixed and tail != "ppc64"
    return "-<n>" + text[len(name) :] if made_up else text


def _short_pod(text: str) -> str:
    """A name with a random end of four, as older orchestrators make them."""
    name, _, tail = text.rpartition("-")
    mixed = any(char.isdigit() for char in tail) and any(char.isalpha() for char in tail)
    return f"{name}-<n>" if mixed else text


def _amount(text: str) -> str:
    """How much there was of something is noise, even after a word that a code may follow."""
    return str(_NUMBER.sub("<n>", text, count=1))


def _asked(text: str) -> str:
    """A code, without the host that it was about."""
    return f"{text.rpartition(' ')[0]} <host>"


def _temporary(text: str) -> str:
    """A temporary name has a digit or is as long as the standard ones; `template` is a word."""
    return "<n>" if any(char.isdigit() or char == "_" for char in text) else text


def _image(text: str) -> str:
    """An image with its tag; of a tag the hashes and the numbers of builds are noise."""
    name, tag = _untagged(text)
    return f"{name}:{'<n>' if _BUILD.match(tag) else _HEX_RUN.sub(lambda found: _hex(found.group()), tag)}"


def _image_alike(text: str) -> str:
    """An image with its tag, where that is a word."""
    name, tag = _untagged(text)
    return f"{name}:{'<v>' if any(char.isdigit() for char in tag) else tag}"


def _registry_image(text: str) -> str:
    """An image known by its registry; the word keeps its tag from being taken for a line."""
    return f"image {_image(text)}"


def _registry_image_alike(text: str) -> str:
    """The same with its tag, where that is a word."""
    return f"image {_image_alike(text)}"


def _untagged(text: str) -> tuple[str, str]:
    name, _, tag = text.rpartition(":")
    start = max(name.rfind(mark) for mark in " '\"") + 1
    return name[:start] + (path(name[start:]) if "/" in name else name[start:]), tag


_FUNCTIONS: dict[str, Callable[[str], str]] = {
    "path": path,
    "url": _url,
    "ip": _ip,
    "ip6": _ip6,
    "object": _object,
    "package": _package,
    "pod": _pod,
    "hex": _hex,
    "short_pod": _short_pod,
    "amount": _amount,
    "asked": _asked,
    "temporary": _temporary,
    "image": _image,
    "image_alike": _image_alike,
    "registry_image": _registry_image,
    "registry_image_alike": _registry_image_alike,
}
