"""Analysis of runs: replay, scores, comparison, causes of failure and pages."""
