"""Web services for entries: a local fixture and, if allowed, other services."""
