from __future__ import annotations

import pytest

from checkers.profile import BFCL, PROFILES, STRICT, TAU2, RuleVariant, allow_all_functions
from checkers.replies import decoding
from checkers.replies.as_bfcl import decoding as as_bfcl

DIFFERENCES = [
    ("execution", "only_offered", False, True),
    ("execution", "checks_arguments", False, True),
    ("execution", "executes_step_past_limit", True, False),
    ("execution", "limits_recorded_runs", False, True),
    ("execution", "keeps_all", False, True),
    ("replies", "read", RuleVariant.AS_BFCL, RuleVariant.RIGHT),
    ("replies", "answers_unreadable_steps", False, True),
    ("state", "empty_turns_forbid_changes", False, True),
    ("state", "notices_late_termination", False, True),
    ("state", "needs_facts", False, True),
    ("state", "order_may_mean_nothing", False, True),
    ("state", "judges_guesses", False, True),
    ("state", "judges_trace", False, True),
    ("calls", "read_tool_calls", RuleVariant.AS_BFCL, RuleVariant.RIGHT),
    ("calls", "read_text", RuleVariant.AS_BFCL, RuleVariant.RIGHT),
    ("calls", "converters", RuleVariant.AS_BFCL, RuleVariant.RIGHT),
    ("calls", "normalise", RuleVariant.AS_BFCL, RuleVariant.RIGHT),
    ("calls", "compares_deeply", False, True),
    ("calls", "variables_by_any_answer", False, True),
    ("calls", "maximum_matching", False, True),
    ("calls", "only_offered", False, True),
    ("calls", "counts_broken_calls", False, True),
    ("calls", "judges_inference_errors", True, False),
    ("calls", "executes_statements", False, True),
    ("results", "compares_structure_deeply", False, True),
]


def test_profiles_are_found_by_their_name():
    assert PROFILES == {"bfcl": BFCL, "strict": STRICT, "tau2": TAU2}
    assert list(PROFILES) == [BFCL.name, STRICT.name, TAU2.name]


@pytest.mark.parametrize(("part", "field", "bfcl", "strict"), DIFFERENCES)
def test_what_the_profiles_differ_in(part, field, bfcl, strict):
    # What each of these does is tested where it is done.
    both = [getattr(getattr(profile, part), field) for profile in (BFCL, STRICT)]
    assert both == [bfcl, strict]


def test_every_field_but_the_name_is_tested_above():
    parts = [part for part in BFCL._fields if part != "name"]
    fields = [(part, field) for part in parts for field in getattr(BFCL, part)._fields]
    assert {(part, field) for part, field, *_ in DIFFERENCES} == set(fields)


def test_each_profile_has_its_own_decoder_for_each_mode():
    for profile, rules in ((BFCL, as_bfcl), (STRICT, decoding)):
        assert profile.replies.decoder("fc") is rules.decode_tool_calls
        assert profile.replies.decoder("prompt") is rules.decode_text


def test_a_profile_that_offers_all_differs_in_nothing_else():
    assert allow_all_functions(BFCL) == BFCL
    assert allow_all_functions(STRICT)._replace(execution=STRICT.execution) == STRICT
    assert not allow_all_functions(STRICT).execution.only_offered
