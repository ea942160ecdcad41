"""Parsing under a fuzzer that is led by coverage."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
GOLDEN = HERE.parent / "fixtures" / "golden_logs"
SECONDS = 60


@pytest.mark.slow
def test_no_bytes_make_the_parser_raise_or_contradict_itself(tmp_path: Path) -> None:
    """A minute of inputs bred from the golden logs."""
    pytest.importorskip("atheris", reason="there is no fuzzer for this platform")
    corpus = tmp_path / "corpus"
    corpus.mkdir()
    for log in sorted(GOLDEN.glob("*.log")):
        (corpus / log.stem).write_bytes(log.read_bytes())
    limits = ["-seed=7", f"-max_total_time={SECONDS}", "-max_len=8192", "-timeout=20", "-rss_limit_mb=2048"]
    done = subprocess.run(
        [sys.executable, str(HERE / "fuzz_extract.py"), *limits, f"-artifact_prefix={tmp_path}/", str(corpus)],
        capture_output=True,
        text=True,
        check=False,
        timeout=SECONDS * 5,
        cwd=HERE.parents[1],
    )
    found = [path.read_bytes() for path in tmp_path.glob("*-*") if path.is_file()]
    assert done.returncode == 0, f"{done.stderr[-4000:]}\n{found!r}"
    runs = re.search(r"Done (\d+) runs", done.stderr)
    assert runs is not None
    assert int(runs[1]) > 100
