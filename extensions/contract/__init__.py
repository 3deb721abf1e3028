"""Contract of environments: checks of rules that every backend must follow."""
