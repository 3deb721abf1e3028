"""User-written checks of episodes; the checks complement or replace the ground truth."""
