"""Features that a user could do without, a folder each; `registry.py` lists them."""
