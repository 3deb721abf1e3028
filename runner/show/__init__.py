"""How things look on a terminal: what is safe to print, tables, progress."""
