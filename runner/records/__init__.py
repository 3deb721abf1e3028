"""What a run leaves behind: run folders, BFCL's result files, verdict files, exports."""
