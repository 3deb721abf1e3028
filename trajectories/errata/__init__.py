"""Judgements of single entries: what is wrong with published data, and how it is read instead."""
