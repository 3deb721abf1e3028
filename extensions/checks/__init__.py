"""User-written checks of episodes, in addition to the ground truth or in place of it."""
