"""From a raw log to failure signatures."""
