"""Files of runs: run folders, BFCL's result files and verdict files."""
