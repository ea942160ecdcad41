"""Temporal: connection, calls, search attributes, and whether a worker listens."""
