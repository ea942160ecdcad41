"""Any OpenAI-compatible endpoint, through the `openai` package: a controller and an embedder."""

from mem.clients.openai.connection import Endpoint
from mem.clients.openai.controller import OpenAiController
from mem.clients.openai.embedder import OpenAiEmbedder

__all__ = ["Endpoint", "OpenAiController", "OpenAiEmbedder"]
