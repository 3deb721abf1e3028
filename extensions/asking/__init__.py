"""Pairs of single requests: one request lacks a required value, the other states the value."""
