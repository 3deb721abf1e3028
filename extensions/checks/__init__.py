"""Checks of episodes that users write, in addition to the ground truth or in place of it."""
