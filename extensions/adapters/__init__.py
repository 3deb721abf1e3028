"""Adapters that make rollouts and functions usable in other libraries."""
