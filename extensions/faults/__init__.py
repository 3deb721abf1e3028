"""Injected faults and changes of functions, which a seed determines."""
