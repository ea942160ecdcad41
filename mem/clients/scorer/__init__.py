"""The embedded reranker: a calibrated linear scorer over a handful of features. It is no cross-encoder."""

from mem.clients.scorer.scorer import EmbeddedScorer

__all__ = ["EmbeddedScorer"]
