"""Texts that differ only in how they are written, and are equal to a checker."""

from __future__ import annotations

import re

_MARKS = str.maketrans("'", '"', " ,./-_*^")
_SIGN_OR_POINT = re.compile(r"(?<=\d)\.(?=\d)|(?<![\w)])(?<!\d )-(?=\.?\d)")
_POINT, _SIGN = "\ue000", "\ue001"
"""What stands for a point and a sign while the marks are taken out."""


def normalise(text: str) -> str:
    """Return a text without blanks and punctuation, in small letters, with one kind of quote."""
    return text.translate(_MARKS).lower()


def normalise_but_numbers(text: str) -> str:
    """Do the same, but leave numbers their sign and point: 1.5 is not 15, and -5 is not 5."""
    kept = _SIGN_OR_POINT.sub(lambda mark: _POINT if mark[0] == "." else _SIGN, text)
    return normalise(kept)
