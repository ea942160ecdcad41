"""Temporal: connection, message format, and whether a worker listens."""
