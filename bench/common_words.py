"""Counts in how many texts of failures a word stands: `python bench/common_words.py > mem/clients/scorer/common.toml`.

The texts are the golden logs, the lexicon's entries, and evidence and errors of the development incidents. A word that
stands in few of them is left out: every such word weighs the same, whether a development text holds it or none.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from bench.abstention_data import DEVELOPMENT, golden_logs, load
from mem.clients.scorer.words import said
from mem.writing.lexicon import lexicon

LEAST = 8
NUMBER = 3.0
LINE = 118


def texts() -> list[str]:
    """All of them."""
    material = load(DEVELOPMENT)
    found = [text for _, _, text in golden_logs()]
    found += ["\n".join(entry.shows) for entry in lexicon().entries]
    found += [each.text for memory in material.memories for each in memory.evidence]
    return found + [each.text for each in material.unrelated] + [e for m in material.memories for e in m.errors]


def main() -> None:
    """Print the table."""
    all_texts = texts()
    times = Counter(word for text in all_texts for word in said(text).words if not word[0].isdigit())
    by_times: dict[int, list[str]] = defaultdict(list)
    for word, count in times.items():
        if count >= LEAST:
            by_times[count].append(word)
    print("# In how many of `texts` texts of failures a word stands; made by bench/common_words.py.")
    print("# A word in fewer than `least` of them weighs as one that is in as many; every number weighs `number`.")
    print(f"\ntexts = {len(all_texts)}\nleast = {LEAST}\nnumber = {NUMBER}\n\n[words]")
    for count in sorted(by_times, reverse=True):
        print(f'{count} = """{_wrapped(sorted(by_times[count]))}"""')


def _wrapped(words: list[str]) -> str:
    lines, line = [], ""
    for word in words:
        if len(line) + len(word) >= LINE:
            lines.append(line)
            line = ""
        line = f"{line} {word}".strip()
    return "\n".join([*lines, line])


if __name__ == "__main__":
    main()
