"""Words of a text for a lexical search: identifiers whole and in parts."""

from __future__ import annotations

import re
from itertools import pairwise

from mem.parsing.clean import cap
from mem.parsing.decode import without_surrogates

_WHOLE_LIMIT = 80
# One class of characters, repeated: the scan is linear.
_RUN = re.compile(r"[^\W_][\w.\-]*", re.UNICODE)
_PIECE = re.compile(r"[^\W_]+", re.UNICODE)
_EDGES = "._-"


def identifiers(text: str) -> list[str]:
    """The words of `text`, lowercased, sorted, each once: whole identifiers and their parts."""
    runs: set[str] = set()
    for line in without_surrogates(text).split("\n"):
        runs.update(_RUN.findall(cap(line)))
    found: set[str] = set()
    for run in runs:
        found.update(_words(run.strip(_EDGES)))
    return sorted(word for word in found if _worth(word))


def _words(run: str) -> set[str]:
    if run.islower() and run.isalnum():
        # Most of prose: no parts, no humps.
        return {run} if len(run) <= _WHOLE_LIMIT else set()
    words = {run.lower()} if len(run) <= _WHOLE_LIMIT else set()
    for dotted in run.split("."):
        if len(dotted) <= _WHOLE_LIMIT:
            words.add(dotted.strip(_EDGES).lower())
        for piece in _PIECE.findall(dotted):
            if len(piece) <= _WHOLE_LIMIT:
                words.add(piece.lower())
                words.update(part.lower() for part in _camel(piece))
    return words


def parts(run: str) -> set[str]:
    """The words that an identifier is made of, lowercased; not the whole of it."""
    return {part.lower() for piece in _PIECE.findall(run) for part in (piece, *_camel(piece))}


def _camel(piece: str) -> list[str]:
    """The humps of `piece`: `HTTPServerError` is http, server, error; a digit ends none."""
    if not any(map(str.isupper, piece[1:])):
        return [piece]
    cuts = [0]
    for index, (left, right) in enumerate(pairwise(piece), start=1):
        following = piece[index + 1 : index + 2]
        if right.isupper() and (left.islower() or (left.isupper() and following.islower())):
            cuts.append(index)
    cuts.append(len(piece))
    return [piece[start:end] for start, end in pairwise(cuts)]


def _worth(word: str) -> bool:
    return len(word) > 1 and not (word.isdigit() and len(word) > 5)
