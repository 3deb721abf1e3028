"""Features that a user could do without: a folder each, found by ``runner.extension``."""

NAMES = (
    "align",
    "verify",
    "formats",
    "compression",
    "retrieval",
    "experiments",
    "search",
    "contract",
    "library",
    "sql",
    "worlds",
    "retired",
    "judges",
    "debugger",
    "viewer",
    "loggers",
    "authoring",
    "generation",
    "drafting",
    "serving",
    "ray",
    "adapters",
    "traces",
    "checks",
)
"""Our own extensions, in the order in which the help lists their commands."""
