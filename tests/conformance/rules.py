"""Which of the strict profile's rules make its verdict on an entry differ from BFCL's."""

from __future__ import annotations

from typing import Any

from checkers.calls.call_entry import CallEntry, UnjudgeableEntry
from checkers.calls.single_turn_verdict import judge
from checkers.profile import BFCL, STRICT, CallRules, Mode, Profile
from checkers.replies.decoding import Step

RULES = CallRules._fields
"""Names of the rules: the fields in which the profiles differ."""


def deciding_rules(task: CallEntry, step: Step, mode: Mode) -> tuple[str, ...]:
    """Return the rules that make the profiles disagree on an entry; none where they agree.

    They are those without which the strict verdict would be another one. Where each of several
    would do by itself, they are those that alone change the verdict of ``bfcl``; where it takes
    several in either case, they are all.

    Args:
        task: The entry.
        step: What the model answered.
        mode: How the model calls functions.
    """
    strict, bfcl = (_outcome(task, step, mode, profile) for profile in (STRICT, BFCL))
    if strict == bfcl:
        return ()
    without = [_mixed(STRICT, rule, BFCL) for rule in RULES]
    alone = [_mixed(BFCL, rule, STRICT) for rule in RULES]
    for profiles, outcome in ((without, strict), (alone, bfcl)):
        changed = [_outcome(task, step, mode, profile) != outcome for profile in profiles]
        if any(changed):
            return tuple(rule for rule, change in zip(RULES, changed, strict=True) if change)
    return RULES


def _mixed(profile: Profile, rule: str, other: Profile) -> Profile:
    taken: dict[str, Any] = {rule: getattr(other.calls, rule)}
    return profile._replace(calls=profile.calls._replace(**taken))


def _outcome(task: CallEntry, step: Step, mode: Mode, profile: Profile) -> str | None:
    try:
        return judge(task, step, mode, profile).error_type
    except UnjudgeableEntry:
        return "error"
