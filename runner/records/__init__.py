"""Files of runs: run folders, BFCL's result files, verdict files and exports."""
