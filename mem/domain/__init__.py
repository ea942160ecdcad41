"""The vocabulary: nodes, signatures, requests, answers and errors. Knows no Temporal, Postgres or HTTP."""
