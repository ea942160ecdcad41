"""Material of the demonstration: incidents, real logs, reference documents, and how the logs came about."""
