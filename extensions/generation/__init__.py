"""Generation of entries: a model writes them; filters, a solver and judge models check them."""
