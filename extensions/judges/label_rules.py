"""Rules that derive labels, majorities and agreement from a judge model's observations.

A judge model reports observations of each turn. Different rules can derive different labels from
the same observations. The ending of a turn is read from the record, not from the observations.
Without a majority, the label is ``unsure``, not a random label.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import product
from statistics import mean, pstdev
from typing import Literal, NamedTuple, get_args

from checkers.statistics import share_interval
from extensions.judges.agreement import cohen_kappa, kappa_interval

Solvable = Literal["yes", "no", "unsure"]
Ended = Literal["answer", "give_up", "cut_off", "step_limit", "nothing"]
"""Event that ended a turn: an answer, a call that gives up, a cut-off answer or the step limit.

``nothing`` means that none of these events ended the turn.
"""
AnswerKind = Literal["solved", "partly", "refusal", "false_claim", "undeterminable"]
JudgeLabel = Literal["pass", "fail", "unsure"]
JudgingRules = Literal["paper", "toolbench", "stable", "fac"]
"""Rules that turn votes into labels."""

ANSWERED: frozenset[Ended] = frozenset({"answer", "give_up"})
"""A judge model votes on turns with these endings. All other turns fail."""
SCORES: Mapping[JudgeLabel, float] = {"pass": 1.0, "unsure": 0.5, "fail": 0.0}
USUAL_VOTES: Mapping[JudgingRules, int] = {"paper": 5, "toolbench": 5, "stable": 3, "fac": 3}
MIN_VOTES: Mapping[JudgingRules, int] = {"paper": 4, "toolbench": 4, "stable": 3, "fac": 3}


class TurnObservation(NamedTuple):
    """A judge model's report on one turn."""

    turn: int
    solvable: Solvable
    """Whether the offered functions can serve the request."""
    information: bool
    """Whether the results contained the needed information."""
    tried_all: bool
    """Whether the model tried all functions that could have helped."""
    answer: AnswerKind
    """Kind of the model's final answer; ``partly`` counts as not solved."""
    why: str = ""


def label_turn(
    observed: TurnObservation, ended: Ended, rules: JudgingRules = "paper"
) -> JudgeLabel:
    """Return the label of a turn."""
    return _TABLES[rules](observed, ended) if ended in ANSWERED else "fail"


def _apply_paper(observed: TurnObservation, ended: Ended) -> JudgeLabel:
    solvable, answer = observed.solvable, observed.answer
    if solvable == "unsure":
        return "pass" if answer == "solved" else "unsure"
    # A model that tried everything and found nothing may say so.
    excused = solvable == "no" or (observed.tried_all and not observed.information)
    if ended == "answer":
        if answer == "undeterminable":
            # The paper does not cover unsolvable requests here.
            return "unsure"
        if answer in ("solved", "false_claim"):
            # The paper does not cover false claims.
            return "pass" if answer == "solved" else "fail"
    return "pass" if excused else "fail"


def _apply_toolbench(observed: TurnObservation, ended: Ended) -> JudgeLabel:
    solvable, answer = observed.solvable, observed.answer
    if solvable == "unsure":
        return "pass" if answer == "solved" else "unsure"
    if solvable == "no":
        return "pass"
    return _apply_stable(observed, ended)


def _apply_stable(observed: TurnObservation, ended: Ended) -> JudgeLabel:
    return "fail" if ended == "give_up" else _label_answer(observed.answer)


def _apply_fac(observed: TurnObservation, ended: Ended) -> JudgeLabel:
    return "pass" if ended == "answer" and observed.answer == "solved" else "fail"


def _label_answer(answer: AnswerKind) -> JudgeLabel:
    if answer == "undeterminable":
        return "unsure"
    return "pass" if answer == "solved" else "fail"


_TABLES: Mapping[JudgingRules, Callable[[TurnObservation, Ended], JudgeLabel]] = {
    "paper": _apply_paper,
    "toolbench": _apply_toolbench,
    "stable": _apply_stable,
    "fac": _apply_fac,
}


def label_chat(observed: TurnObservation, ended: Ended) -> JudgeLabel:
    """Return the label of a chat entry; the label rates the relevance of the answer."""
    return _label_answer(observed.answer) if ended == "answer" else "fail"


def label_episode(labels: Iterable[JudgeLabel]) -> JudgeLabel:
    """Return the label of an episode: fail if a turn fails, pass if all turns pass."""
    found = set(labels)
    if "fail" in found:
        return "fail"
    return "unsure" if "unsure" in found else "pass"


Cast = Sequence[JudgeLabel | None]
"""Labels of the votes on an episode or turn, in order; None for an abstention."""


def find_majority(cast: Cast, votes: int) -> JudgeLabel:
    """Return the label with more than half of all votes; without one, return ``unsure``."""
    counts = Counter(cast)
    return next((label for label in SCORES if 2 * counts[label] > votes), "unsure")


def is_settled(cast: Cast, votes: int) -> bool:
    """Tell whether no further vote can change the majority."""
    return _is_final(cast, votes, ("pass", "fail"))


def _is_final(cast: Sequence[str | None], votes: int, winners: Iterable[str]) -> bool:
    counts, left = Counter(cast), votes - len(cast)
    if left <= 0 or any(2 * counts[winner] > votes for winner in winners):
        return True
    # A majority of "unsure" or "tie" has the same effect as no majority.
    return all(2 * (counts[winner] + left) <= votes for winner in winners)


class VoteRounds(NamedTuple):
    """Scores of voting rounds. Round 2, for example, uses the second vote on each episode."""

    rounds: int
    mean: float
    """Mean of the rounds' scores, each from 0 to 1."""
    deviation: float
    """Standard deviation of the rounds' scores."""


def summarize_rounds(cast: Sequence[Cast]) -> VoteRounds | None:
    """Summarize the complete rounds of votes; abstentions are ignored."""
    complete = min(map(len, cast), default=0)
    scores = []
    for number in range(complete):
        labels = [label for votes in cast if (label := votes[number]) is not None]
        if labels:
            scores.append(mean(SCORES[label] for label in labels))
    return VoteRounds(len(scores), mean(scores), pstdev(scores)) if scores else None


Criterion = Literal["richness", "facts", "reason", "milestones", "exploration", "repetition"]
CRITERIA: tuple[Criterion, ...] = get_args(Criterion)
"""Criteria for comparing two episodes; the first criterion in which they differ decides."""
IN_WORDS: tuple[Criterion, ...] = ("richness", "facts", "reason")
"""Criteria that need a judge model."""
Choice = Literal["first", "second", "equal"]
Preference = Literal["win", "tie", "lose"]
"""Result of the second run compared with the first run."""


class EpisodeMerits(NamedTuple):
    """Numbers that compare an episode with its ground truth."""

    milestones: int
    """Number of ground-truth calls that the model's calls match."""
    functions: int
    """Number of distinct offered functions with a successful call."""
    repeats: int
    """Number of calls that equal an earlier call of the same turn."""

    def against(self, other: EpisodeMerits) -> dict[Criterion, Choice]:
        """Compare this episode with another one by the three countable criteria.

        The result "first" means that this episode is better.
        """
        return {
            "milestones": _compare(self.milestones, other.milestones),
            "exploration": _compare(self.functions, other.functions),
            "repetition": _compare(other.repeats, self.repeats),
        }


def _compare(first: int, second: int) -> Choice:
    if first == second:
        return "equal"
    return "first" if first > second else "second"


def choose_better(choices: Mapping[Criterion, Choice]) -> Choice:
    """Return the better episode by the first criterion in which the episodes differ."""
    found = (choices.get(criterion, "equal") for criterion in CRITERIA)
    return next((choice for choice in found if choice != "equal"), "equal")


def combine_orders(a_first: Choice, b_first: Choice) -> Preference:
    """Return B's result: a win or a loss if both orders prefer the same episode, else a tie."""
    if (a_first, b_first) == ("second", "first"):
        return "win"
    return "lose" if (a_first, b_first) == ("first", "second") else "tie"


def find_preference(cast: Sequence[Preference | None], votes: int) -> Preference:
    """Return the preference that more than half of all votes give, or else a tie."""
    counts = Counter(cast)
    wins: tuple[Preference, ...] = ("win", "lose")
    return next((one for one in wins if 2 * counts[one] > votes), "tie")


def is_decided(cast: Sequence[Preference | None], votes: int) -> bool:
    """Tell whether no further vote can change the preference."""
    return _is_final(cast, votes, ("win", "lose"))


class Confusion(NamedTuple):
    """Confusion matrix of labels against verdicts."""

    right_pass: int = 0
    """Number of episodes with a passing verdict and the label ``pass``."""
    wrong_fail: int = 0
    passed_unsure: int = 0
    wrong_pass: int = 0
    """Number of episodes with a failing verdict and the label ``pass``."""
    right_fail: int = 0
    failed_unsure: int = 0

    @classmethod
    def of(cls, pairs: Iterable[tuple[JudgeLabel, bool]]) -> Confusion:
        """Count the pairs of label and verdict."""
        counts = Counter(pairs)
        order: tuple[JudgeLabel, ...] = ("pass", "fail", "unsure")
        return cls(*[counts[label, passed] for passed in (True, False) for label in order])

    @property
    def total(self) -> int:
        """Number of labels."""
        return sum(self)

    @property
    def passed(self) -> int:
        """Number of passed episodes."""
        return self.right_pass + self.wrong_fail + self.passed_unsure

    @property
    def failed(self) -> int:
        """Number of failed episodes."""
        return self.total - self.passed

    @property
    def shares(self) -> dict[str, tuple[int, int]]:
        """Numerator and denominator of each metric.

        The precision is the share of passed episodes among the episodes with the label ``pass``.
        """
        return {
            "agreement": (self.right_pass + self.right_fail, self.total),
            "precision": (self.right_pass, self.right_pass + self.wrong_pass),
            "recall": (self.right_pass, self.passed),
            "specificity": (self.right_fail, self.failed),
        }

    @property
    def agreement(self) -> float | None:
        """Share of right labels."""
        return _share(*self.shares["agreement"])

    @property
    def table(self) -> dict[tuple[JudgeLabel, JudgeLabel], int]:
        """Number of episodes for each combination of verdict and label."""
        verdicts: tuple[JudgeLabel, ...] = ("pass", "fail")
        labels: tuple[JudgeLabel, ...] = ("pass", "fail", "unsure")
        return dict(zip(product(verdicts, labels), self, strict=True))

    @property
    def kappa(self) -> float | None:
        """Cohen's kappa; the label ``unsure`` counts as a third class."""
        return cohen_kappa(self.table)


class AgreementFigures(NamedTuple):
    """A confusion matrix with metrics and their intervals."""

    confusion: Confusion
    figures: Mapping[str, float | None]
    intervals: Mapping[str, tuple[float, float] | None]
    """95% intervals."""
    clusters: int
    """Number of scenarios."""


class RatedLabel(NamedTuple):
    """Label of an episode with a known true result."""

    cluster: str
    """Scenario. Entries of the same scenario tend to pass or fail together."""
    label: JudgeLabel
    passed: bool


def measure_agreement(rated: Sequence[RatedLabel]) -> AgreementFigures:
    """Measure the agreement of labels with known results."""
    clusters: dict[str, list[tuple[JudgeLabel, bool]]] = {}
    for cluster, label, passed in rated:
        clusters.setdefault(cluster, []).append((label, passed))
    tables = [Confusion.of(pairs).shares for pairs in clusters.values()]
    whole = Confusion.of((label, passed) for _, label, passed in rated)
    figures = {name: _share(*counts) for name, counts in whole.shares.items()}
    known = {name: [each[name] for each in tables if each[name][1]] for name in figures}
    intervals = {name: share_interval(found) if found else None for name, found in known.items()}
    agreement, kappa = intervals["agreement"], whole.kappa
    between = kappa_interval(whole.table, agreement) if agreement and kappa is not None else None
    return AgreementFigures(
        whole, {**figures, "kappa": kappa}, {**intervals, "kappa": between}, len(clusters)
    )


def _share(count: int, total: int) -> float | None:
    return count / total if total else None
