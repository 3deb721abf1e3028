"""What this extension registers."""

from __future__ import annotations

from runner.extension import Extension


class SqlExtension(Extension):
    """Executes and compares SQL statements."""

    name = "sql"


EXTENSION = SqlExtension()
