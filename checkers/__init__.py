"""Checkers: pure functions that turn outcomes into verdicts, without I/O or live backends.

They compare the outcome of a model's calls with the ground truth's, by the rules of a profile. The
package imports only the records of ``envs``.
"""
