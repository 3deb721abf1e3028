"""Judging by models and people: what they are shown, asked and said, beside the verdicts."""
