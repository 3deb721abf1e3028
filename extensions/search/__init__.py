"""Tree search: a model undoes its steps and tries other ones."""
