"""all-MiniLM-L6-v2 through onnxruntime: 384 dimensions, no network."""

from mem.clients.minilm.embedder import MiniLmEmbedder

__all__ = ["MiniLmEmbedder"]
