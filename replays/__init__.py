"""Replaying recorded runs: what today's workflows would do, held against what was done."""
