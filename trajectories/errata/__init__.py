"""Errata, which judge single published entries and correct them."""

from pathlib import Path

BFCL = Path(__file__).with_name("bfcl.jsonl")
