"""The journal and its projections in Postgres with pgvector."""
