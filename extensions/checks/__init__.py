"""User-written checks of episodes, which complement or replace the ground truth."""
