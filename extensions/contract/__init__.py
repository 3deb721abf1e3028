"""Contract of environments, that is, checks of rules that every backend must follow."""
