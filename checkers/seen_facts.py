"""Rule of the `strict` profile for read calls: the model must have seen the needed facts.

**Facts** are the fields and values in the result of a ground-truth call that reads the state. Calls
that change the state are judged by the final state. The model knows the facts if it has seen the
same result, the result of an accepted alternative, or each fact separately. Outdated results do
not count. To find them, the checker repeats the call in copies of the model's later states.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import combinations
from math import isclose
from typing import TYPE_CHECKING, Any

from checkers.evidence import ResultEvidence, UnseenFact
from checkers.known_values import contains_value, list_literals
from checkers.unordered_comparison import is_alike, list_missing_results
from checkers.verdict import ExecutedTurn, Made, ObservedCall, PositionAfterCall
from envs.calls import Call
from envs.results import Result
from envs.state import to_json

if TYPE_CHECKING:
    from checkers.entry_queries import EntryQueries

_HUGE = 1e300
_LARGE = 1000
"""Larger numbers rarely occur twice by chance."""
_DIGITS = 3
"""Numbers with at least this many decimal places rarely occur twice by chance."""
_MIN_FACT_CHARS = 4
"""Strings of at least this length rarely occur twice by chance."""
_MAX_OMITTED = 6

_ROUNDING = 0.01
"""Maximum relative error of a rounded argument."""

_START = PositionAfterCall(0, -1)

Path = tuple[str, ...]
Facts = Mapping[Path, Any]


def find_missing_facts(
    truth: Sequence[ExecutedTurn], model: Sequence[ExecutedTurn], scene: EntryQueries
) -> ResultEvidence | None:
    """Return facts of the ground truth that the model has not seen."""
    expected, actual = truth[-1], model[-1]
    lacks = list_missing_results(expected.results, actual.results)
    if not lacks and expected.calls == actual.calls:  # the most common case
        return None
    turn = len(truth) - 1
    left = _list_unmatched(expected, actual, scene)
    lacking = []
    for position in left:
        # A result without facts, such as the result of "cd ..", affects only other results.
        if not expected.results[position].changed and expected.results[position].held != {}:
            need = _make_need(position, truth, model, scene)
            if not _is_met(need, turn, position, scene):
                lacking.append(need)
    if not lacking:
        undone = sorted(_list_undone(truth, left, scene))
        needs = [_make_need(position, truth, model, scene) for position in undone]
        lacking = [need for need in needs if not need.is_done()]
    texts = [need.result.text for need in lacking]
    facts = [fact for need in lacking for fact in need.lacking()]
    return ResultEvidence(tuple(texts), tuple(facts)) if texts else None


def _list_unmatched(truth: ExecutedTurn, model: ExecutedTurn, scene: EntryQueries) -> list[int]:
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
        call, result = truth.calls[position], truth.results[position]
        others = texts.get(result.text, [])
        # The state decides on changes.
        like = next((o for o in others if result.changed or _may_agree(call, o, scene)), None)
        if like is None:
            unpaired.append(position)
        else:
            others.remove(like)
    return unpaired


def _may_agree(call: Made, other: Made, scene: EntryQueries) -> bool:
    """Tell whether ``other`` can replace ``call``; the caller has compared their results."""
    if not (isinstance(call, Call) and isinstance(other, Call) and call.name == other.name):
        return True
    asked, given = scene.arguments(call), scene.arguments(other)
    asked = {name: value for name, value in asked.items() if name in given}
    return _covers(_fold_values(given), _fold_values(asked))


def _covers(given: Collection[str | float], asked: Collection[str | float]) -> bool:
    """Tell whether ``given`` contains all values of ``asked``, exact or rounded."""
    return all(not v or v in given or any(_is_rounded(v, other) for other in given) for v in asked)


def _is_rounded(exact: str | float, value: str | float) -> bool:
    if isinstance(exact, str) or isinstance(value, str):
        return False
    try:
        places = len(f"{value:.12g}".partition(".")[2])
        return isclose(exact, value, rel_tol=_ROUNDING) and round(exact, places) == value
    except OverflowError:  # an integer beyond the range of float
        return False


def _list_undone(
    truth: Sequence[ExecutedTurn], left: Sequence[int], scene: EntryQueries
) -> set[int]:
    changes = [position for position in left if truth[-1].results[position].changed]
    most = len(changes) if len(changes) <= _MAX_OMITTED else 1
    found: set[int] = set()
    for size in range(1, most + 1):
        for some in combinations(changes, size):
            if found.isdisjoint(some) and scene.ends_alike(truth, frozenset(some)):
                found.update(some)
    return found


def _make_need(
    position: int, truth: Sequence[ExecutedTurn], model: Sequence[ExecutedTurn], scene: EntryQueries
) -> _RequiredResult:
    call, result = truth[-1].calls[position], truth[-1].results[position]
    return _RequiredResult(call, result, position, truth, model, scene)


def _is_met(need: _RequiredResult, turn: int, position: int, scene: EntryQueries) -> bool:
    if need.is_met() and (need.is_done() or not scene.acts(turn, position)):
        return True
    return any(
        all(
            _RequiredResult(*given, position, need.truth, need.model, scene).is_met()
            for given in answers
        )
        for answers in scene.instead(turn, position)
    )


class _RequiredResult:
    """Required result that the model has not seen in the current turn."""

    def __init__(
        self,
        call: Made,
        result: Result,
        position: int,
        truth: Sequence[ExecutedTurn],
        model: Sequence[ExecutedTurn],
        scene: EntryQueries,
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
        """Tell whether the model has seen the facts in results or messages that are still valid."""
        # If the facts were never shown, no test of their validity is needed.
        return self._is_known(_START) and self._is_known(self.since)

    def is_done(self) -> bool:
        return any(
            self._is_by_same_function(answer) and self._agrees(answer.result)
            for answer in self._shown(self.since)
        )

    def lacking(self) -> list[UnseenFact]:
        lack = [path for path in self.facts if path not in self._known] or list(self.facts)
        if not lack:
            return [UnseenFact("", to_json(self.result.held), str(self.call))]
        return [UnseenFact(".".join(p), to_json(self.facts[p]), str(self.call)) for p in lack]

    @cached_property
    def facts(self) -> Facts:
        return _collect_facts(self.result.held) if self.result.ok else {}

    @cached_property
    def since(self) -> PositionAfterCall:
        """First position after which the result stays the same.

        If no position is found, the end of the turn is used.
        """
        for end in () if self.result.changed else (self.turn, self.turn + 1):
            since: PositionAfterCall | None = None
            moments = self.scene.again(self.call, self.turn, self.position, self.model[:end])
            for place, result in moments:
                if not self._agrees(result):
                    since = None
                elif since is None:
                    since = place
            if since is not None:
                return since
        return PositionAfterCall(self.turn, len(self.model[self.turn].calls))

    def _is_known(self, since: PositionAfterCall) -> bool:
        """Tell whether results or messages after a position contain the facts."""
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
            self._is_in_more(value, since)
            or (
                _is_telling(value)
                and (_is_said(value, said) or self._is_shown(path[-1], value, shown))
            )
            for path, value in self.facts.items()
            if path not in best
        )

    def _shown(self, since: PositionAfterCall) -> list[ObservedCall]:
        """Return all results of this turn, and the earlier results from position ``since`` on."""
        return [
            answer
            for answer in self._all_shown(since)
            if not self._is_by_same_function(answer) or self._is_about(answer)
        ]

    def _all_shown(self, since: PositionAfterCall) -> Iterator[ObservedCall]:
        for turn in range(min(since.turn, self.turn), self.turn + 1):
            outcome = self.model[turn]
            answers = map(ObservedCall, outcome.calls, outcome.results)
            for position, answer in enumerate(answers):
                if turn == self.turn or (turn, position) >= since:
                    yield answer

    def _is_by_same_function(self, answer: ObservedCall) -> bool:
        return (
            isinstance(answer.call, Call)
            and isinstance(self.call, Call)
            and answer.call.name == self.call.name
        )

    def _best(self, shown: Sequence[ObservedCall]) -> set[Path]:
        best: set[Path] = set()
        for answer in self._own(shown):
            for held in map(_collect_facts, _list_objects(answer.result.held)):
                common = {path for path in self.facts if path in held and self._same(path, held)}
                if len(common) > len(best) and (
                    any(_is_telling(self.facts[path]) for path in common) or self._is_about(answer)
                ):
                    best = common
        return best

    @cached_property
    def _asked(self) -> set[str | float]:
        asked = _fold_values(self.scene.asks_about(self.call))
        found = [value for value in self.facts.values() if isinstance(value, (list, tuple))]
        # A word of a search, which all found lines contain, is not a subject.
        lines = [str(line).casefold() for line in (found or [()])[0]] or [""]
        return {value for value in asked if not all(str(value) in line for line in lines)}

    def _is_about(self, answer: ObservedCall) -> bool:
        if not self._asked:
            return True
        given = _fold_values([self.scene.arguments(answer.call), answer.result.held])
        return _covers(given, self._asked)

    def _agrees(self, result: Result) -> bool:
        return is_alike(self.result.held, result.held, self.unordered)

    def _same(self, path: Path, held: Facts) -> bool:
        return is_alike(self.facts[path], held[path], self.unordered, path[-1])

    def _own(self, shown: Iterable[ObservedCall]) -> Iterator[ObservedCall]:
        for answer in shown:
            if answer.result.ok and self.scene.backend(answer.call) == self.backend:
                yield answer

    def _is_in_more(self, value: Any, since: PositionAfterCall) -> bool:
        """Tell whether a longer result contains the lines of ``value``."""
        texts = {asked for asked in self._asked if isinstance(asked, str)}
        if not isinstance(value, str) or not texts:
            return False
        return any(
            f"\n{value}\n" in f"\n{longer}\n"
            for answer in self._own(self._all_shown(since))
            if texts <= _fold_values(self.scene.arguments(answer.call))
            for longer in list_literals(answer.result.held)
            if isinstance(longer, str)
        )

    def _is_shown(self, name: str, value: Any, shown: Sequence[ObservedCall]) -> bool:
        return any(
            path[-1] == name and value == theirs
            for answer in self._own(shown)
            for held in _list_objects(answer.result.held)
            for path, theirs in _collect_facts(held).items()
        )


def _collect_facts(value: Any, path: Path = ()) -> dict[Path, Any]:
    if isinstance(value, Mapping) and value:
        return {
            place: fact
            for name, member in value.items()
            for place, fact in _collect_facts(member, (*path, str(name))).items()
        }
    return {path: value} if path else {}


def _list_objects(value: Any) -> Iterator[Mapping[str, Any]]:
    if isinstance(value, Mapping):
        yield value
        inside: Iterable[Any] = value.values()
    elif isinstance(value, (list, tuple)):
        inside = value
    else:
        return
    for member in inside:
        if isinstance(member, (dict, list, tuple)):
            yield from _list_objects(member)


def _is_telling(value: Any) -> bool:
    """Tell whether a value rarely occurs by chance, such as an id or a large number."""
    if isinstance(value, bool) or value is None:
        return False
    if isinstance(value, str):
        text = value.strip()
        return len(text) >= _MIN_FACT_CHARS and any(
            char.isdigit() or char.isspace() for char in text
        )
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
    return isinstance(value, (int, float)) and contains_value(value, words)


def _fold_values(value: Any) -> set[str | float]:
    """Return all strings and numbers in a value. The strings are converted to lower case."""
    return {v.casefold() if isinstance(v, str) else v for v in list_literals(value)}
