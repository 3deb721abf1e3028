"""Causes of failures: traces of episodes, first divergence from the ground truth, and diagnosis."""
