"""Errata: judgements of single published entries, and their corrections."""

from pathlib import Path

BFCL = Path(__file__).with_name("bfcl.jsonl")
