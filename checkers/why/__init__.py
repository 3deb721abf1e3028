"""Why an episode failed: its trace beside the ground truth's, where they part, and the cause."""
