"""Checkers: pure functions that convert outcomes to verdicts, without I/O or live backends.

Checkers compare the model's outcome with the ground truth's outcome by the rules of a profile. The
package imports only the records of ``envs``.
"""
