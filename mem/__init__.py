"""A failure memory on Temporal."""
