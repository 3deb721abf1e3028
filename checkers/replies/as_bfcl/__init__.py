"""Readers that agree with BFCL, in what they refuse and what they let pass."""
