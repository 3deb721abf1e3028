"""Checkers: pure functions that convert outcomes to verdicts, without I/O or live backends.

Checkers compare two outcomes, the model's and the ground truth's, by the rules of a profile. The
package imports only the records of ``envs``.
"""
