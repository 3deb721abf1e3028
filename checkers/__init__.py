"""The checkers: pure functions from outcomes to verdicts, without I/O and live backends.

They compare the outcome of a model's calls with the outcome of the ground truth, by the rules of a
profile. The package imports only the records of ``envs``.
"""
