"""Calls against expected calls: single turns in which nothing is executed."""
