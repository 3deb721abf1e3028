"""The debugger without its screen: where one stands, in which timeline, and how to go elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from checkers.profile import Profile, offering_all
from envs.calls import read_call
from envs.errors import BackendFault, MalformedCall
from envs.state import brief
from envs.tool import parameters
from extensions.debugger.timeline import Source, Timeline, with_call, with_rest, with_turn_ended
from runner.analysis.view import Moment, Place, TurnView
from runner.episodes.examined import ExaminedTurns
from runner.episodes.scripts import recorded as script_of
from runner.records.record import Recorded


class StepWords(NamedTuple):
    """What came with the calls of one step."""

    text: str
    reasoning: str = ""


class Stepper:
    """Steps through the timelines of one trajectory.

    What a key does is a method here. Those that may find nothing to do return a line that says why
    or what was done, empty where the screen says enough.

    Without a recorded episode there is the ground truth alone. ``said`` has what came with the
    recording's calls, by turn and step.
    """

    def __init__(self, examined: ExaminedTurns) -> None:
        self.examined = examined
        self.said = said(examined)
        self.timelines = list(_timelines(examined))
        self.wanted = ""
        self._branches = 0
        self.timeline, self.cursor = self.timelines[0], 0

    @property
    def moment(self) -> Moment:
        """Where one stands."""
        return self.timeline.moments[self.cursor]

    @property
    def completions(self) -> list[str]:
        """The functions that may be called here, with their parameters."""
        offered = self.turn.model.offered if self.turn.model else ()
        return [
            f"{name}({', '.join(f'{parameter.name}=' for parameter in parameters(tool))})"
            for name, tool in self.examined.prepared.template.tools.items()
            if name in offered
        ]

    @property
    def turn(self) -> TurnView:
        """The turn in which one stands."""
        return self.timeline.turns[self.moment.place.turn]

    @property
    def counterpart(self) -> Moment | None:
        """The recording's moment at the place where one stands in a branch."""
        first = self.timelines[0]
        if first.source is not Source.RECORDING or self.timeline.source is not Source.BRANCH:
            return None
        return first.moments[first.index(self.moment.place)]

    def move(self, by: int) -> None:
        """Go some moments on, or back, as far as there are any."""
        self.cursor = min(max(self.cursor + by, 0), len(self.timeline.moments) - 1)

    def move_turn(self, by: int) -> None:
        """Go to the start of the next turn, or back to the start of this one or the one before."""
        starts = [i for i, m in enumerate(self.timeline.moments) if m.place.kind == "start"]
        if by > 0:
            self.cursor = next((i for i in starts if i > self.cursor), self.cursor)
        else:
            self.cursor = next((i for i in reversed(starts) if i < self.cursor), self.cursor)

    def go_to_divergence(self) -> str:
        """Go to where the timeline left the ground truth first."""
        left = self.timeline.divergence
        if left is None:
            return f"The {self.timeline.name} does not leave the ground truth."
        self.cursor = self.timeline.index(Place.of(left))
        return ""

    def search(self, wanted: str) -> str:
        """Go to the next moment, from this one on, in whose texts or state changes a text is.

        No text stands for the one before.
        """
        if not wanted:
            return self.search_on(1)
        self.wanted = wanted
        return self._find(self.cursor, 1)

    def search_on(self, by: int) -> str:
        """Go to the next moment, or the last one before, in which the text is."""
        return self._find(self.cursor + by, by) if self.wanted else "Search for something first: /"

    def switch(self) -> None:
        """Show the next timeline, at the same place as far as it has it."""
        following = (self.timelines.index(self.timeline) + 1) % len(self.timelines)
        place, self.timeline = self.moment.place, self.timelines[following]
        self.cursor = self.timeline.index(place)

    def call(self, text: str, *, instead: bool = False) -> str:
        """Make a call here, in a branch; one that cannot be read is refused as a model's would be.

        Where it is to stand instead of the call here, no text leaves that out.
        """
        if instead and self.moment.traced is None:
            return "There is no call here to edit."
        if not text.strip() and not instead:
            return ""
        call = read_call(text) if text.strip() else None
        here = self.timeline, self.moment.place
        return self._branch(lambda name: with_call(*here, call, name, instead=instead))

    def slip(self, text: str) -> str:
        """Return why a text that was typed is no call; nothing where it is one, or is empty."""
        call = read_call(text) if text.strip() else None
        return str(call) if isinstance(call, MalformedCall) else ""

    def end_turn(self) -> str:
        """Make no more calls in this turn and go on to the next one, in a branch."""
        here = self.timeline, self.moment.place
        if self.moment.place.turn + 1 == len(self.timeline.turns):
            return "This is the last turn."
        return self._branch(lambda name: with_turn_ended(*here, name))

    def play_rest(self) -> str:
        """Make the calls in a branch that the timeline it left goes on with."""
        if not any(self.timeline.rest) and len(self.timeline.rest) == 1:
            return "There is nothing left to play; a branch begins with a call: e or c."
        cursor = self.cursor
        said = self._branch(lambda _: with_rest(self.timeline))
        self.cursor = cursor
        return said

    def drop(self) -> str:
        """Forget the branch and show the first timeline, where the branch left."""
        branch = self.timeline
        if branch.parted is None:
            return f"The {branch.name} is no branch."
        self.timelines.remove(branch)
        self.timeline = self.timelines[0]
        self.cursor = self.timeline.index(branch.parted)
        return f"Dropped {branch.name}."

    def _branch(self, make: Callable[[str], Timeline]) -> str:
        """Show a new branch, or a branch that goes on, at its last call."""
        name = f"branch {self._branches + 1}"
        try:
            branch = make(name)
        except BackendFault as fault:
            return str(fault)
        if branch.name == name:
            self._branches += 1
            self.timelines.append(branch)
        else:
            self.timelines[self.timelines.index(self.timeline)] = branch
        self.timeline, self.cursor = branch, len(branch.moments) - 2
        return ""

    def _find(self, start: int, by: int) -> str:
        """Go to the next moment of all, from a start on and around, that holds the wanted text."""
        wanted, count = self.wanted.casefold(), len(self.timeline.moments)
        for index in ((start + by * offset) % count for offset in range(count)):
            if any(wanted in text.casefold() for text in self._texts(index)):
                self.cursor = index
                return ""
            if index == 0 and wanted in str(self.timeline.moments[0].after.to_json()).casefold():
                self.cursor = index
                return f"{brief(self.wanted, 40)} is in the initial state: 2 shows it"
        return f"Nothing here has {brief(self.wanted, 40)}."

    def _texts(self, index: int) -> Iterator[str]:
        """Yield what there is to search at a moment: what is said, calls, results, the state."""
        moment = self.timeline.moments[index]
        turn = self.timeline.turns[moment.place.turn]
        if moment.traced is not None:
            yield str(moment.traced.call)
            yield moment.traced.result.observation
            yield from map(str, moment.changes)
        elif moment.place.kind == "start":
            yield from (message.content for message in turn.asked.messages)
            yield from turn.asked.offers
        else:
            yield turn.closing or ""


def _timelines(examined: ExaminedTurns) -> Iterator[Timeline]:
    if examined.recorded is not None and examined.model is not None and examined.model.turns:
        recording = "recording", Source.RECORDING
        yield Timeline(*recording, examined, examined.model, examined.profile)
    # What was held out is no matter to the ground truth, or to who tries something on it.
    everything = offering_all(examined.profile)
    yield Timeline("ground truth", Source.TRUTH, examined, examined.truth, everything)


def said(examined: ExaminedTurns) -> dict[tuple[int, int], StepWords]:
    """Return what was said in steps with calls, by the index of the turn and that of the step.

    Where a turn has not as many such steps as are on record, as under another profile than that of
    the run, it is left out.
    """
    if examined.recorded is None or examined.model is None:
        return {}
    by_turn = _by_turn(examined.recorded, examined.profile)
    return {
        (turn, step): what
        for turn, (played, found) in enumerate(zip(examined.model.turns, by_turn, strict=False))
        if len(played.steps) == len(found)
        for step, what in enumerate(found)
    }


def _by_turn(recorded: Recorded, profile: Profile) -> list[list[StepWords]]:
    turns = recorded.turns or ()
    if recorded.record.outcome is not None:
        steps = recorded.record.steps
        return [
            [
                _written(step.reply.text, step.reply.reasoning)
                for step in steps
                if step.turn == turn and step.calls
            ]
            for turn in range(len(turns))
        ]
    if recorded.mode == "fc":
        return []
    decoder = profile.replies.decoders[recorded.mode]
    return [
        [_written(str(step)) for step in steps if any(script_of([[step]], decoder, profile))]
        for steps in turns
    ]


def _written(text: str | None, reasoning: str | None = None) -> StepWords:
    # A text that is a list of calls and nothing else says nothing more than they do.
    said = (text or "").strip()
    return StepWords("" if said[:1] == "[" and said[-1:] == "]" else text or "", reasoning or "")
