"""Splits: training and held-out entries."""
