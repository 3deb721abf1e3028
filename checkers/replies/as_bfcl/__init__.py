"""Readers that accept and refuse the same replies as BFCL."""
