"""The judge: pure functions from outcomes to verdicts. No I/O, no live backends.

What a model's calls led to is compared with what the ground truth leads to, by the rules of a
profile. Imports ``envs``, for its records only.
"""
