"""What the prompt for symptoms is worth: render it, pack what a model answered, and score retrieval with that.

    python bench/prompts.py render OUT                        one text file for each development incident
    python bench/prompts.py fixtures ANSWERS OUT --model M    answers (ID.txt or ID.json) as labelled fixtures
    python bench/prompts.py score [FIXTURES]                  retrieval with them, beside the embedded default

A model that answers gets the rendered text and nothing else. A fixture is labelled with the sha256 of the prompt file
and that of the memory text, so an answer never serves a prompt that it was not given to.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from mem.clients.minilm import MiniLmEmbedder
from mem.domain.canonical import sha256_hex
from mem.domain.errors import ControllerRefused
from mem.parsing.model_answers import within_budget
from mem.parsing.prompts import Template, load_prompt
from mem.ports import EvidenceText, Projector, Prompt
from mem.writing import model_projector
from mem.writing.known_names import is_known
from mem.writing.model_projector import ModelProjector
from mem.writing.projector import ExtractiveProjector

ROOT = Path(__file__).resolve().parent.parent
INCIDENTS = ROOT / "tests" / "fixtures" / "incidents"
FIXTURES = ROOT / "tests" / "fixtures" / "answers" / "symptom.json"


class Incident(NamedTuple):
    """A memory with its evidence; `error` is the failure as it strikes next, None for a memory that explains none."""

    id: str
    memory: str
    evidence: tuple[str, ...]
    error: str | None
    shows: bool

    @property
    def memory_sha(self) -> str:
        """The sha256 of the memory text."""
        return sha256_hex(self.memory)


class Recorded:
    """A controller that repeats recorded answers."""

    def __init__(self, model: str, answers: dict[str, str]) -> None:
        self.model_id = model
        self._answers = answers

    async def answer(self, prompt: Prompt) -> str:
        """What was answered to this prompt."""
        return self._answers[sha256_hex(prompt.user)]


def read_incidents(folder: Path) -> list[Incident]:
    """All entries of all TOML files that have an id and a memory, in their order."""
    return [
        Incident(
            id=entry["id"],
            memory=entry["memory"].strip(),
            evidence=tuple(record["text"].strip("\n") for record in entry.get("evidence", [])),
            error=entry.get("error"),
            shows=entry.get("shows", False),
        )
        for path in sorted(folder.glob("*.toml"))
        for entry in _entries(tomllib.loads(path.read_text(encoding="utf-8")))
    ]


def _entries(document: dict[str, object]) -> Iterator[dict]:
    for value in document.values():
        for entry in value if isinstance(value, list) else []:
            if isinstance(entry, dict) and "id" in entry and "memory" in entry:
                yield entry


def template() -> Template:
    """The prompt for symptoms."""
    module = model_projector
    return load_prompt(ROOT / "prompts", module.PROMPT, placeholders=module.PLACEHOLDERS, limits=module.LIMITS)


def rendered(prompt: Template, incident: Incident) -> Prompt:
    """The prompt as the projector asks it."""
    excerpts = within_budget(incident.evidence, prompt.limit("evidence_bytes"))
    return prompt.render(memory=incident.memory, evidence=excerpts)


def render(out: Path, incidents: Sequence[Incident]) -> None:
    """Write one text file for each incident."""
    out.mkdir(parents=True, exist_ok=True)
    prompt = template()
    for incident in incidents:
        asked = rendered(prompt, incident)
        (out / f"{incident.id}.txt").write_text(f"{asked.system}\n\n{asked.user}\n", encoding="utf-8")
    print(f"{len(incidents)} prompts in {out}, prompt sha {prompt.sha}")


def pack(answers: Path, out: Path, model: str, incidents: Sequence[Incident]) -> None:
    """Write the answers as labelled fixtures."""
    prompt = template()
    packed, missing = [], []
    for incident in incidents:
        found = [path for kind in ("txt", "json") if (path := answers / f"{incident.id}.{kind}").is_file()]
        if not found:
            missing.append(incident.id)
            continue
        label = {"id": incident.id, "prompt_sha": prompt.sha, "memory_sha": incident.memory_sha, "model": model}
        packed.append(label | {"answer": found[0].read_text(encoding="utf-8").strip()})
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(packed, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{len(packed)} answers in {out}; without one: {', '.join(missing) or 'none'}")


async def score(labelled: Sequence[dict[str, str]], incidents: Sequence[Incident]) -> None:
    """Print retrieval with the fixtures' projections beside that with the embedded default's."""
    prompt = template()
    answers = {(each["prompt_sha"], each["memory_sha"]): each["answer"] for each in labelled}
    told = [each for each in incidents if (prompt.sha, each.memory_sha) in answers]
    print(f"{len(told)} of {len(incidents)} memories have an answer to prompt {prompt.sha[:12]}")
    if not told:
        return
    by_user = {sha256_hex(rendered(prompt, each).user): answers[prompt.sha, each.memory_sha] for each in told}
    model = ModelProjector(Recorded(labelled[0]["model"], by_user), prompt, is_known)
    _tell_dropped(model, told, answers, prompt.sha)
    embedder = MiniLmEmbedder.load()
    errors = [each for each in told if each.error is not None]
    asked = dict(
        zip([each.id for each in errors], await embedder.embed([each.error or "" for each in errors]), strict=True)
    )
    texts = dict(zip([each.id for each in told], await embedder.embed([each.memory for each in told]), strict=True))
    text_ranks = _ranks(asked, texts)
    print(f"{'':24} {'R@1 shown':>10} {'R@1 unshown':>12} {'MRR':>6} {'>= text':>8} {'empty where no failure':>23}")
    _tell("text leg", told, text_ranks, text_ranks, None)
    for name, projector in (("embedded default", ExtractiveProjector()), (model.key().model_id, model)):
        made = {each.id: await _project(projector, each) for each in told}
        written = {key: text for key, text in made.items() if text}
        vectors = dict(zip(written, await embedder.embed(list(written.values())), strict=True))
        _tell(name, told, _ranks(asked, vectors), text_ranks, made)


async def _project(projector: Projector, incident: Incident) -> str:
    evidence = [EvidenceText(str(number), text) for number, text in enumerate(incident.evidence)]
    try:
        return (await projector.project(incident.memory, evidence)).text
    except ControllerRefused:
        return (await ExtractiveProjector().project(incident.memory, evidence)).text


def _ranks(asked: dict[str, list[float]], vectors: dict[str, list[float]]) -> dict[str, int | None]:
    """For each error the rank of its memory, ties in its disfavour; None where that has no vector."""
    ranks: dict[str, int | None] = {}
    for name, query in asked.items():
        near = {other: sum(a * b for a, b in zip(query, vector, strict=True)) for other, vector in vectors.items()}
        own = near.get(name)
        ranks[name] = None if own is None else sum(value >= own for value in near.values())
    return ranks


def _tell(
    name: str,
    told: Sequence[Incident],
    ranks: dict[str, int | None],
    text_ranks: dict[str, int | None],
    made: dict[str, str] | None,
) -> None:
    shown = [ranks[each.id] == 1 for each in told if each.error is not None and each.shows]
    unshown = [ranks[each.id] == 1 for each in told if each.error is not None and not each.shows]
    mrr = statistics.fmean(1 / rank if rank else 0.0 for rank in ranks.values()) if ranks else 0.0
    # A memory without a symptom vector is found by its text as before, so it is not ranked below that.
    above = [rank is None or rank <= (text_ranks[key] or 0) for key, rank in ranks.items()]
    calm = [not made[each.id] for each in told if each.error is None] if made else []
    shares = [_share(each) for each in (shown, unshown)]
    print(f"{name:24} {shares[0]:>10} {shares[1]:>12} {mrr:6.3f} {_share(above):>8} {_share(calm):>23}")


def _share(hits: Sequence[bool]) -> str:
    return f"{sum(hits)}/{len(hits)} {sum(hits) / len(hits):.2f}" if hits else "-"


def _tell_dropped(
    model: ModelProjector, told: Sequence[Incident], answers: dict[tuple[str, str], str], prompt_sha: str
) -> None:
    """Which lines the checks took out; examples help to tell a good rule from a bad one."""
    faults: Counter[str] = Counter()
    examples: dict[str, list[str]] = {}
    refused, kept = [], 0
    for each in told:
        try:
            checked = model.checked(answers[prompt_sha, each.memory_sha], each.memory, each.evidence)
        except ControllerRefused:
            refused.append(each.id)
            continue
        kept += len(checked.kept)
        for line, fault in checked.dropped:
            faults[fault] += 1
            examples.setdefault(fault, []).append(f"{each.id}: {line}")
    print(f"lines kept: {kept}; dropped: {dict(sorted(faults.items()))}; unreadable: {', '.join(refused) or 'none'}")
    for fault, lines in sorted(examples.items()):
        for line in lines[:: max(1, len(lines) // 8)][:8]:
            print(f"  {fault:9} {line[:150]}")


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--from", dest="folder", type=Path, default=INCIDENTS, help="a folder of incidents as TOML")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("render").add_argument("out", type=Path)
    packing = commands.add_parser("fixtures")
    packing.add_argument("answers", type=Path)
    packing.add_argument("out", type=Path, nargs="?", default=FIXTURES)
    packing.add_argument("--model", required=True)
    commands.add_parser("score").add_argument("fixtures", type=Path, nargs="?", default=FIXTURES)
    given = parser.parse_args()
    incidents = read_incidents(given.folder)
    if given.command == "render":
        render(given.out, incidents)
    elif given.command == "fixtures":
        pack(given.answers, given.out, given.model, incidents)
    else:
        asyncio.run(score(json.loads(given.fixtures.read_text(encoding="utf-8")), incidents))


if __name__ == "__main__":
    main()
