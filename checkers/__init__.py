"""Checkers: pure functions that turn outcomes into verdicts, without I/O or live backends.

Checkers compare two outcomes, the model's and the ground truth's, by the rules of a profile. The
package imports only the records of ``envs``.
"""
