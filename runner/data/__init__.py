"""Data sets: loading by name, download, cache, errata and web services."""
