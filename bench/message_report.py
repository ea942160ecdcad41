"""What the weights, floors and strength of messages are worth, on messages for which nothing was chosen: Markdown."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from importlib.resources import files

import numpy as np

from bench.fit_message import Scored, Way, measured, scored
from bench.fit_scorer import Array
from bench.reliability import bins, calibration_error
from mem.clients.scorer.helping import Helping
from mem.recall.floors import floors
from mem.recall.strength import evidence_strength


def report() -> str:
    """All of it, with vectors and by words alone, among the user's memories alone and among those of others."""
    parts = []
    for name in ("held", "held-among-others"):
        for way, floor in floors_of_ways().items():
            found = as_bundled(name, way)
            parts += [
                f"## {name}, {way}",
                "",
                answers(found, floor),
                "",
                "candidates",
                "",
                reliability(*pairs(found)),
                "",
            ]
            parts += ["strength of evidence", "", reliability(*strengths(found, floor)), ""]
            parts += ["at other floors", "", *(f"- {summary(found, other / 20)}" for other in range(3, 15)), ""]
        parts += [f"## {name}, compared, each where 5 % are wrong", "", compared(name), ""]
    return "\n".join(parts)


def floors_of_ways() -> dict[Way, float]:
    """The floor of each way of asking."""
    return {"message": floors().message, "message_by_words": floors().message_words}


def as_bundled(name: str, way: Way) -> list[Scored]:
    """The messages of a set by the weights as they are bundled."""
    data = tomllib.loads(files("mem.clients.scorer").joinpath("message.toml").read_text(encoding="utf-8"))[way]
    weights = np.asarray([data.get(feature, 0.0) for feature in ("bias", *Helping._fields)])
    return scored(measured(name, way), weights)


def answers(found: Sequence[Scored], floor: float) -> str:
    """What is told at a floor, by kind."""
    lines = [summary(found, floor)]
    for kind in sorted({one.kind for one in found}):
        of_kind = [one for one in found if one.kind == kind]
        told = np.mean([one.scores.max() >= floor for one in of_kind])
        helped = [(one.helps & (one.scores >= floor)).any() for one in of_kind if one.related]
        also = f", a helping memory {np.mean(helped):.1%}" if helped else ""
        lines.append(f"- {kind}: {len(of_kind)}, given context {told:.1%}{also}")
    return "\n".join(lines)


def summary(found: Sequence[Scored], floor: float) -> str:
    """One line: how many are helped, and how many are given context for nothing."""
    related, nothing = [one for one in found if one.related], [one for one in found if not one.related]
    over = [(one.helps & (one.scores >= floor)) for one in related]
    recall = np.mean([each.sum() / one.helps.sum() for each, one in zip(over, related, strict=True)])
    helped = np.mean([each.any() for each in over])
    told = sum(int((one.scores >= floor).sum()) for one in found)
    right = sum(int(each.sum()) for each in over) / max(told, 1)
    wrong = np.mean([one.scores.max() >= floor for one in nothing])
    return (
        f"floor {floor:.2f}: of {len(related)} helped {helped:.1%}, memories found {recall:.1%}, memories told that"
        f" help {right:.1%}; of {len(nothing)} with nothing relevant given context {wrong:.1%}"
    )


def pairs(found: Sequence[Scored]) -> tuple[Array, Array]:
    """The probability of every candidate, and whether it helps."""
    times = np.concatenate([one.stand_for for one in found])
    scores, helps = np.concatenate([one.scores for one in found]), np.concatenate([one.helps for one in found])
    return np.repeat(scores, times), np.repeat(helps.astype(float), times)


def strengths(found: Sequence[Scored], floor: float) -> tuple[Array, Array]:
    """The strength of every message that is given context, and whether one of its memories helps."""
    told = [one for one in found if one.scores.max() >= floor]
    over = [one.scores >= floor for one in told]
    return (
        np.asarray([evidence_strength(list(one.scores[kept])) for one, kept in zip(told, over, strict=True)]),
        np.asarray([float(one.helps[kept].any()) for one, kept in zip(told, over, strict=True)]),
    )


def reliability(scores: Array, truth: Array) -> str:
    """The table, ECE and Brier."""
    found = bins(scores, truth)
    lines = ["| probability | cases | predicted | observed |", "|---|---|---|---|"]
    lines += [f"| {b.low:.2f} to {b.high:.2f} | {b.count} | {b.predicted:.3f} | {b.observed:.3f} |" for b in found]
    brier, base = float(((scores - truth) ** 2).mean()), float(truth.mean())
    worth = f"ECE {calibration_error(found):.4f}, Brier {brier:.4f} (the base rate alone: {base * (1 - base):.4f})"
    return "\n".join([*lines, "", worth])


def compared(name: str) -> str:
    """The cosine alone, and words alone, in place of all features."""
    ways = {"all features": as_bundled(name, "message"), "all but vectors": as_bundled(name, "message_by_words")}
    for feature in ("text", "words"):
        place = Helping._fields.index(feature)
        ways[f"`{feature}`"] = [
            Scored(one.kind, one.among_others, one.features[:, place], one.helps, one.stand_for)
            for one in measured(name, "message")
        ]
    lines = []
    for of, found in ways.items():
        best = sorted((one.scores.max() for one in found if not one.related), reverse=True)
        lines.append(f"- {of}: {summary(found, float(best[len(best) // 20]) + 1e-9)}")
    return "\n".join(lines)
