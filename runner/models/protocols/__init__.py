"""Ways to show functions to a model and to write calls: a module a family, ``registry`` by name."""
