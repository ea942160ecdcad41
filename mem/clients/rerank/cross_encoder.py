"""A cross-encoder from a file, by onnxruntime."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import onnxruntime
from numpy.typing import NDArray
from tokenizers import Tokenizer

from mem.clients.rerank.texts import DOCUMENT_CHARACTERS, QUERY_CHARACTERS
from mem.domain.canonical import sha256_hex
from mem.domain.errors import ConfigurationError

MAX_TOKENS = 512
"""Of a pair, where the model's own limit is not lower or not known: more costs time, and texts are cut before."""

MOST_THREADS = 8
"""More gain nothing for a pair."""

SILENT = 4
"""What is wrong is told by an error, and that a deadline ended a run is not wrong."""

_NAMES = ("model.onnx", "onnx/model.onnx")
_TYPES = {"tensor(int64)": np.int64, "tensor(int32)": np.int32}
_EXPORT = "Give a folder that Optimum or Hugging Face exported, with model.onnx and tokenizer.json."


class Files(NamedTuple):
    """The parts of a model on disk."""

    model: Path
    tokenizer: Path
    name: str


class CrossEncoder:
    """Gives the logit of a pair of query and document.

    It takes one pair at a time: in a batch the other texts would change a score, since they decide the padding, and
    where activations are quantised also the scale.
    """

    def __init__(
        self, session: onnxruntime.InferenceSession, tokenizers: tuple[Tokenizer, Tokenizer], limit: int, model_id: str
    ) -> None:
        self._session = session
        self._alone, self._pairs = tokenizers
        self._half = limit // 2
        self._model_id = model_id
        self._inputs = {each.name: each.type for each in session.get_inputs()}
        outputs = [each.name for each in session.get_outputs()]
        self._output = "logits" if "logits" in outputs else outputs[0]

    @classmethod
    def load(cls, path: Path) -> CrossEncoder:
        """Load a folder, or a file with its tokenizer beside it, and run a pair of full length.

        Raises:
            ConfigurationError: a file is missing or cannot be read, or the model is no cross-encoder.
        """
        files = find_files(path)
        limit = _limit(files.tokenizer.parent)
        tokenizers = _tokenizers(files.tokenizer, limit)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = min(MOST_THREADS, os.cpu_count() or 1)
        options.inter_op_num_threads = 1
        # Between two lookups the cores are for the embedder, and for the database beside it.
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
        options.log_severity_level = SILENT
        try:
            digest = sha256_hex(files.model.read_bytes())
            session = onnxruntime.InferenceSession(str(files.model), options, providers=["CPUExecutionProvider"])
        except Exception as error:  # noqa: BLE001 - its errors have no base of their own
            raise ConfigurationError(f"{files.model} cannot be loaded ({type(error).__name__}).", _EXPORT) from None
        model_id = f"{files.name}@{digest[:12]}+onnxruntime-{onnxruntime.__version__}"
        made = cls(session, tokenizers, limit, model_id)
        made._try(files.model)
        return made

    @property
    def model_id(self) -> str:
        """Model, file and runtime, since each of them decides the bits of a score."""
        return self._model_id

    def logit(self, query: str, document: str, run: onnxruntime.RunOptions) -> float:
        """The logit of a pair; of two labels, by how much the second, which says yes, is above the first.

        `run.terminate` ends it from another thread, with an error of onnxruntime.
        """
        logits = self._logits(query, document, run)
        return float(logits[0] if logits.size == 1 else logits[1] - logits[0])

    def _try(self, model: Path) -> None:
        try:
            logits = self._logits("? " * QUERY_CHARACTERS, "? " * DOCUMENT_CHARACTERS, quiet())
        except Exception as error:  # noqa: BLE001 - its errors have no base of their own
            raise ConfigurationError(
                f"{model} does not run on a pair of texts ({type(error).__name__}); its inputs are "
                f"{', '.join(self._inputs)}.",
                _EXPORT,
            ) from None
        if logits.size not in (1, 2):
            raise ConfigurationError(
                f"{model} gives {logits.size} numbers for a pair, and a cross-encoder gives one or two.", _EXPORT
            )

    def _logits(self, query: str, document: str, run: onnxruntime.RunOptions) -> NDArray[np.float64]:
        encoding = self._pairs.encode(self._cut(query), document)
        known = {
            "input_ids": encoding.ids,
            "attention_mask": encoding.attention_mask,
            "token_type_ids": encoding.type_ids,
        }
        feed = {name: np.asarray([known[name]], dtype=_TYPES[kind]) for name, kind in self._inputs.items()}
        return np.asarray(self._session.run([self._output], feed, run)[0], dtype=np.float64).reshape(-1)

    def _cut(self, query: str) -> str:
        """The query in at most half of the window, so that with the pair only the document is truncated."""
        found = self._alone.encode(query, add_special_tokens=False)
        return query if len(found.ids) <= self._half else query[: found.offsets[self._half - 1][1]]


def quiet() -> onnxruntime.RunOptions:
    """Options of a run that may be ended before its time, without a line in the log about it."""
    run = onnxruntime.RunOptions()
    run.log_severity_level = SILENT
    return run


def find_files(path: Path) -> Files:
    """The model and its tokenizer at a path.

    Raises:
        ConfigurationError: one of them is missing.
    """
    path = path.expanduser()
    if path.is_file():
        models = [path]
    elif path.is_dir():
        models = [path / name for name in _NAMES if (path / name).is_file()]
    else:
        raise ConfigurationError(f"MEM_RERANK_PATH names {path}, and nothing is there.", _EXPORT)
    if not models:
        raise ConfigurationError(f"{path} holds no model.onnx.", "Let MEM_RERANK_PATH name the .onnx file itself.")
    model = models[0]
    for folder in (model.parent, model.parent.parent):
        if (folder / "tokenizer.json").is_file():
            return Files(model, folder / "tokenizer.json", folder.resolve().name)
    raise ConfigurationError(f"There is no tokenizer.json beside {model}.", _EXPORT)


def _tokenizers(file: Path, limit: int) -> tuple[Tokenizer, Tokenizer]:
    """One for a text alone, and one for pairs, of which the document is truncated to what the model reads."""
    try:
        alone, pairs = (Tokenizer.from_file(str(file)) for _ in range(2))
    except Exception as error:  # noqa: BLE001 - it has no error of its own
        raise ConfigurationError(f"{file} is no tokenizer ({type(error).__name__}).", _EXPORT) from None
    for each in (alone, pairs):
        each.no_padding()
    alone.no_truncation()
    pairs.enable_truncation(max_length=limit, strategy="only_second")
    return alone, pairs


def _limit(folder: Path) -> int:
    """What the model reads at most of a pair, in tokens."""
    found = [
        _setting(folder / "tokenizer_config.json", "model_max_length"),
        _setting(folder / "config.json", "max_position_embeddings"),
    ]
    return min([MAX_TOKENS, *(int(value) for value in found if isinstance(value, int | float) and value >= 8)])


def _setting(file: Path, name: str) -> Any:
    if not file.is_file():
        return None
    try:
        return json.loads(file.read_text(encoding="utf-8")).get(name)
    except (OSError, ValueError, AttributeError) as error:
        raise ConfigurationError(f"{file} cannot be read ({type(error).__name__}).", _EXPORT) from None
