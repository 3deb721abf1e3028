"""Calling formats: they define how models see functions and write calls."""
