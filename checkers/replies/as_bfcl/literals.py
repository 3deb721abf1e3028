"""What the reference takes a text for whose type it does not know."""

from __future__ import annotations

INTEGER = r"-?\d{1,1000}"
"""A longer one is no number but an attack."""


def number_or_text(text: str) -> int | float | str:
    """Return the number that Python reads in a text, or else the text."""
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def unquoted(text: str) -> str:
    """Return a text without the quotes around it, if they are of the same kind."""
    quoted = text[:1] in ("'", '"') and text[:1] == text[-1:]
    return text[1:-1] if quoted else text


def truth_or_text(text: str) -> bool | str:
    """Return the truth value that Java and JavaScript read in a text, or else the text."""
    return text == "true" if text in ("true", "false") else text
