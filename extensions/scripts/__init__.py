"""Execution of call scripts without a data set."""
