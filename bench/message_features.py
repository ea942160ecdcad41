"""What the weights of messages are fitted on: the features of the candidates of each message.

`python bench/message_features.py [--others] [SET…]` measures them as recall does in its default mode, and writes them
to tests/fixtures/messages/features, a file for each set. A line is one candidate: the message, its user and kind,
whether the candidate helps, its features, and how it fits the failure in the message where no vectors can be made. With
`--others` the lessons of tests/fixtures/incidents can be read besides, as those of other users, and the file ends in
`-others`.
"""

from __future__ import annotations

import argparse
import csv
import gzip
import sys
import tomllib
from collections.abc import Sequence
from gzip import GzipFile
from io import TextIOWrapper
from pathlib import Path
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.message_data import FOLDER, Asked, Memory, asked, users
from mem.cli.common import run
from mem.clients.minilm import MiniLmEmbedder
from mem.clients.scorer import EmbeddedScorer
from mem.clients.scorer.helping import Helping, helping, turn
from mem.ports import Candidate

FEATURES = FOLDER / "features"
INCIDENTS = FOLDER.parent / "incidents"
DIGITS = 3


class Row(NamedTuple):
    """A candidate of a message."""

    message: str
    user: str
    kind: str
    helps: bool
    features: Helping
    fits_by_words: float

    @property
    def by_words(self) -> Helping:
        """The same where no vectors can be made."""
        return self.features._replace(text=0.0, near=0.0, fits=self.fits_by_words)


async def measure(folder: Path, others: Sequence[Memory] = ()) -> list[Row]:
    """The candidates of each message of a set."""
    embedder, scorer = MiniLmEmbedder.load(), EmbeddedScorer.load()
    found: list[Row] = []
    for user in users(folder):
        for number, one in enumerate(await asked(user, embedder, others=others)):
            found += await _measured(f"{user.name}-{number}", one, scorer)
    return found


async def _measured(id_: str, one: Asked, scorer: EmbeddedScorer) -> list[Row]:
    near = [each._replace(symptom_similarity=None) for each in one.candidates]
    worded = [each._replace(text_similarity=None) for each in near]
    fits, fits_by_words = await _fits(scorer, one, near), await _fits(scorer, one, worded)
    parts = turn(one.message.text)
    return [
        Row(id_, one.user, one.message.kind, helps, _rounded(helping(parts, each, fit)), round(by_words, DIGITS))
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
        lines.writerow(["message", "user", "kind", "helps", *Helping._fields, "fits_by_words"])
        for row in rows:
            values = [f"{value:g}" if value else "" for value in (*row.features, row.fits_by_words)]
            lines.writerow([row.message, row.user, row.kind, int(row.helps), *values])


def read(path: Path) -> list[Row]:
    """The rows of a file."""
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        return [
            Row(
                line["message"],
                line["user"],
                line["kind"],
                line["helps"] == "1",
                Helping(*(float(line[name] or 0) for name in Helping._fields)),
                float(line["fits_by_words"] or 0),
            )
            for line in csv.DictReader(file)
        ]


def lessons_of_others() -> list[Memory]:
    """The lessons of the incidents."""
    found = []
    for path in sorted(INCIDENTS.glob("*.toml")):
        for number, one in enumerate(tomllib.loads(path.read_text(encoding="utf-8")).get("incident", [])):
            found.append(Memory(f"{path.stem}-{number}", "global", "", one["memory"]))
    return found


def _rounded(features: Helping) -> Helping:
    return Helping(*(round(value, DIGITS) for value in features))


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", default=["fit", "held"])
    parser.add_argument("--others", action="store_true")
    given = parser.parse_args()
    FEATURES.mkdir(exist_ok=True)
    others = lessons_of_others() if given.others else []
    for name in given.sets:
        path = FEATURES / (f"{name}-others.csv.gz" if others else f"{name}.csv.gz")
        rows = run(measure(FOLDER / name, others))
        write(rows, path)
        print(f"{path}: {len({row.message for row in rows})} messages, {len(rows)} candidates", flush=True)


if __name__ == "__main__":
    main()
