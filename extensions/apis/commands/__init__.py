"""Commands of imported APIs."""
