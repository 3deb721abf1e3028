"""Fixtures that several folders share."""

from tests.environments.installing import install

__all__ = ["install"]
