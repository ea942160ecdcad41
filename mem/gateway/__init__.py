"""The HTTP door: routes only."""
