"""Environments with the functions of BFCL's retired data sets."""
