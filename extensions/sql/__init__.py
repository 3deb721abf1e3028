"""SQL entries: statements are executed on a database in memory and compared."""
