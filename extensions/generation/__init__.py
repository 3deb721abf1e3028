"""Generation of entries, written by a model and checked by filters, a solver and judge models."""
