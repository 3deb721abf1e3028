"""The HTML report: what it shows of a run, and the one file in which it is shown."""
