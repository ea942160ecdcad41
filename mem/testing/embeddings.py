"""Embeddings of the fakes, each recorded once."""

from __future__ import annotations

import hashlib
import struct
from collections.abc import Sequence

from mem.domain.canonical import sha256_hex
from mem.domain.errors import ModelMismatch
from mem.ports import Embedder
from mem.testing.state import FakeState
from mem.writing import entries


def activate(state: FakeState, embedder: Embedder) -> None:
    """Make the first model that stores a vector the active one.

    Raises:
        ModelMismatch: another one is.
    """
    wanted = (embedder.model_id, embedder.dimensions)
    state.model = state.model or wanted
    if state.model != wanted:
        raise ModelMismatch(f"The embedder is {wanted}, the vectors are of {state.model}.", "Use that one.")


async def remember(state: FakeState, embedder: Embedder, texts: Sequence[str]) -> None:
    """Embed the texts that the model has not embedded before, and journal the new embeddings."""
    new = {sha256_hex(text): text for text in texts if (embedder.model_id, sha256_hex(text)) not in state.embeddings}
    vectors = await embedder.embed(list(new.values())) if new else []
    for text_sha, vector in sorted(zip(new, vectors, strict=True)):
        state.embeddings[embedder.model_id, text_sha] = vector
        digest = hashlib.sha256(struct.pack(f"<{len(vector)}f", *vector)).hexdigest()
        state.append(entries.embedding(embedder.model_id, text_sha, digest, len(vector)))
