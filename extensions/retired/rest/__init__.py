"""Web services for entries: a local fixture, and other services if allowed."""
