"""The commands of ``turnwise``: arguments and printing, one module each."""

DONE, USER_ERROR, RUN_ERROR, BELOW, INTERRUPTED = 0, 2, 3, 4, 130
"""Exit statuses: done; bad input; the run had errors that are not the model's; the score is below
the one asked for; Ctrl-C."""
