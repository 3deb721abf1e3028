"""Injected faults and changes of functions, both determined by a seed."""
