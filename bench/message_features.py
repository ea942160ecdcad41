"""What the weights of messages are fitted on: the features of the candidates of each message.

`python bench/message_features.py [SET…]` measures them as recall does in its default mode, and writes them to
tests/fixtures/messages/features, two files for each set: of the user's memories alone, and `-among-others`, where the
memories of others can be read besides: those of the other users of `fit` for `fit`, the lessons of
tests/fixtures/incidents for `held`. A line is one candidate: the message, its user and kind, whether the candidate
helps, how many it stands for, its features, and how it fits the failure in the message where no vectors can be made.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import tomllib
from collections.abc import Iterator, Sequence
from functools import cache
from gzip import GzipFile
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.abstention_store import Remembering
from bench.message_data import FOLDER, Asked, Memory, User, asked, users
from mem.cli.common import run
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.helping import Helping, helping, turn
from mem.domain.accepting import MadeProjection
from mem.domain.canonical import sha256_hex
from mem.ports import Candidate

FEATURES = FOLDER / "features"
INCIDENTS = FOLDER.parent / "incidents"
DIGITS = 3
FAR = 0.25
THINNED = 10


class Row(NamedTuple):
    """A candidate of a message."""

    message: str
    user: str
    kind: str
    helps: bool
    stands_for: int
    features: Helping
    fits_by_words: float

    @property
    def by_words(self) -> Helping:
        """The same where no vectors can be made."""
        return self.features._replace(text=0.0, near=0.0, fits=self.fits_by_words)


async def measure(name: str, *, among_others: bool) -> list[Row]:
    """The candidates of each message of a set."""
    embedder, scorer = Remembering(MiniLmEmbedder.load()), EmbeddedScorer.load()
    known: dict[Memory, MadeProjection] = {}
    found: list[Row] = []
    for user in users(FOLDER / name):
        others = others_of(name, user) if among_others else []
        for number, one in enumerate(await asked(user, embedder, others=others, known=known)):
            found += await _measured(f"{user.name}-{number}", one, scorer)
    return list(_thinned(found)) if among_others else found


async def _measured(id_: str, one: Asked, scorer: EmbeddedScorer) -> list[Row]:
    near = [each._replace(symptom_similarity=None) for each in one.candidates]
    worded = [each._replace(text_similarity=None) for each in near]
    fits, fits_by_words = await _fits(scorer, one, near), await _fits(scorer, one, worded)
    parts = turn(one.message.text)
    return [
        Row(id_, one.user, one.message.kind, helps, 1, _rounded(helping(parts, each, fit)), round(by_words, DIGITS))
        for each, helps, fit, by_words in zip(near, one.helps, fits, fits_by_words, strict=True)
    ]


async def _fits(scorer: EmbeddedScorer, one: Asked, candidates: Sequence[Candidate]) -> list[float]:
    if one.query.failure is None:
        return [0.0] * len(candidates)
    return await scorer.rerank(one.query._replace(message=None), candidates)


def write(rows: Sequence[Row], path: Path) -> None:
    """One line a row; the same rows give the same bytes."""
    with path.open("wb") as raw, GzipFile("", "wb", 9, raw, mtime=0) as bytes_, TextIOWrapper(bytes_, "utf-8") as file:
        lines = csv.writer(file, lineterminator="\n")
        lines.writerow(["message", "user", "kind", "helps", "stands_for", *Helping._fields, "fits_by_words"])
        for row in rows:
            values = [f"{value:g}" if value else "" for value in (*row.features, row.fits_by_words)]
            lines.writerow([row.message, row.user, row.kind, int(row.helps), row.stands_for, *values])


def read(path: Path) -> list[Row]:
    """The rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [
            Row(
                line["message"],
                line["user"],
                line["kind"],
                line["helps"] == "1",
                int(line["stands_for"]),
                Helping(*(float(line[name] or 0) for name in Helping._fields)),
                float(line["fits_by_words"] or 0),
            )
            for line in csv.DictReader(file)
        ]


def others_of(name: str, user: User) -> list[Memory]:
    """What a user may read of others: of projects alone, and about a hundred memories."""
    if name == "held":
        return _incidents()
    found = [each for one in users(FOLDER / name) if one.name != user.name for each in one.memories]
    return [each._replace(id=f"other-{place}") for place, each in enumerate(found) if each.scope == "global"][::2]


@cache
def _incidents() -> list[Memory]:
    data = [tomllib.loads(path.read_text(encoding="utf-8")) for path in sorted(INCIDENTS.glob("*.toml"))]
    lessons = [one["memory"] for each in data for one in each.get("incident", [])]
    return [Memory(f"other-{place}", "global", "", text) for place, text in enumerate(lessons)]


def _thinned(rows: Sequence[Row]) -> Iterator[Row]:
    """What is far from the message: one in so many stands for the others."""
    for row in rows:
        if row.helps or not row.features.foreign or row.features.text + row.features.words >= FAR:
            yield row
        elif int(sha256_hex(f"{row.message} {row.features}"), 16) % THINNED == 0:
            yield row._replace(stands_for=THINNED)


def _rounded(features: Helping) -> Helping:
    return Helping(*(round(value, DIGITS) for value in features))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=["fit", "held"])
    FEATURES.mkdir(exist_ok=True)
    for name in parser.parse_args().sets:
        for among_others in (False, True):
            path = FEATURES / (f"{name}-among-others.csv.gz" if among_others else f"{name}.csv.gz")
            rows = run(measure(name, among_others=among_others))
            write(rows, path)
            print(f"{path.name}: {len({row.message for row in rows})} messages, {len(rows)} candidates", flush=True)


if __name__ == "__main__":
    main()
