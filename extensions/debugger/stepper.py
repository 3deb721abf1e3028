"""State of the debugger without its screen: timeline, position, search and branches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from checkers.profile import Profile, allow_all_functions
from envs.calls import read_call
from envs.errors import BackendFault, MalformedCall
from envs.state import cut_repr
from envs.tool import parameters
from extensions.debugger.timeline import CallOrigin, Timeline, with_call, with_rest, with_turn_ended
from runner.analysis.episode_view import EpisodeMoment, TurnView
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.episodes.script_playback import make_recorded_script as script_of
from runner.records.episode_record import RecordedEpisode


class StepText(NamedTuple):
    """Text and reasoning of a step that makes calls."""

    text: str
    reasoning: str = ""


class Stepper:
    """Position within the timelines of one entry. Each keyboard key has its own method.

    Each method returns a message for the status line. The message is empty if the effect of the key
    is visible on the screen. Without a recorded episode, the ground truth is the only timeline.
    """

    def __init__(self, examined: RejudgedMultiTurn) -> None:
        self.examined = examined
        self.said = said(examined)
        self.timelines = list(_timelines(examined))
        self.wanted = ""
        self._branches = 0
        self.timeline, self.cursor = self.timelines[0], 0

    @property
    def moment(self) -> EpisodeMoment:
        """Current moment."""
        return self.timeline.moments[self.cursor]

    @property
    def completions(self) -> list[str]:
        """Functions that can be called at this moment, with their parameters."""
        offered = self.turn.model.offered if self.turn.model else ()
        return [
            f"{name}({', '.join(f'{parameter.name}=' for parameter in parameters(tool))})"
            for name, tool in self.examined.prepared.template.tools.items()
            if name in offered
        ]

    @property
    def turn(self) -> TurnView:
        """Current turn."""
        return self.timeline.turns[self.moment.place.turn]

    @property
    def counterpart(self) -> EpisodeMoment | None:
        """Moment of the recording that corresponds to the current moment of a branch."""
        first = self.timelines[0]
        if (
            first.source is not CallOrigin.RECORDING
            or self.timeline.source is not CallOrigin.BRANCH
        ):
            return None
        return first.moments[first.index(self.moment.place)]

    def move(self, by: int) -> None:
        """Move by a number of moments, within the timeline."""
        self.cursor = min(max(self.cursor + by, 0), len(self.timeline.moments) - 1)

    def move_turn(self, by: int) -> None:
        """Go to the next or the previous start of a turn."""
        starts = [i for i, m in enumerate(self.timeline.moments) if m.place.kind == "start"]
        if by > 0:
            self.cursor = next((i for i in starts if i > self.cursor), self.cursor)
        else:
            self.cursor = next((i for i in reversed(starts) if i < self.cursor), self.cursor)

    def go_to_divergence(self) -> str:
        """Go to the first divergence of the timeline from the ground truth."""
        left = self.timeline.divergence
        if left is None:
            return f"The {self.timeline.name} does not diverge from the ground truth."
        self.cursor = self.timeline.index(left)
        return ""

    def search(self, wanted: str) -> str:
        """Go to the first match at or after this moment.

        An empty string repeats the last search.
        """
        if not wanted:
            return self.search_on(1)
        self.wanted = wanted
        return self._find(self.cursor, 1)

    def search_on(self, by: int) -> str:
        """Go to the next or previous match."""
        return self._find(self.cursor + by, by) if self.wanted else "Press / to search first."

    def switch(self) -> None:
        """Show the same place in the next timeline."""
        following = (self.timelines.index(self.timeline) + 1) % len(self.timelines)
        place, self.timeline = self.moment.place, self.timelines[following]
        self.cursor = self.timeline.index(place)

    def call(self, text: str, *, instead: bool = False) -> str:
        """Add a call in a new branch.

        If ``instead`` is true, the new call replaces the current call. An empty text then deletes
        the current call.
        """
        if instead and self.moment.traced is None:
            return "No call to edit; press j or k to select a call."
        if not text.strip() and not instead:
            return ""
        call = read_call(text) if text.strip() else None
        here = self.timeline, self.moment.place
        return self._branch(lambda name: with_call(*here, call, name, instead=instead))

    def slip(self, text: str) -> str:
        """Return the error in a call that the user typed, or an empty string."""
        call = read_call(text) if text.strip() else None
        return str(call) if isinstance(call, MalformedCall) else ""

    def end_turn(self) -> str:
        """End this turn in a branch and continue with the next turn."""
        here = self.timeline, self.moment.place
        if self.moment.place.turn + 1 == len(self.timeline.turns):
            return "The last turn cannot be ended early."
        return self._branch(lambda name: with_turn_ended(*here, name))

    def play_rest(self) -> str:
        """Extend the branch by the remaining calls of its original timeline."""
        if not any(self.timeline.rest) and len(self.timeline.rest) == 1:
            return "No calls are left; start a branch with e or c."
        cursor = self.cursor
        said = self._branch(lambda _: with_rest(self.timeline))
        self.cursor = cursor
        return said

    def drop(self) -> str:
        """Delete the branch and show the first timeline at the branching point."""
        branch = self.timeline
        if branch.parted is None:
            return f"The {branch.name} is not a branch; only branches can be deleted."
        self.timelines.remove(branch)
        self.timeline = self.timelines[0]
        self.cursor = self.timeline.index(branch.parted)
        return f"Deleted {branch.name}."

    def _branch(self, make: Callable[[str], Timeline]) -> str:
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
        wanted, count = self.wanted.casefold(), len(self.timeline.moments)
        for index in ((start + by * offset) % count for offset in range(count)):
            if any(wanted in text.casefold() for text in self._texts(index)):
                self.cursor = index
                return ""
            if index == 0 and wanted in str(self.timeline.moments[0].after.to_json()).casefold():
                self.cursor = index
                return f"{cut_repr(self.wanted, 40)} is in the initial state; press 2 to show it."
        return f"No match for {cut_repr(self.wanted, 40)}."

    def _texts(self, index: int) -> Iterator[str]:
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


def _timelines(examined: RejudgedMultiTurn) -> Iterator[Timeline]:
    if examined.recorded is not None and examined.model is not None and examined.model.turns:
        recording = "recording", CallOrigin.RECORDING
        yield Timeline(*recording, examined, examined.model, examined.profile)
    # The ground truth and its branches may also use functions that the entry holds back.
    everything = allow_all_functions(examined.profile)
    yield Timeline("ground truth", CallOrigin.TRUTH, examined, examined.truth, everything)


def said(examined: RejudgedMultiTurn) -> dict[tuple[int, int], StepText]:
    """Return the model's text for each step with calls, by turn index and step index.

    A turn is omitted if its replay and its record have different numbers of steps.
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


def _by_turn(recorded: RecordedEpisode, profile: Profile) -> list[list[StepText]]:
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
    decoder = profile.replies.decoder(recorded.mode)
    return [
        [_written(str(step)) for step in steps if any(script_of([[step]], decoder, profile))]
        for steps in turns
    ]


def _written(text: str | None, reasoning: str | None = None) -> StepText:
    # A text that only lists the calls adds nothing.
    said = (text or "").strip()
    return StepText("" if said[:1] == "[" and said[-1:] == "]" else text or "", reasoning or "")
