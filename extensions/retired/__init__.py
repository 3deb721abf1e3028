"""BFCL's retired categories: executed functions and web services."""
