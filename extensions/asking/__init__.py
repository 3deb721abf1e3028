"""Asking: single requests that lack a required value, beside the same requests with the value."""
