"""The contract of environments: checks of rules that every backend must keep."""
