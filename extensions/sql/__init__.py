"""SQL entries: a database in memory, statements executed and compared."""
