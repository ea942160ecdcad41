"""The file that a calibration is read from."""

from __future__ import annotations

import pytest

from mem.clients.rerank import Calibration, read_calibration
from mem.domain.errors import ConfigurationError

GOOD = 'version = 1\nmodel = "bge"\nscores = "logit"\nslope = 1.5\nbias = -2\n'


@pytest.fixture
def file(tmp_path):
    made = tmp_path / "bge.toml"
    made.write_text(GOOD, encoding="utf-8")
    return made


def test_it_is_for_its_model(file):
    """Slope and bias are those of the file, and of the model that it names."""
    assert read_calibration(file, model="bge", scores=None) == Calibration(
        model="bge", scores="logit", slope=1.5, bias=-2.0
    )
    assert read_calibration(file, model="bge", scores="logit").slope == 1.5
    with pytest.raises(ConfigurationError, match="is for bge, and the reranker is other"):
        read_calibration(file, model="other", scores=None)
    with pytest.raises(ConfigurationError, match="MEM_RERANK_SCORES"):
        read_calibration(file, model="bge", scores="probability")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "scores: Field required"),
        ("scores = 'loud'", "scores"),
        ("scores = 'logit'\nslope = 0", "slope"),
        ("scores = 'logit'\nslope = -1.0", "slope"),
        ("scores = 'logit'\nbias = nan", "bias"),
        ("scores = 'logit'\nbias = '1'", "bias"),
        ("scores = 'logit'\nbase = 1", "base"),
        ("scores = 'logit'\nversion = 2", "version"),
        ("scores =", "none"),
        ("\x00", "none"),
    ],
)
def test_a_file_that_is_none(file, content, said):
    """What it lacks is told, with the way to make one."""
    file.write_text(content, encoding="utf-8")
    with pytest.raises(ConfigurationError, match=said) as caught:
        read_calibration(file, model="bge", scores=None)
    assert "bench/calibrate_reranker.py" in caught.value.remedy


def test_a_file_that_is_not_there_or_not_text(file):
    """A path that leads nowhere is told as such."""
    with pytest.raises(ConfigurationError, match="cannot be read"):
        read_calibration(file.with_name("none.toml"), model="bge", scores=None)
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="is none"):
        read_calibration(file, model="bge", scores=None)


def test_without_a_line_a_score_stays_as_it_is():
    """The default changes no probability, and a logit becomes one by the sigmoid; the ends stay within 0 and 1."""
    plain = Calibration(scores="probability").probabilities([0.0, 1e-9, 0.25, 0.5, 1.0, 1.0000001], "x")
    assert plain == pytest.approx([0, 0, 0.25, 0.5, 1, 1], abs=2e-7)
    logits = Calibration(scores="logit").probabilities([-1e9, -1.0, 0.0, 1e9], "x")
    assert logits == pytest.approx([0, 0.2689414, 0.5, 1])
    assert all(0 <= each <= 1 for each in plain + logits)
