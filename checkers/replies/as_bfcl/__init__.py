"""Parsers of replies; they accept a reply exactly if BFCL accepts the reply."""
