"""Calling formats: the form in which models see functions and write calls."""
