"""Which facts a turn owed the model, and whether it has them: how `strict` judges reads.

A ground-truth call that changed the state is judged by the state. One that only read is owed for
what it tells: its **facts**, the members of its result with their values. The model has them if it
was shown an equal result, another answer that the entry accepts, or every fact by itself, and if
what it was shown still held. To see that, the ground truth's own call is made again at every moment
since, in a copy of the model's world.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from typing import Any

from checkers.evidence import MissingFact, ResultEvidence
from checkers.order import alike, missing_results
from checkers.scene import Given, Made, Point, Scene
from checkers.told import literals, stands_in
from checkers.verdict import TurnOutcome
from envs.calls import Call
from envs.results import Result
from envs.state import to_json

_HUGE = 1e300
_LARGE = 1000
"""From this size on a number is told from others by itself."""
_DIGITS = 3
"""So many digits has a broken number that is told from others by itself."""
_LONG = 4
"""So many characters has a text that is told from others by itself."""
_MOST_LEFT_OUT = 6
"""Up to so many changes of a turn are left out in all combinations."""

_START = Point(0, -1)

Path = tuple[str, ...]
Facts = Mapping[Path, Any]
"""Values by the names that lead to them."""


def missing_facts(
    truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], scene: Scene
) -> ResultEvidence | None:
    """Return what the model does not know at the end of a turn, None where it has it all.

    Args:
        truth: What the ground truth led to, up to the turn.
        model: What the model's calls led to, up to the turn.
        scene: Whatever else is to be known of the entry.
    """
    # Most turns end here.
    if not missing_results(truth[-1].results, model[-1].results):
        return None
    turn = len(truth) - 1
    left = _without_equal(truth[-1], model[-1])
    lacking = []
    for position in left:
        if not truth[-1].results[position].changed:
            need = _need(position, truth, model, scene)
            if not _is_met(need, turn, position, scene):
                lacking.append(need)
    if not lacking:
        undone = sorted(_undone(truth[-1], left, turn, scene))
        needs = [_need(position, truth, model, scene) for position in undone]
        lacking = [need for need in needs if not need.is_done()]
    texts = [need.result.text for need in lacking]
    facts = [fact for need in lacking for fact in need.lacking()]
    return ResultEvidence(tuple(texts), tuple(facts)) if texts else None


def _without_equal(truth: TurnOutcome, model: TurnOutcome) -> list[int]:
    """Return which results of the truth have no result of equal text for themselves.

    Results of equal calls go to each other before others of the same text do.
    """
    texts: dict[str, list[Made]] = {}
    for call, result in zip(model.calls, model.results, strict=True):
        texts.setdefault(result.text, []).append(call)
    left = []
    for position, (call, result) in enumerate(zip(truth.calls, truth.results, strict=True)):
        there = texts.get(result.text, [])
        if call in there:
            there.remove(call)
        else:
            left.append(position)
    unpaired = []
    for position in left:
        others = texts.get(truth.results[position].text)
        if others:
            others.pop()
        else:
            unpaired.append(position)
    return unpaired


def _undone(outcome: TurnOutcome, left: Sequence[int], turn: int, scene: Scene) -> set[int]:
    """Return the changes that the state at the end of the turn does not show.

    They may undo each other, so they are left out together, too.
    """
    changes = [position for position in left if outcome.results[position].changed]
    most = len(changes) if len(changes) <= _MOST_LEFT_OUT else 1
    found: set[int] = set()
    for size in range(1, most + 1):
        for some in combinations(changes, size):
            if found.isdisjoint(some) and scene.ends_alike(turn, frozenset(some)):
                found.update(some)
    return found


def _need(
    position: int, truth: Sequence[TurnOutcome], model: Sequence[TurnOutcome], scene: Scene
) -> _Need:
    call, result = truth[-1].calls[position], truth[-1].results[position]
    return _Need(call, result, position, truth, model, scene)


def _is_met(need: _Need, turn: int, position: int, scene: Scene) -> bool:
    """Tell whether the model has what a read gives, or all of what the entry accepts instead."""
    if need.is_met() and (need.is_done() or not scene.acts(turn, position)):
        return True
    return any(
        all(_Need(*given, position, need.truth, need.model, scene).is_met() for given in answers)
        for answers in scene.instead(turn, position)
    )


class _Need:
    """A result that the model should know, and was not shown as it is in the turn.

    Args:
        call: What gives it where the ground truth stands.
        result: The result.
        position: The ground truth's call in the turn.
        truth: What the ground truth led to, up to the turn.
        model: What the model's calls led to, up to the turn.
        scene: Whatever else is to be known of the entry.
    """

    def __init__(
        self,
        call: Made,
        result: Result,
        position: int,
        truth: Sequence[TurnOutcome],
        model: Sequence[TurnOutcome],
        scene: Scene,
    ) -> None:
        self.call = call
        self.result = result
        self.position = position
        self.truth = truth
        self.model = model
        self.scene = scene
        self.turn = len(truth) - 1
        self.backend = scene.backend(call)
        self.unordered = scene.unordered(self.backend)
        self._known: set[Path] = set()

    def is_met(self) -> bool:
        """Tell whether the model has the facts, by what it was shown or told that still holds."""
        # What it was never shown need not be asked for again to see whether it holds.
        return self._is_known(_START) and self._is_known(self.since)

    def is_done(self) -> bool:
        """Tell whether the model has made the same call; knowing what it gives is not enough."""
        return any(
            self._is_by_same_function(answer) and self._agrees(answer.result)
            for answer in self._shown(self.since)
        )

    def lacking(self) -> list[MissingFact]:
        """Return the facts that the model does not have, and which call gives them."""
        lack = [path for path in self.facts if path not in self._known] or list(self.facts)
        if not lack:
            return [MissingFact("", to_json(self.result.held), str(self.call))]
        return [MissingFact(".".join(p), to_json(self.facts[p]), str(self.call)) for p in lack]

    @cached_property
    def facts(self) -> Facts:
        """What the result tells; nothing where it is no object, or a refusal."""
        return _facts(self.result.held) if self.result.ok else {}

    @cached_property
    def since(self) -> Point:
        """From where on the call has given the result without a break; the end where it does not.

        The end of the turn counts, or its start, if the ground truth asks before it changes
        anything. What was changed is not asked for again.
        """
        earlier = list(zip(self.truth[-1].calls, self.truth[-1].results, strict=True))
        changed = any(
            result.changed and self.scene.backend(call) == self.backend
            for call, result in earlier[: self.position]
        )
        moments = self.scene.again(
            self.call, self.turn, self.position, self.model[: self.turn + changed]
        )
        since: Point | None = None
        for place, result in () if self.result.changed else moments:
            if not self._agrees(result):
                since = None
            elif since is None:
                since = place
        return since or Point(self.turn, len(self.model[self.turn].calls))

    def _is_known(self, since: Point) -> bool:
        """Tell whether the model has the facts, by what it was shown or told from a place on."""
        shown = self._shown(since)
        telling = _is_telling(self.result.held)
        for answer in shown:
            if self._agrees(answer.result) and (telling or self._is_about(answer)):
                return True
        if not self.facts:
            return False
        best = self._known = self._best(shown)
        said = "\n".join(
            map(self.scene.words, range(since.turn + (since.position >= 0), self.turn + 1))
        )
        return all(
            _is_telling(value)
            and (
                _is_said(value, said)
                or self._is_shown(path[-1], value, shown)
                or self._is_in_more(value, since)
            )
            for path, value in self.facts.items()
            if path not in best
        )

    def _shown(self, since: Point) -> list[Given]:
        """Return what the model was shown in this turn, and before it from a place on.

        What the same function says of something else is no answer, however much alike.
        """
        return [
            answer
            for answer in self._all_shown(since)
            if not self._is_by_same_function(answer) or self._is_about(answer)
        ]

    def _all_shown(self, since: Point) -> Iterator[Given]:
        for turn in range(min(since.turn, self.turn), self.turn + 1):
            for position, answer in enumerate(_answers(self.model[turn])):
                if turn == self.turn or (turn, position) >= since:
                    yield answer

    def _is_by_same_function(self, answer: Given) -> bool:
        return (
            isinstance(answer.call, Call)
            and isinstance(self.call, Call)
            and answer.call.name == self.call.name
        )

    def _best(self, shown: Sequence[Given]) -> set[Path]:
        """Return the facts that one object holds which was shown, the most that any does."""
        best: set[Path] = set()
        for answer in self._own(shown):
            for held in map(_facts, _objects(answer.result.held)):
                common = {path for path in self.facts if path in held and self._same(path, held)}
                if len(common) > len(best) and (
                    any(_is_telling(self.facts[path]) for path in common) or self._is_about(answer)
                ):
                    best = common
        return best

    @cached_property
    def _asked(self) -> set[str | float]:
        return {_plain(value) for value in self.scene.asks_about(self.call)}

    def _is_about(self, answer: Given) -> bool:
        """Tell whether an answer is about all that the call asks about."""
        if not self._asked:
            return True
        values = literals([self.scene.arguments(answer.call), answer.result.held])
        return self._asked <= {_plain(value) for value in values}

    def _agrees(self, result: Result) -> bool:
        return alike(self.result.held, result.held, self.unordered)

    def _same(self, path: Path, held: Facts) -> bool:
        return alike(self.facts[path], held[path], self.unordered, path[-1])

    def _own(self, shown: Iterable[Given]) -> Iterator[Given]:
        """Yield the answers of the backend that is asked, but for refusals."""
        for answer in shown:
            if answer.result.ok and self.scene.backend(answer.call) == self.backend:
                yield answer

    def _is_in_more(self, value: Any, since: Point) -> bool:
        """Tell whether a text stands, line by line, in a longer one about the same thing."""
        texts = {asked for asked in self._asked if isinstance(asked, str)}
        if not isinstance(value, str) or not texts:
            return False
        return any(
            f"\n{value}\n" in f"\n{longer}\n"
            for answer in self._own(self._all_shown(since))
            if texts <= {_plain(each) for each in literals(self.scene.arguments(answer.call))}
            for longer in literals(answer.result.held)
            if isinstance(longer, str)
        )

    def _is_shown(self, name: str, value: Any, shown: Sequence[Given]) -> bool:
        """Tell whether a value was shown under its name."""
        return any(
            path[-1] == name and value == theirs
            for answer in self._own(shown)
            for held in _objects(answer.result.held)
            for path, theirs in _facts(held).items()
        )


def _answers(outcome: TurnOutcome) -> Iterator[Given]:
    return map(Given, outcome.calls, outcome.results)


def _facts(value: Any, path: Path = ()) -> dict[Path, Any]:
    """Return the facts of a value: the members of its objects by name; a list is one fact."""
    if isinstance(value, Mapping) and value:
        return {
            place: fact
            for name, member in value.items()
            for place, fact in _facts(member, (*path, str(name))).items()
        }
    return {path: value} if path else {}


def _objects(value: Any) -> Iterator[Mapping[str, Any]]:
    """Yield the objects in a value, the outer ones first."""
    if isinstance(value, Mapping):
        yield value
        inside: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple)):
        inside = value
    else:
        return
    for member in inside:
        if isinstance(member, (dict, list, tuple)):
            yield from _objects(member)


def _is_telling(value: Any) -> bool:
    """Tell whether a value is hardly one of something else: a name, an id, a larger number."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        text = value.strip()
        return len(text) >= _LONG and any(char.isdigit() or char.isspace() for char in text)
    if isinstance(value, (int, float)):
        if not abs(value) < _HUGE:
            return False
        digits = sum(map(str.isdigit, f"{value:g}"))
        return abs(value) >= _LARGE or (value != int(value) and digits >= _DIGITS)
    if isinstance(value, Mapping):
        return any(map(_is_telling, value.values()))
    return isinstance(value, (list, tuple)) and any(map(_is_telling, value))


def _is_said(value: Any, words: str) -> bool:
    if isinstance(value, str):
        return value.casefold() in words.casefold()
    return isinstance(value, (int, float)) and stands_in(value, words)


def _plain(value: str | float) -> str | float:
    return value.casefold() if isinstance(value, str) else value
