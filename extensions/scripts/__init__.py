"""Call scripts, executed without a data set."""
