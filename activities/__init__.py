"""One file per step. Activities are methods of classes that get their ports in the constructor."""
