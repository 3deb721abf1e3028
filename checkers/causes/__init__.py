"""Causes of failures: traces of episodes, the first divergence from the ground truth, diagnosis."""
