"""Errata: reviewers' judgements on published entries, and corrections of the entries."""

from pathlib import Path

BFCL = Path(__file__).with_name("bfcl.jsonl")
