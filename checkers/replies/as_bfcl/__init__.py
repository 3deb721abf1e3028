"""Parsers of replies; they accept a reply if and only if BFCL accepts it."""
