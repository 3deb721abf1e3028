"""Verification of recorded runs: executes each run again and compares verdicts and results."""
