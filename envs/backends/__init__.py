"""Backends of BFCL's multi-turn categories, one module each."""
