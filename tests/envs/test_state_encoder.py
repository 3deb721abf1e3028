"""The encoder that is created once writes what ``json.dumps`` writes."""

from __future__ import annotations

import json

import pytest

from envs import state
from envs.state import make_encoder

VALUES = [{"b": 1, "a": [None, True, 1.5, "\u00e9"]}, [], {}, "x", {1: 2, None: 3, 1.5: 4}, 1e30]


@pytest.mark.parametrize("separators", [(", ", ": "), (",", ":")])
@pytest.mark.parametrize("is_quick", [True, False])
def test_values_are_written_as_by_dumps(
    separators: tuple[str, str], is_quick: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not is_quick:
        # Other Pythons have no encoder in C.
        monkeypatch.setattr(state, "_make", None)
    encode = make_encoder(separators)
    for value in VALUES:
        assert encode(value) == json.dumps(value, separators=separators)


def test_a_key_or_value_without_json_is_refused() -> None:
    encode = make_encoder()
    for value in ({(1, 2): 3}, {1j}, [object()]):
        with pytest.raises(TypeError):
            encode(value)
    for number in (float("nan"), float("inf")):
        assert encode([number]) == json.dumps([number])
        with pytest.raises(ValueError, match="JSON compliant"):
            make_encoder(allow_nan=False)([number])
