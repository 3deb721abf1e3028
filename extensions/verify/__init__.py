"""Recorded runs executed again: same verdicts and results?"""
