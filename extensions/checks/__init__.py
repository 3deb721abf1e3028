"""Checks of episodes that users write, beside or instead of the ground truth."""
