"""Adapters of rollouts and functions to other libraries."""
