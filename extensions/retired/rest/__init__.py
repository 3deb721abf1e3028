"""Web services for entries: a local fixture, and others if allowed."""
