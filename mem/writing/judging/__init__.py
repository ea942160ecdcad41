"""The rules of the gate, one a module; `mem.writing.gate` puts them in their order."""
