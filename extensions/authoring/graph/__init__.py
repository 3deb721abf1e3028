"""Which results can feed which arguments, and seeded walks over it."""
