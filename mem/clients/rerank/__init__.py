"""Cross-encoders as rerankers: behind an address, or from a file."""

from mem.clients.rerank.calibration import Calibration, read_calibration
from mem.clients.rerank.cross_encoder import CrossEncoder
from mem.clients.rerank.local import LocalReranker
from mem.clients.rerank.served import Endpoint, ServedReranker

__all__ = ["Calibration", "CrossEncoder", "Endpoint", "LocalReranker", "ServedReranker", "read_calibration"]
