"""Statistics of the built-in data, for the README of ``trajectories``.

``python -m tools.figures`` writes the statistics between two comments in the README. ``--check``
only tells whether the statistics are up to date.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median
from textwrap import wrap

from checkers.required_info import Date, Items, Number, Text, YesNo
from envs.calls import parse_call
from envs.registry import BACKENDS
from extensions.authoring.graph.graph import load
from extensions.authoring.graph.sampling import coverage, trace
from extensions.authoring.making.maker_helpers import start
from extensions.authoring.making.scenario_worlds import sizes
from extensions.authoring.review_lines import make_agreement_rows
from extensions.authoring.review_status import (
    EntryReviewStatus,
    ReviewOutcome,
    compute_agreements,
    compute_statuses,
    read_record,
    summary,
    tallies,
)
from tools import solutions
from trajectories.dataset import load_embedded
from trajectories.schema import MULTI_TURN, Category, DifficultyLabel, Tier, Trajectory

README = Path(__file__).parents[1] / "trajectories" / "README.md"
OPENING = "<!-- figures: written by python -m tools.figures -->"
CLOSING = "<!-- end of figures -->"
LARGE = 50
"""Minimum number of items in a large world."""
MANY = 3
"""A turn with at least this number of calls counts as a turn with many calls."""
_WIDTH = 112
"""Maximum number of characters in a line."""
_KINDS = {
    Number: "numbers",
    Text: "texts",
    Items: "lists",
    YesNo: "yes-or-no facts",
    Date: "dates",
}


def figures(trajectories: Sequence[Trajectory], entries: Sequence[EntryReviewStatus]) -> list[str]:
    """Return the statistics of a data set and of its reviews, as lines of Markdown.

    Statistics per scenario are computed from the trajectories of the category ``base``.
    """
    base = [t for t in trajectories if t.category is Category.BASE]
    pairs = Counter(pair for t in base for pair in combinations(_ordered(t), 2))
    used = functions_used(base)
    single = sum(len(t.environments) == 1 for t in base)
    return [
        *_by_category(trajectories),
        "",
        *_by_tier(trajectories),
        "",
        *_wrapped(_labelled(base)),
        "",
        *_wrapped(_sized(base)),
        "",
        f"{single} of the {len(base)} scenarios have one backend. The other "
        f"{len(base) - single} scenarios have two or more backends.",
        "",
        f"{len(pairs)} of {len(list(combinations(BACKENDS, 2)))} pairs of backends occur in "
        f"the scenarios. Each of these pairs occurs in {min(pairs.values(), default=0)} to "
        f"{max(pairs.values(), default=0)} scenarios.",
        "",
        *_wrapped(_told(base)),
        "",
        *_by_reader(entries),
        "",
        *_wrapped(solutions.summary(solutions.read_solutions())),
        "",
        *_wrapped(_connected(base)),
        "",
        f"The ground truth uses {len(used)} of {sum(len(b.TOOLS) for b in BACKENDS.values())} "
        f"functions. {sum(n >= 4 for n in used.values())} functions occur in four scenarios or "
        "more.",
        "The list shows the number of scenarios for each function:",
        "",
        "```text",
        *(
            line
            for name, backend in BACKENDS.items()
            for line in _wrapped(f"{name}: {_listed((t, used[t]) for t in backend.TOOLS)}", "  ")
        ),
        "```",
    ]


def functions_used(base: Sequence[Trajectory]) -> Counter[str]:
    """Count, for each function, the trajectories with this function in the ground truth."""
    return Counter(
        name
        for t in base
        for name in {parse_call(text).name for turn in t.turns for text in turn.ground_truth}
    )


def _by_tier(trajectories: Sequence[Trajectory]) -> list[str]:
    rows = [f"| tier | {' | '.join(MULTI_TURN)} | all |", f"|---|{'---|' * len(MULTI_TURN)}---|"]
    for tier in Tier:
        members = Counter(t.category for t in trajectories if t.tier is tier)
        counts = " | ".join(str(members[category]) for category in MULTI_TURN)
        rows.append(f"| {tier} | {counts} | {members.total()} |")
    return rows


def _labelled(base: Sequence[Trajectory]) -> str:
    """Return the number of scenarios with each label."""
    labels = Counter(label for t in base for label in t.labels)
    labelled = sum(t.tier is not Tier.PLAIN for t in base)
    counted = _listed((each, labels[each]) for each in DifficultyLabel)
    return f"Labels of the {labelled} hard and expert scenarios: {counted}."


def _sized(base: Sequence[Trajectory]) -> str:
    """Return lines on the sizes of worlds and turns."""
    items = [sum(sum(sizes(c).values()) for c in t.config.values()) for t in base]
    calls = [len(turn.ground_truth) for t in base for turn in t.turns]
    many = sum(count >= MANY for count in calls)
    large = sum(count >= LARGE for count in items)
    return (
        f"In {large} scenarios, the world has {LARGE} to {max(items)} items. In the other "
        f"{len(items) - large} scenarios, the median is "
        f"{median(count for count in items if count < LARGE):g} items. {many} of {len(calls)} "
        f"base turns ({many / len(calls):.0%}) have {MANY} calls or more. {calls.count(0)} base "
        "turns have no calls, because they ask about earlier results."
    )


def _connected(base: Sequence[Trajectory]) -> str:
    """Return a line with the number of edges of the function graph that ground truths use."""
    graph = load()
    covered = coverage(
        graph, (trace(start(t), [c for turn in t.turns for c in turn.ground_truth]) for t in base)
    )
    return (
        "An edge of the function graph connects two functions if a result of the first can be an "
        f"argument of the second. The ground truth uses {len(covered.edges)} of "
        f"{len(graph.edges)} edges."
    )


def _told(base: Sequence[Trajectory]) -> str:
    """Return a line on the amount of required information."""
    turns = [turn for t in base for turn in t.turns]
    facts = [fact for turn in turns for fact in turn.tells]
    kinds = Counter(type(fact) for fact in facts)
    replaced = sum(len({each.call for each in turn.accepts}) for turn in turns)
    return (
        f"{sum(bool(turn.tells) for turn in turns)} of {len(turns)} base turns ask for "
        f"information. These turns have {len(facts)} required facts: "
        f"{', '.join(f'{kinds[kind]} {name}' for kind, name in _KINDS.items())}. "
        f"The entries list {sum(len(turn.accepts) for turn in turns)} accepted alternatives for "
        f"{replaced} read calls."
    )


def _by_category(trajectories: Sequence[Trajectory]) -> list[str]:
    rows = ["| category | entries | turns | calls | turns: entries | calls: turns |"]
    rows.append("|---|---|---|---|---|---|")
    for category in MULTI_TURN:
        members = [t for t in trajectories if t.category is category]
        steps = [len(turn.ground_truth) for t in members for turn in t.turns]
        rows.append(
            f"| {category} | {len(members)} | {len(steps)} | {sum(steps)} "
            f"| {_histogram(len(t.turns) for t in members)} | {_histogram(steps, 4)} |"
        )
    return rows


def _by_reader(entries: Sequence[EntryReviewStatus]) -> list[str]:
    """Return lines on the outcomes of reviews and the current status of the entries."""
    outcomes = " | ".join(ReviewOutcome)
    rows = [f"| reviewer | category | reviewed | {outcomes} | not sound (95% interval) |"]
    rows.append("|---|---|---|---|---|---|---|")
    readings = [reading for standing in entries for reading in standing.readings]
    for tally in tallies(readings):
        counts = " | ".join(str(tally.found[opinion]) for opinion in ReviewOutcome)
        low, high = tally.interval
        rows.append(
            f"| {tally.reader} | {tally.category} | {tally.found.total()} | {counts} "
            f"| {tally.not_sound:.1%} ({low:.1%} to {high:.1%}) |"
        )
    heading, *agreed = make_agreement_rows(compute_agreements(readings))
    agreement = [f"| {' | '.join(cells)} |" for cells in (heading, ["---"] * len(heading), *agreed)]
    told = f"Review status of the entries: {summary(entries)}."
    told += (
        " The next table shows how often two reviewers gave the same outcome. Rows with "
        "`unchanged` cover the entries that did not change between the two reviews. Rows with "
        "`all common` cover all entries that both reviewers reviewed."
    )
    return [*rows, "", *_wrapped(told), "", *agreement]


def _histogram(values: Iterable[int], most: int = 7) -> str:
    """Return the count of each value, such as "1: 5, 2: 3, 7+: 2" for ``most`` = 7."""
    counts = Counter(min(value, most) for value in values)
    more = {most: f"{most}+"}
    return ", ".join(f"{more.get(value, value)}: {counts[value]}" for value in sorted(counts))


def _listed(counts: Iterable[tuple[str, int]]) -> str:
    return ", ".join(f"{name} {count}" for name, count in counts)


def _wrapped(text: str, indent: str = "") -> list[str]:
    return wrap(text, _WIDTH, subsequent_indent=indent, break_on_hyphens=False)


def _ordered(trajectory: Trajectory) -> list[str]:
    return [name for name in BACKENDS if name in trajectory.environments]


def written(text: str, lines: Sequence[str], opening: str = OPENING, closing: str = CLOSING) -> str:
    """Insert lines between two comments of a page, in place of the text between these comments.

    Raises:
        ValueError: A mark is missing.
    """
    before, _, rest = text.partition(f"{opening}\n")
    _, mark, after = rest.partition(f"\n{closing}")
    if not mark:
        raise ValueError(f"{opening} and {closing} must each be on a separate line")
    return "\n".join([f"{before}{opening}", "", *lines, "", f"{closing}{after}"])


def main(arguments: Sequence[str], path: Path = README) -> str | None:
    """Write the statistics, or compare the statistics with the page; return an error or None."""
    if list(arguments) not in ([], ["--check"]):
        return f"usage: python -m {__package__}.figures [--check]"
    dataset = load_embedded(list(MULTI_TURN))
    text = path.read_text(encoding="utf-8")
    try:
        entries = compute_statuses(dataset.trajectories, read_record())
        wanted = written(text, figures(list(dataset.trajectories.values()), entries))
    except ValueError as error:
        return f"{path}: {error}"
    if not arguments:
        path.write_text(wanted, encoding="utf-8")
        return None
    return None if text == wanted else f"{path.name}: run python -m {__package__}.figures"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
