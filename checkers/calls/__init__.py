"""Comparison of single-turn calls with expected calls, without execution."""
