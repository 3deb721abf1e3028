"""Views of the debugger: pure functions that convert a stepper to styled text.

Text of models and data is never parsed as markup. Terminal control characters are escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from rich.text import Text
from textual.content import Content

from checkers.causes.episode_place import EpisodePlace
from checkers.causes.trace import TracedCall
from checkers.verdict import Failure
from envs.state import Difference, cut, cut_repr
from extensions.debugger.state_tree import StateNode
from extensions.debugger.stepper import Stepper
from extensions.debugger.timeline import CallOrigin
from runner.analysis.episode_view import EpisodeMoment, TurnView
from runner.records.episode_record import call_text
from runner.show.terminal import escape_unprintable

Part = tuple[str, str]
"""A string and its style."""

_GOOD, _BAD, _NEW = "$text-success", "$text-error", "$text-warning"
_FAINT, _STRONG = "dim", "bold"
_FOUND = "black on yellow"

_MAX_CHARS = 20_000
"""Maximum length of a string."""
_PASSING = 2_000
"""Maximum length of a string in a list, such as the transcript."""
_BRIEF = 400
"""Maximum length of a value in a list of differences."""
_MAX_UNSEEN = 3
_MAX_ITEMS = 100
"""Maximum number of differences in a list."""
_LABEL = 60
"""Maximum length of a value in the tree."""


def rows(stepper: Stepper) -> list[Content]:
    """Return the rows of the list, one per moment of the current timeline."""
    timeline = stepper.timeline
    own = len(timeline.moments) if timeline.parted is None else timeline.index(timeline.parted)
    found = []
    for index, moment in enumerate(timeline.moments):
        side = "≠" if moment.diverges else "+" if index >= own else " "
        found.append(Content.assemble((side, _NEW), *_row(stepper, moment)))
    return found


def heading(stepper: Stepper, source: str) -> Content:
    """Return two heading lines with the entry, the position, the timeline and the verdict."""
    timeline, all_of_them = stepper.timeline, stepper.timelines
    which = f" {timeline.name} ({all_of_them.index(timeline) + 1} of {len(all_of_them)}) "
    place = f"{stepper.moment.place} ({stepper.cursor + 1} of {len(timeline.moments)})"
    recording = timeline.source is CallOrigin.RECORDING
    return Content.assemble(
        (f"{escape_unprintable(stepper.examined.trajectory.id)}  {place}  ", _STRONG),
        (f"{escape_unprintable(source)}\n", _FAINT),
        (which, f"{_NEW} reverse" if timeline.source is CallOrigin.BRANCH else "reverse"),
        *(_outcome(stepper) if recording else _so_far(stepper)),
    )


def tabs(names: Iterable[str], shown: str) -> Content:
    """Return the line with the names of all views."""
    return Content.assemble(
        *(
            (f" {key} {name} ", "reverse" if name == shown else _FAINT)
            for key, name in enumerate(names, 1)
        ),
        ("  tab scrolls", _FAINT),
    )


def marked(text: Content, wanted: str) -> Content:
    """Highlight the matches of a search."""
    if not wanted:
        return text
    return text.highlight_regex(
        re.compile(re.escape(escape_unprintable(wanted)), re.I), style=_FOUND
    )


def call_view(stepper: Stepper) -> Content:
    """Return the view of one moment: a message, a call or an answer."""
    turn, kind = stepper.turn, stepper.moment.place.kind
    if kind == "start":
        events = _events(stepper.moment)
        parts = [(f"turn {turn.number + 1} begins\n", _STRONG), *events, *_asked(turn)]
    else:
        parts = _made(stepper) if kind == "call" else _end(stepper)
    return Content.assemble(*parts, *_leaving(stepper), *_why(stepper))


def truth_view(stepper: Stepper) -> Content:
    """Return the turn's ground-truth calls, and how the state differs from the ground truth."""
    calls = stepper.turn.truth.calls
    return Content.assemble(
        *_against_truth(stepper),
        *_against_recording(stepper),
        (f"\nground truth of turn {stepper.moment.place.turn + 1}\n", _STRONG),
        *(part for traced in calls for part in _call_and_result(traced, _PASSING)),
        *([] if calls else [("no calls\n", _FAINT)]),
    )


def label(node: StateNode) -> Text:
    """Return the line of the tree for a state node."""
    sign = "≠" if node.off or node.off_below else "*" if node.changed else " "
    style = "red" if node.off else "yellow" if node.changed else ""
    value = "" if node.has_members and node.value else f": {cut_repr(node.value, _LABEL)}"
    return Text(escape_unprintable(f"{sign}{node.name}{value}"), style)


def place_text(node: StateNode) -> Content:
    """Return the details of a state node: its value, previous value and expected value."""
    parts = [(f"{escape_unprintable(node.path)}\n", _STRONG), (_value(node.value, _MAX_CHARS), "")]
    if node.changed:
        parts += [("\nbefore: ", _FAINT), (_value(node.was, _MAX_CHARS), _NEW)]
    if node.expected != node.value:
        expected = _value(node.expected, _MAX_CHARS)
        parts += [("\nground truth at the end of the turn: ", _FAINT), (expected, _BAD)]
    return Content.assemble(*parts)


def transcript(stepper: Stepper) -> Content:
    """Return the messages, calls and results up to the moment."""
    parts: list[Part] = []
    for moment in stepper.timeline.moments[: stepper.cursor + 1]:
        turn = stepper.timeline.turns[moment.place.turn]
        if moment.place.kind == "start":
            parts += [(f"turn {turn.number + 1}\n", f"{_STRONG} reverse"), *_events(moment)]
            parts += _asked(turn)
        elif moment.traced is not None:
            parts += _said(stepper, moment.place, _PASSING)
            parts += [*_call_and_result(moment.traced, _PASSING), *_events(moment)]
        else:
            parts += [*_answered(turn), ("\n", "")]
    return Content.assemble(*parts)


def _row(stepper: Stepper, moment: EpisodeMoment) -> list[Part]:
    turn, kind, step, position = moment.place
    if kind == "start":
        return [(f"turn {turn + 1}", _STRONG)]
    if moment.traced is None:
        failure = stepper.timeline.failures[turn]
        return [("   end ", _FAINT), ("✗", _BAD) if failure else ("✓", _GOOD)]
    result = moment.traced.result
    flag = "!" if not result.ok else "*" if result.changed else " "
    several = len(stepper.timeline.trace.turns[turn].steps[step]) > 1
    number = f"{step + 1}.{position + 1}" if several else f"{step + 1}"
    text = _line(call_text(moment.traced.call))
    return [(flag, _NEW if result.ok else _BAD), (f"{number:>2} ", _FAINT), (text, "")]


def _made(stepper: Stepper) -> list[Part]:
    moment = stepper.moment
    assert moment.traced is not None
    changes = _differences(moment.changes, "before", "now")
    return [
        *_said(stepper, moment.place, _MAX_CHARS),
        *_call_and_result(moment.traced),
        (
            "\nstate changes\n" if changes else "\nno state changes\n",
            _STRONG if changes else _FAINT,
        ),
        *changes,
        *_events(moment),
        *[(f"{label}: {_shown(text, _MAX_CHARS)}\n", _BAD) for label, text in moment.remarks],
    ]


def _events(moment: EpisodeMoment) -> list[Part]:
    return [
        (f"event for {each.to or 'nobody'}: {_shown(str(each), _MAX_CHARS)}\n", _NEW)
        for each in moment.notices
    ]


def _end(stepper: Stepper) -> list[Part]:
    turn = stepper.turn
    failure = stepper.timeline.failures[turn.number]
    judged = _failed(failure) if failure else [("the turn passes\n", _GOOD)]
    return [(f"turn {turn.number + 1} ends\n", _STRONG), *_answered(turn), *judged]


def _asked(turn: TurnView) -> list[Part]:
    asked = turn.asked
    said = _labelled([(f"{message.role}: ", message.content) for message in asked.messages])
    if not asked.offers:
        return said
    return [*said, ("functions added: ", _FAINT), (f"{', '.join(asked.offers)}\n", "")]


def _labelled(said: Iterable[tuple[str, str | None]], longest: int = _MAX_CHARS) -> list[Part]:
    return [
        part
        for what, text in said
        if text is not None
        for part in ((what, _FAINT), (f"{_shown(text, longest)}\n", ""))
    ]


def _said(stepper: Stepper, place: EpisodePlace, longest: int) -> list[Part]:
    found = stepper.said.get((place.turn, place.step))
    if found is None or place.call or stepper.timeline.source is not CallOrigin.RECORDING:
        return []
    texts = (("reasoning: ", found.reasoning or None), ("text: ", found.text or None))
    return _labelled(texts, longest)


def _answered(turn: TurnView) -> list[Part]:
    return _labelled((("answer: ", turn.closing), ("not a readable call: ", turn.unreadable)))


def _call_and_result(traced: TracedCall, longest: int = _MAX_CHARS) -> list[Part]:
    ok = traced.result.ok
    return [
        (f"{_shown(call_text(traced.call), longest)}\n", _STRONG),
        ("-> " if ok else "-> refused: ", _FAINT if ok else _BAD),
        (f"{_shown(traced.result.observation, longest)}\n", ""),
    ]


def _leaving(stepper: Stepper) -> list[Part]:
    moment = stepper.moment
    if not moment.diverges:
        return []
    # At the end of a turn, the failure lists the same differences.
    differences = moment.off_path if moment.traced else ()
    return [("\n≠ diverges from the ground truth\n", _NEW), *_differences(differences)]


def _why(stepper: Stepper) -> list[Part]:
    why = stepper.examined.diagnosis
    here = why is not None and why.turn in (None, stepper.moment.place.turn)
    if why is None or not here or stepper.timeline.source is not CallOrigin.RECORDING:
        return []
    found = stepper.examined.data_error
    known: list[Part] = [(f"{_shown(found)}\n", _NEW)] if found else []
    return [("\ncause of the failure\n", _BAD), (f"{_shown(why.sentence)}\n", ""), *known]


def _against_truth(stepper: Stepper) -> list[Part]:
    if differences := stepper.moment.off_path:
        return [("the state differs from the ground truth\n", _BAD), *_differences(differences)]
    return [("the state matches the ground truth\n", _GOOD)]


def _against_recording(stepper: Stepper) -> list[Part]:
    moment = stepper.counterpart
    if moment is None:
        return []
    differences = moment.after.differences(stepper.moment.after)
    return [
        (f"\nrecording, {moment.place}\n", _STRONG),
        *(_call_and_result(moment.traced) if moment.traced else []),
        *([] if differences else [("same state as in the recording\n", _FAINT)]),
        *_differences(differences, "recorded", "here"),
    ]


def _differences(
    differences: Sequence[Difference], first: str = "expected", second: str = "got"
) -> list[Part]:
    shown = [
        part
        for path, left, right in differences[:_MAX_ITEMS]
        for part in (
            (f"{escape_unprintable(path)}\n", _NEW),
            (f"  {first} ", _FAINT),
            (f"{_value(left)}\n", ""),
            (f"  {second} ", _FAINT),
            (f"{_value(right)}\n", ""),
        )
    ]
    more = len(differences) - _MAX_ITEMS
    return shown if more <= 0 else [*shown, (f"and {more} more differences\n", _FAINT)]


def _failed(failure: Failure) -> list[Part]:
    left = len(failure.unseen) - _MAX_UNSEEN
    return [
        (f"FAILED: {_reason(failure)}\n", _BAD),
        *_differences(failure.differences),
        *((f"missing result: {_shown(text)}\n", "") for text in failure.unseen[:_MAX_UNSEEN]),
        *([(f"and {left} more missing results\n", _FAINT)] if left > 0 else []),
    ]


def _outcome(stepper: Stepper) -> list[Part]:
    verdict, why = stepper.examined.verdict, stepper.examined.diagnosis
    failure = verdict.failure
    if failure is None:
        return [(" passed", _GOOD)]
    return [(f" FAILED: {_line(why.sentence) if why else _reason(failure)}", _BAD)]


def _so_far(stepper: Stepper) -> list[Part]:
    timeline, turns = stepper.timeline, len(stepper.timeline.turns)
    left = sum(len(step) for turn in timeline.rest for step in turn)
    rest = (f"  (remaining calls: {left}; r plays them)" if left else "", _FAINT)
    reached = len(timeline.failures)
    for turn, failure in enumerate(timeline.failures):
        if failure is not None:
            is_open = timeline.source is CallOrigin.BRANCH and turn == reached - 1
            says = "not yet passed" if is_open else "FAILED"
            return [(f" turn {turn + 1} {says}: {_reason(failure)}", _BAD), rest]
    passed = " passed" if reached == turns else f" {reached} of {turns} turns passed"
    return [(passed, _GOOD), rest]


def _reason(failure: Failure) -> str:
    return failure.reason.removeprefix("multi_turn:")


def _shown(text: str, longest: int = _MAX_CHARS) -> str:
    left = len(text) - longest
    lines = "\n".join(map(escape_unprintable, text[:longest].split("\n")))
    return lines if left <= 0 else f"{lines}... and {left} more characters"


def _line(text: str) -> str:
    return escape_unprintable(cut(text, _BRIEF))


def _value(value: object, longest: int = _BRIEF) -> str:
    return escape_unprintable(cut_repr(value, longest))
