"""The eight backends of BFCL's multi-turn categories, one module each, with the facts they know."""
