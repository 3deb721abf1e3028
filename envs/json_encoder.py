"""JSON encoder that is created once and used for all values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

_make: Any = getattr(json.encoder, "c_make_encoder", None)


def make_encoder(
    separators: tuple[str, str] = (", ", ": "), *, allow_nan: bool = True
) -> Callable[[Any], str]:
    """Return a function that converts values to ASCII JSON; values must not contain cycles.

    ``JSONEncoder.encode`` is slower, because it creates an encoder for every value.
    """
    usual = json.JSONEncoder(separators=separators, allow_nan=allow_nan)
    if _make is None:
        return usual.encode
    item, key = separators
    escape = json.encoder.encode_basestring_ascii
    write = _make(None, usual.default, escape, None, key, item, False, False, allow_nan)
    return lambda value: "".join(write(value, 0))
