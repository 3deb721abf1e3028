"""The canary: a text that nothing has but our data, to be found where that should not be."""

from __future__ import annotations

CANARY = "turnwise benchmark data, not for training: canary 89f49703-65a4-4b62-939d-c309b77e5f54"
"""Stands in the provenance of every trajectory; who has it in a corpus has our data in it."""
