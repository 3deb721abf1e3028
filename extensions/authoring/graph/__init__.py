"""Function graph: results that can become arguments, and random paths along its edges."""
