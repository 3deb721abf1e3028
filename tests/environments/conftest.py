"""Packages of environments as authors have them: they are installed by tests, not collected."""

collect_ignore = ["calendar", "broken"]
