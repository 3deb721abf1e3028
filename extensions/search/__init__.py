"""Tree search, in which a model undoes steps and tries other steps."""
