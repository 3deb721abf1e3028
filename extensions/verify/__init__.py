"""Verification of recorded runs by executing them again."""
