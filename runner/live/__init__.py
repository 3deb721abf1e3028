"""Runs with a live model: from settings to the last episode."""
