"""Adapters to models, tokenizers and Temporal."""
