"""The core commands of ``turnwise``, one module each: options and output."""

DONE, USER_ERROR, RUN_ERROR, BELOW, OVER_BUDGET, INTERRUPTED = 0, 2, 3, 4, 5, 130
"""Exit statuses: done; bad input; errors that the model did not cause; score below the threshold;
budget used up; Ctrl-C."""
