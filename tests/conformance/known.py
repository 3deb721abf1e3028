"""The known differences: where Turnwise departs from BFCL on purpose, each with its reason.

Every difference that the comparison meets must be explained by exactly this list. A rule looks
at the calls so far and at what differs, and is as narrow as that allows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from envs.backends.file_system import GorillaFileSystem
from envs.calls import Call
from envs.state import Difference

_MISSING = object()


class Step(NamedTuple):
    """One call on both sides."""

    text: str
    call: Call | None
    """None where the text is not a call to us."""
    expected: str
    """BFCL's result."""
    actual: str
    """Ours."""
    before: Mapping[str, Any]
    """Compared state before the turn, the same on both sides."""

    @property
    def refused_by_us(self) -> bool:
        """Whether it is BFCL that succeeds and we who refuse."""
        return not failed(self.expected) and failed(self.actual)

    @property
    def refused_by_both(self) -> bool:
        """Whether neither side does it."""
        return failed(self.expected) and failed(self.actual)

    @property
    def done_by_both(self) -> bool:
        """Whether both sides do it."""
        return not failed(self.expected) and not failed(self.actual)

    def is_call_of(self, *names: str) -> bool:
        """Tell whether one of these functions is called."""
        return self.call is not None and self.call.name in names

    def argument(self, name: str, position: int) -> Any:
        """Return the argument of a parameter; something unequal to all values if not given."""
        if self.call is None:
            return _MISSING
        if position < len(self.call.args):
            return self.call.args[position]
        return self.call.kwargs.get(name, _MISSING)


class Case(NamedTuple):
    """A difference to be explained."""

    steps: Sequence[Step]
    """All steps so far; the last one is where it shows."""
    differences: Sequence[Difference] = ()
    """Where the states differ after the last step; empty where its results do."""

    @property
    def step(self) -> Step:
        """The step where the difference shows."""
        return self.steps[-1]

    def concerns(self, *paths: str) -> bool:
        """Tell whether there are differences in state, all of them below the given paths."""
        return bool(self.differences) and all(d.path.startswith(paths) for d in self.differences)


class Known(NamedTuple):
    """One known difference."""

    id: str
    reason: str
    explains: Callable[[Case], bool]
    ends: bool = True
    """Whether the two worlds may differ from here on, so that the script stops."""


def failed(text: str) -> bool:
    """Tell whether a result says that the call did not succeed, in any of the forms there are."""
    if text.startswith(("Error during execution", "[{'error'", "['Error")):
        return True
    if not text.startswith("{") or '"error"' not in text:
        return False
    try:
        value = json.loads(text)
    except ValueError:
        return False
    return isinstance(value, dict) and "error" in value


def explanation(case: Case) -> Known | None:
    """Return the known difference that a case is, or None if it is news."""
    return next((known for known in KNOWN if known.explains(case)), None)


def _moved_directory(case: Case) -> bool:
    return _in_files(case) and any(
        step.is_call_of("mv") and step.done_by_both and _has_directories(step)
        for step in case.steps[:-1]
    )


def _copied_directory(case: Case) -> bool:
    return _in_files(case) and any(
        step.is_call_of("cp") and step.done_by_both and _has_entries(step)
        for step in case.steps[:-1]
    )


def _in_files(case: Case) -> bool:
    """Tell whether the difference lies in the file tree or in what a look at it shows."""
    if case.differences:
        return case.concerns("GorillaFileSystem.root")
    return case.step.is_call_of(*GorillaFileSystem.TOOLS)


def _counts_what_is_no_text(case: Case) -> bool:
    step = case.step
    if not (step.is_call_of("wc") and step.refused_by_us):
        return False
    nodes = [node for name, node in _nodes(step) if name == step.argument("file_name", 0)]
    return any(not isinstance(node.get("content", ""), str) for node in nodes)


def _has_directories(step: Step) -> bool:
    return any(
        "contents" in member
        for directory in _directories_named(step)
        for member in directory["contents"].values()
    )


def _has_entries(step: Step) -> bool:
    return any(directory["contents"] for directory in _directories_named(step))


def _directories_named(step: Step) -> Iterator[Mapping[str, Any]]:
    """Yield the directories with the name of a step's source, wherever they are."""
    for name, node in _nodes(step):
        if name == step.argument("source", 0) and "contents" in node:
            yield node


def _nodes(step: Step) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield name and node of every file and directory that there was before a step."""
    pending = list(step.before["GorillaFileSystem"]["root"].items())
    while pending:
        name, node = pending.pop()
        yield name, node
        pending += node.get("contents", {}).items()


def _onto_itself(case: Case, function: str) -> bool:
    step = case.step
    return (
        step.is_call_of(function)
        and step.refused_by_us
        and step.argument("source", 0) == step.argument("destination", 1)
    )


def _makes_odd_name(case: Case) -> bool:
    step = case.step
    if step.is_call_of("mkdir", "touch"):
        name = step.argument("dir_name" if step.is_call_of("mkdir") else "file_name", 0)
    elif step.is_call_of("mv", "cp"):
        name = step.argument("destination", 1)
    else:
        return False
    return step.refused_by_us and name in ("", ".", "..")


def _stops_engine(case: Case) -> bool:
    step = case.step
    return (
        step.is_call_of("startEngine")
        and step.argument("ignitionMode", 0) == "STOP"
        and failed(step.expected)
        and not failed(step.actual)
    )


def _shows_pedal_force(case: Case) -> bool:
    step = case.step
    shown = "displayCarStatus" in step.text and "brakePedal" in step.text
    return shown and step.done_by_both and _same_json(step.expected, step.actual)


def _same_json(expected: str, actual: str) -> bool:
    """Tell whether two results are equal but for 1 and 1.0."""
    try:
        return bool(json.loads(expected) == json.loads(actual))
    except ValueError:
        return False


def _locked_some_doors(case: Case) -> bool:
    doors = ("VehicleControlAPI.doorStatus", "VehicleControlAPI.remainingUnlockedDoors")
    return case.step.is_call_of("lockDoors") and case.step.refused_by_both and case.concerns(*doors)


def _stores_before_it_breaks(case: Case) -> bool:
    fields = ("VehicleControlAPI.destination", "VehicleControlAPI.acTemperature")
    return (
        case.step.is_call_of("set_navigation", "adjustClimateControl")
        and case.step.refused_by_both
        and case.concerns(*fields)
    )


def _mentioned_in_all_tweets(case: Case) -> bool:
    """Tell whether a tweet posted without mentions, in the script, has been given some."""
    if not any(step.is_call_of("mention") and step.done_by_both for step in case.steps):
        return False
    if not any(_posts_without_mentions(step) for step in case.steps):
        return False
    if case.differences:
        paths = [difference.path for difference in case.differences]
        return all(re.match(r"TwitterAPI\.tweets\[[^]]*\]\.mentions", path) for path in paths)
    return case.step.is_call_of("post_tweet", "get_tweet", "get_user_tweets", "search_tweets")


def _posts_without_mentions(step: Step) -> bool:
    return step.is_call_of("post_tweet") and step.argument("mentions", 2) is _MISSING


def _needs_much_work(case: Case) -> bool:
    step = case.step
    precision = step.argument("precision", 1 if step.is_call_of("square_root") else 2)
    # A number in quotes is a number to BFCL.
    high = re.fullmatch(r"[0-9]{4,}(\.[0-9]+)?", str(precision)) is not None
    return step.is_call_of("logarithm", "square_root") and step.refused_by_us and high


def _on_the_edge_of_18(case: Case) -> bool:
    born = case.step.argument("date_of_birth", 2)
    return (
        case.step.is_call_of("verify_traveler_information")
        and isinstance(born, str)
        and re.match(r"20(0[89]|1[0-5])-", born) is not None
    )


def _failed_inside(case: Case) -> bool:
    step = case.step
    return step.call is not None and step.call.nested and failed(step.actual)


def _stores_live_object(case: Case) -> bool:
    call = case.step.call
    return call is not None and call.nested and case.step.done_by_both and bool(case.differences)


def _words_inside(case: Case) -> bool:
    soft = ("verify_traveler_information(", "message_login(")
    call = case.step.call
    return call is not None and call.nested and any(name in case.step.text for name in soft)


def _call_in_string(case: Case) -> bool:
    call = case.step.call
    return call is not None and rewritten(call)


def rewritten(call: Call) -> bool:
    """Tell whether BFCL changes the arguments of a call: they hold what looks like one."""
    return any(map(_looks_like_call, (*call.args, *call.kwargs.values())))


def _looks_like_call(value: Any) -> bool:
    """Tell whether a value is or holds text in which a word is followed by a parenthesis."""
    if isinstance(value, str):
        return re.search(r"\w\s*\(", value) is not None
    if isinstance(value, Mapping):
        return any(map(_looks_like_call, (*value, *value.values())))
    return isinstance(value, (list, tuple)) and any(map(_looks_like_call, value))


KNOWN = (
    Known(
        "F19",
        "a moved directory stays one tree; BFCL's sub-directories keep a ghost of their old parent",
        _moved_directory,
    ),
    Known(
        "F20",
        "a copied directory is a copy; BFCL's shares its files and sub-directories",
        _copied_directory,
    ),
    Known(
        "F21",
        "moving a directory onto itself is refused; BFCL loses it",
        lambda case: _onto_itself(case, "mv"),
    ),
    Known(
        "F22",
        "copying a directory into itself is refused; BFCL makes a cycle",
        lambda case: _onto_itself(case, "cp"),
    ),
    Known("F23", "no entry may be named '', '.' or '..'", _makes_odd_name),
    Known(
        "F25",
        "what is no text has no characters to count; BFCL counts members",
        _counts_what_is_no_text,
        False,
    ),
    Known("V1", "stopping the engine succeeds; BFCL stops it and says no", _stops_engine, False),
    Known("V5", "the pedal force is shown as a float always", _shows_pedal_force, False),
    Known(
        "V11",
        "locking doors is all or nothing; BFCL locks those before a bad name",
        _locked_some_doors,
    ),
    Known(
        "A1",
        "a call that fails on an ill-typed argument leaves no trace; BFCL has stored it by then",
        _stores_before_it_breaks,
    ),
    Known(
        "T1",
        "each tweet has mentions of its own; BFCL's tweets without any share one list",
        _mentioned_in_all_tweets,
    ),
    Known(
        "T12",
        "what a call inside a call gives is a value; BFCL stores the live object",
        _stores_live_object,
    ),
    Known("M7", "there is a highest precision; BFCL computes on", _needs_much_work, False),
    Known(
        "V14",
        "the age of travellers is counted at a fixed date, not today",
        _on_the_edge_of_18,
        False,
    ),
    Known(
        "N1",
        "a call inside a call that fails is a failure; BFCL passes the error on as a value",
        _failed_inside,
    ),
    Known(
        "W1",
        "the wording of a refusal is free, also where a call inside a call gives it",
        _words_inside,
    ),
    Known(
        "S1", "text is left as it is; BFCL rewrites what looks like a call in it", _call_in_string
    ),
)
