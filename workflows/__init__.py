"""Deterministic orchestration only: no I/O, no clock, no randomness."""
