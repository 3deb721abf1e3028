"""Data authoring: making entries, rules that validate them, statistics, audit."""
