"""Core commands of ``turnwise``; each module defines the options and the output of a command."""

DONE, USER_ERROR, RUN_ERROR, BELOW, OVER_BUDGET, INTERRUPTED = 0, 2, 3, 4, 5, 130
"""Exit statuses for success, bad input, errors not caused by the model, a score below the
threshold, a used-up budget, and Ctrl-C.
"""
