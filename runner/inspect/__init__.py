"""Looking at runs: what happened, where it left the ground truth, how runs compare."""
