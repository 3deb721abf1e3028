"""Canary: a unique string that reveals our data in a training corpus."""

from __future__ import annotations

CANARY = "turnwise benchmark data, not for training: canary 89f49703-65a4-4b62-939d-c309b77e5f54"
"""Text in the provenance of every trajectory."""
