"""The script that makes a reranker's scores probabilities."""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from mem.clients.rerank import read_calibration
from mem.recall.floors import floors
from mem.settings import Settings
from mem.wiring import open_reranker

BENCH = Path(__file__).parents[2] / "bench"
MODELS = Path(__file__).parents[1] / "fixtures" / "cross_encoder"
WORDS = ["curl upload body limit", "npm peer react pin", "postgres pool deadlock retry", "disk full node memory"]


@pytest.fixture(scope="module")
def bench():
    sys.path.insert(0, str(BENCH))
    yield importlib.import_module("calibrate_reranker")
    sys.path.remove(str(BENCH))


@pytest.fixture
def data(tmp_path) -> Path:
    """Five errors of each kind, whose evidence has the words of the error, and a decision."""
    incidents = "".join(
        f'[[incident]]\nid = "{number}-{turn}"\nmemory = "It was {words.split()[turn % 4]} {turn}."\n'
        f'error = "error: {words} failed {turn}"\n'
        f'[[incident.evidence]]\nsource = "ci"\nturn = 1\ntext = "error: {words} failed {turn}"\n'
        for number, words in enumerate(WORDS)
        for turn in range(5)
    )
    made = tmp_path / "incidents.toml"
    made.write_text(incidents + '[[decision]]\nmemory = "We name queues after teams."\n', encoding="utf-8")
    return made


def test_what_it_writes_is_what_a_worker_reads(bench, data, tmp_path, monkeypatch, capsys):
    """Asked of a real model: the file is for that model and scale, and the figures tell what it does."""
    out, figures = tmp_path / "out.toml", tmp_path / "figures.json"
    monkeypatch.setenv("MEM_RERANK_PATH", str(MODELS))
    monkeypatch.setattr(
        sys, "argv", ["calibrate", str(data), "--out", str(out), "--json", str(figures), "--width", "5"]
    )
    assert bench.main() == 0
    found = json.loads(figures.read_text())
    assert (found["queries"], found["pairs"]) == (20, 120)
    assert found["calibrated"]["brier"] < found["as_it_is"]["brier"]
    calibration = read_calibration(out, model=found["model"], scores=None)
    assert (calibration.scores, calibration.slope, calibration.bias) == ("logit", found["slope"], found["bias"])
    assert found["model"] in capsys.readouterr().out


async def test_a_worker_uses_the_file(bench, tmp_path):
    """The written file fits the reranker that it was made with, and no other."""
    figures = {"model": "bge", "queries": 1, "pairs": 2, "slope": 2.0, "bias": -1, "calibrated": {"brier": 0, "ece": 0}}
    out = tmp_path / "out.toml"
    out.write_text(bench.written(figures, "probability"), encoding="utf-8")
    settings = Settings(rerank_url="http://127.0.0.1:9", rerank_model="bge", rerank_calibration=out)
    async with bench.AsyncExitStack() as opened:
        assert (await open_reranker(settings, opened)).model_id == "bge"


def test_the_line_is_found_again(bench):
    """From labels drawn by a known line the fit comes near it."""
    random = np.random.default_rng(3)
    odds = random.normal(0, 3, 20_000)
    own = (random.random(20_000) < 1 / (1 + np.exp(-(0.7 * odds - 1.5)))).astype(float)
    line = bench.fit(odds, own)
    assert line == pytest.approx((0.7, -1.5), abs=0.06)


def test_pairs_that_a_line_can_part_give_no_certainty(bench):
    """Separable scores have a finite slope."""
    line = bench.fit(np.array([5.0, 4.0, -4.0, -5.0]), np.array([1.0, 1.0, 0.0, 0.0]))
    assert 0 < line.slope < 1
    assert line.of(np.array([5.0]))[0] < 0.9


def test_the_floor_lets_in_what_was_allowed(bench):
    """Of a hundred answers two have an unrelated memory above the floor, and what is related stands over it."""
    odds = [np.array([0.9, floors().lesson * number / 100]) for number in range(100)]
    found = bench.reliability(odds)
    above = sum(each[1] >= found["floor_for_2_percent"] for each in odds)
    assert above == 2
    assert found["related_kept_at_it"] == 1.0
    assert found["answers_with_unrelated_at_it"] == 0.0


def test_reliability_of_a_sure_reranker_that_is_right_and_one_that_is_wrong(bench):
    """Brier score and calibration error are zero for the one, and one for the other."""
    right, wrong = [np.array([1.0, 0.0])] * 10, [np.array([0.0, 1.0])] * 10
    assert [bench.reliability(right)[name] for name in ("brier", "ece", "first")] == [0, 0, 1]
    assert [bench.reliability(wrong)[name] for name in ("brier", "ece", "first")] == [1, 1, 0]


def test_there_has_to_be_something_to_calibrate(bench, monkeypatch, tmp_path, capsys):
    """Without a reranker nothing is written, and a reranker that is not there is told as an error."""
    monkeypatch.setattr(sys, "argv", ["calibrate", "--out", str(tmp_path / "out.toml")])
    with pytest.raises(SystemExit):
        bench.main()
    monkeypatch.setenv("MEM_RERANK_PATH", str(tmp_path / "none"))
    assert bench.main() == 1
    assert "MEM_RERANK_PATH" in capsys.readouterr().err
    assert not (tmp_path / "out.toml").exists()
