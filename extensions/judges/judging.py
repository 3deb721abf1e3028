"""Labels out of what a judge observed: tables of rules, majorities, preferences, agreement.

A judge, which may be a model or a person, states what it saw of each turn. What that makes of the
turn is decided here, so that the same observations can be labelled under several rules. How a turn
ended is on record and never the judge's word. Nothing is drawn by lot: where votes do not settle
it, the label is ``unsure``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import mean, pstdev
from typing import Literal, NamedTuple, get_args

from checkers.statistics import kappa, percentiles, resamples, wilson

Solvable = Literal["yes", "no", "unsure"]
Ended = Literal["answer", "give_up", "cut_off", "step_limit", "nothing"]
"""How a turn ended: in words, given up by a function that says so, or without an answer."""
AnswerKind = Literal["solved", "partly", "refusal", "false_claim", "undeterminable"]
JudgeLabel = Literal["pass", "fail", "unsure"]
JudgingRules = Literal["paper", "toolbench", "stable", "fac"]
"""ToolLLM's rules as printed, as its code has them, StableToolBench's, and the answer alone."""

ENDINGS: tuple[Ended, ...] = get_args(Ended)
ANSWERED: frozenset[Ended] = frozenset({"answer", "give_up"})
"""Endings of which the judge has a say; all others fail."""
SCORES: Mapping[JudgeLabel, float] = {"pass": 1.0, "unsure": 0.5, "fail": 0.0}
"""What a label is worth where labels are summed up."""
USUAL_VOTES: Mapping[JudgingRules, int] = {"paper": 5, "toolbench": 5, "stable": 3, "fac": 3}
FEWEST_VOTES: Mapping[JudgingRules, int] = {"paper": 4, "toolbench": 4, "stable": 3, "fac": 3}


class Observed(NamedTuple):
    """What a judge states of one turn."""

    turn: int
    """Index of the turn."""
    solvable: Solvable
    """Whether what was asked can be done with the functions there are."""
    information: bool
    """Whether results held what was needed."""
    tried_all: bool
    """Whether all functions were tried that could have helped."""
    answer: AnswerKind
    """What the words at the end of the turn are; ``partly`` counts as not solved."""
    why: str = ""
    """The judge's reason, in one line."""


def decide(observed: Observed, ended: Ended, rules: JudgingRules = "paper") -> JudgeLabel:
    """Return the label of a turn."""
    if ended not in ANSWERED:
        return "fail"
    return _TABLES[rules](observed, ended)


def _paper(observed: Observed, ended: Ended) -> JudgeLabel:
    solvable, answer = observed.solvable, observed.answer
    if solvable == "unsure":
        return "pass" if answer == "solved" else "unsure"
    # Who tried all there is, and found nothing, may say so.
    excused = solvable == "no" or (observed.tried_all and not observed.information)
    if ended == "answer":
        if answer == "undeterminable":
            # Of what cannot be solved, the paper says nothing here.
            return "unsure"
        if answer in ("solved", "false_claim"):
            # Nor does it of claims that are false.
            return "pass" if answer == "solved" else "fail"
    return "pass" if excused else "fail"


def _toolbench(observed: Observed, ended: Ended) -> JudgeLabel:
    solvable, answer = observed.solvable, observed.answer
    if solvable == "unsure":
        return "pass" if answer == "solved" else "unsure"
    if solvable == "no":
        return "pass"
    if ended == "give_up":
        return "fail"
    return _of_answer(answer)


def _stable(observed: Observed, ended: Ended) -> JudgeLabel:
    return "fail" if ended == "give_up" else _of_answer(observed.answer)


def _fac(observed: Observed, ended: Ended) -> JudgeLabel:
    return "pass" if ended == "answer" and observed.answer == "solved" else "fail"


def _of_answer(answer: AnswerKind) -> JudgeLabel:
    if answer == "undeterminable":
        return "unsure"
    return "pass" if answer == "solved" else "fail"


_TABLES: Mapping[JudgingRules, Callable[[Observed, Ended], JudgeLabel]] = {
    "paper": _paper,
    "toolbench": _toolbench,
    "stable": _stable,
    "fac": _fac,
}


def relevance(observed: Observed, ended: Ended) -> JudgeLabel:
    """Return whether the words of a chat entry speak to what was said, under whatever rules.

    There nothing is to be called, so that to solve is to answer.
    """
    return _of_answer(observed.answer) if ended == "answer" else "fail"


def of_turns(labels: Iterable[JudgeLabel]) -> JudgeLabel:
    """Return the label of an episode: all turns pass, or one fails, or it is unsure."""
    found = set(labels)
    if "fail" in found:
        return "fail"
    return "unsure" if "unsure" in found else "pass"


Cast = Sequence[JudgeLabel | None]
"""The votes on one thing in the order in which they were drawn; None for an abstention."""


def majority(cast: Cast, votes: int) -> JudgeLabel:
    """Return the label that more than half of all votes have, else ``unsure``."""
    counts = Counter(cast)
    return next((label for label in SCORES if 2 * counts[label] > votes), "unsure")


def is_settled(cast: Cast, votes: int) -> bool:
    """Tell whether no further vote can change what ``majority`` says."""
    counts, left = Counter(cast), votes - len(cast)
    if left <= 0 or majority(cast, votes) != "unsure":
        return True
    return all(2 * (counts[label] + left) <= votes for label in ("pass", "fail"))


class Rounds(NamedTuple):
    """Votes as rounds: every first vote, every second vote, and so on."""

    rounds: int
    mean: float
    """Of the rounds' scores, each from 0 to 1."""
    deviation: float
    """Standard deviation of the rounds' scores, as peers print it behind a plus or minus."""


def rounds_of(cast: Sequence[Cast]) -> Rounds | None:
    """Return what the rounds come to that all things have; an abstention is in none."""
    complete = min(map(len, cast), default=0)
    scores = []
    for number in range(complete):
        labels = [label for votes in cast if (label := votes[number]) is not None]
        if labels:
            scores.append(mean(SCORES[label] for label in labels))
    return Rounds(len(scores), mean(scores), pstdev(scores)) if scores else None


Criterion = Literal["richness", "facts", "reason", "milestones", "exploration", "repetition"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
"""What makes one of two episodes the better one; the first of them that separates decides."""
IN_WORDS: tuple[Criterion, ...] = ("richness", "facts", "reason")
"""Those that only a judge can tell."""
Choice = Literal["first", "second", "equal"]
Preference = Literal["win", "tie", "lose"]
"""Of the second run against the first."""


class Merits(NamedTuple):
    """What is counted of an episode, where the ground truth is known."""

    milestones: int
    """Calls of the ground truth, or others to the same effect, that were made."""
    functions: int
    """Distinct offered functions that were called and gave a result."""
    repeats: int
    """Calls that were made before in the same turn, with the same arguments."""

    def against(self, other: Merits) -> dict[Criterion, Choice]:
        """Return which of two is better by each criterion that is counted, this being first."""
        return {
            "milestones": _more(self.milestones, other.milestones),
            "exploration": _more(self.functions, other.functions),
            "repetition": _more(other.repeats, self.repeats),
        }


def _more(first: int, second: int) -> Choice:
    if first == second:
        return "equal"
    return "first" if first > second else "second"


def chosen(choices: Mapping[Criterion, Choice]) -> Choice:
    """Return which of two is better, by the first criterion that separates them."""
    found = (choices.get(criterion, "equal") for criterion in CRITERIA)
    return next((choice for choice in found if choice != "equal"), "equal")


def both_orders(a_first: Choice, b_first: Choice) -> Preference:
    """Return what a vote of two requests says of B: it counts only where both agree.

    Args:
        a_first: Which was better with A shown first.
        b_first: Which was better with B shown first.
    """
    if (a_first, b_first) == ("second", "first"):
        return "win"
    return "lose" if (a_first, b_first) == ("first", "second") else "tie"


def preferred(cast: Sequence[Preference | None], votes: int) -> Preference:
    """Return what more than half of all votes say; a draw is a tie."""
    counts = Counter(cast)
    wins: tuple[Preference, ...] = ("win", "lose")
    return next((one for one in wins if 2 * counts[one] > votes), "tie")


def is_decided(cast: Sequence[Preference | None], votes: int) -> bool:
    """Tell whether no further vote can change what ``preferred`` says."""
    counts, left = Counter(cast), votes - len(cast)
    if left <= 0 or preferred(cast, votes) != "tie":
        return True
    return all(2 * (counts[one] + left) <= votes for one in ("win", "lose"))


class Confusion(NamedTuple):
    """Labels of a judge against what is known, as counts."""

    right_pass: int = 0
    """Passed, and labelled so."""
    wrong_fail: int = 0
    passed_unsure: int = 0
    wrong_pass: int = 0
    """Failed, and labelled as passed."""
    right_fail: int = 0
    failed_unsure: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[JudgeLabel, bool]]) -> Confusion:
        """Count labels with whether what they are of passed."""
        counts = Counter(pairs)
        order: tuple[JudgeLabel, ...] = ("pass", "fail", "unsure")
        return cls(*[counts[label, passed] for passed in (True, False) for label in order])

    @property
    def total(self) -> int:
        """How many there are."""
        return sum(self)

    @property
    def passed(self) -> int:
        """How many of them passed."""
        return self.right_pass + self.wrong_fail + self.passed_unsure

    @property
    def failed(self) -> int:
        """How many of them failed."""
        return self.total - self.passed

    @property
    def agreement(self) -> float | None:
        """Share in which the label is right; ``unsure`` never is."""
        return _share(self.right_pass + self.right_fail, self.total)

    @property
    def precision(self) -> float | None:
        """Of what was labelled as passed, the share that did."""
        return _share(self.right_pass, self.right_pass + self.wrong_pass)

    @property
    def recall(self) -> float | None:
        """Of what passed, the share that was labelled so."""
        return _share(self.right_pass, self.passed)

    @property
    def specificity(self) -> float | None:
        """Of what failed, the share that was labelled so."""
        return _share(self.right_fail, self.failed)

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; ``unsure`` is a class of its own, which only the judge has."""
        names = [(one, other) for other in ("pass", "fail") for one in ("pass", "fail", "unsure")]
        return kappa(dict(zip(names, self, strict=True)))


class Agreed(NamedTuple):
    """A confusion with its figures and their intervals."""

    confusion: Confusion
    figures: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float] | None]
    """95%, from resampling scenarios."""
    clusters: int
    """How many scenarios there are."""


class Rated(NamedTuple):
    """A label beside what is known."""

    cluster: str
    """The scenario: what came from one base entry passes or fails together."""
    label: JudgeLabel
    passed: bool


def agreed(rated: Sequence[Rated]) -> Agreed:
    """Return how far labels agree with what is known."""
    clusters: dict[str, list[tuple[JudgeLabel, bool]]] = {}
    for cluster, label, passed in rated:
        clusters.setdefault(cluster, []).append((label, passed))
    tables = [Confusion.of(pairs) for pairs in clusters.values()]
    whole = Confusion.of((label, passed) for _, label, passed in rated)
    drawn = [Confusion(*counts) for counts in resamples(tables)]
    return Agreed(
        whole,
        {name: figure(whole) for name, figure in _FIGURES.items()},
        {name: _interval(name, whole, drawn, len(clusters)) for name in _FIGURES},
        len(clusters),
    )


def _interval(
    name: str, whole: Confusion, drawn: Sequence[Confusion], clusters: int
) -> tuple[float, float] | None:
    figure = _FIGURES[name]
    # Of few scenarios the same is drawn again and again.
    values = {each: figure(each) for each in set(drawn)}
    found = percentiles([value for each in drawn if (value := values[each]) is not None])
    share = figure(whole)
    if found is None or share is None or found[0] < found[1] or name == "kappa":
        return found
    # Where all agree there is nothing to resample, and each scenario counts as one trial.
    return wilson(share * clusters, clusters)


_FIGURES: Mapping[str, Callable[[Confusion], float | None]] = {
    "agreement": lambda found: found.agreement,
    "precision": lambda found: found.precision,
    "recall": lambda found: found.recall,
    "specificity": lambda found: found.specificity,
    "kappa": lambda found: found.kappa,
}


def _share(count: int, total: int) -> float | None:
    return count / total if total else None
