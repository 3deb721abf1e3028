from __future__ import annotations

import pytest

from checkers.profile import BFCL, PROFILES, STRICT
from checkers.replies import decoding


def test_profiles_are_found_by_their_name():
    assert PROFILES == {"bfcl": BFCL, "strict": STRICT}
    assert list(PROFILES) == [BFCL.name, STRICT.name]


@pytest.mark.parametrize(
    ("field", "bfcl", "strict"),
    [
        ("answers_unreadable_steps", False, True),
        ("only_offered", False, True),
        ("checks_arguments", False, True),
        ("executes_step_past_limit", True, False),
        ("limits_recorded_runs", False, True),
        ("empty_turns_forbid_changes", False, True),
        ("notices_late_termination", False, True),
    ],
)
def test_what_the_profiles_differ_in(field, bfcl, strict):
    # What each of these does is tested where it is done.
    assert (getattr(BFCL, field), getattr(STRICT, field)) == (bfcl, strict)


def test_every_field_but_name_and_decoders_is_tested_above():
    assert len(BFCL._fields) == 9


def test_each_profile_has_its_own_decoder_for_each_mode():
    assert BFCL.decoders == {
        "fc": decoding.decode_tool_calls_as_bfcl,
        "prompt": decoding.decode_text_as_bfcl,
    }
    assert STRICT.decoders == {"fc": decoding.decode_tool_calls, "prompt": decoding.decode_text}
