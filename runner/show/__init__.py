"""Terminal output: escaping, tables and progress."""
