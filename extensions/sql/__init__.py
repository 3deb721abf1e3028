"""SQL entries: a database in memory executes statements, and their results are compared."""
