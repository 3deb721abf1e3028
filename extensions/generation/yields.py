"""How many instructions passed what, by kind: the yield table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from extensions.generation.entries.filters import Filter
from extensions.generation.entries.kinds import InstructionKind
from runner.analysis.figure_lines import percent
from runner.show.terminal import table

RULES, AGREE, SOLVED, ALIGN, ERROR = "RULES", "AGREE", "SOLVED", "ALIGN", "ERROR"
"""What an instruction fails by that passed the filters."""
MEANINGS: Mapping[str, str] = {
    Filter.FORM: "the answer is no JSON object of the form that was asked for",
    Filter.INVENTED: "it goes by functions that the writer was not shown",
    Filter.NAMED: "the words name a function",
    Filter.WORDS: "the words are too few",
    Filter.VALUES: "a value of a call is told by nobody and nothing (rule PROVENANCE)",
    Filter.ECHO: "the words tell what only a result shows",
    Filter.DUPLICATE: "the same was asked before, in our data or in this output",
    Filter.LANGUAGE: "it is not in English",
    Filter.LONG: "the words are too many",
    AGREE: "searches found no calls that they agree on",
    RULES: "a rule of turnwise dataset validate finds something, a warning too",
    SOLVED: "the solver, who sees the words only, never passes",
    ALIGN: "the judge does not find that the calls do what is said",
    ERROR: "a request got no answer",
}


class Lost(NamedTuple):
    """One answer or instruction that was not kept."""

    by: str
    """A filter, or what else it failed by."""
    reason: str
    answer: str = ""


class Yields:
    """Counts what became of tasks.

    A rule for which a task was lost stands as ``RULES EXEC``.
    """

    def __init__(self, kinds: Sequence[InstructionKind]) -> None:
        self.kinds = kinds
        self.refused: Counter[tuple[InstructionKind, str]] = Counter()
        self.lost: Counter[tuple[InstructionKind, str]] = Counter()
        self.tasks: Counter[InstructionKind] = Counter()
        self.answers: Counter[InstructionKind] = Counter()
        self.kept: Counter[InstructionKind] = Counter()

    def share(self, kind: InstructionKind | None = None) -> float | None:
        """Return which share of tasks was kept; None where there was no task."""
        tasks, kept = self._sum(self.tasks, kind), self._sum(self.kept, kind)
        return kept / tasks if tasks else None

    def _sum(self, counter: Counter[InstructionKind], kind: InstructionKind | None) -> int:
        return counter[kind] if kind else sum(counter.values())

    def rows(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the counts by kind under their names, in the order in which things happen."""
        yield "tasks", [self.tasks[kind] for kind in self.kinds]
        yield "answers", [self.answers[kind] for kind in self.kinds]
        for filter in Filter:
            yield f"refused: {filter}", [self.refused[kind, filter] for kind in self.kinds]
        filtered = [sum(self.lost[k, f] for f in Filter) for k in self.kinds]
        yield "tasks lost by filters", filtered
        others = dict.fromkeys(name for _, name in self.lost if name not in [*Filter])
        order = (AGREE, RULES, SOLVED, ALIGN, ERROR)
        for name in sorted(others, key=lambda name: (order.index(name.split()[0]), name)):
            yield f"lost: {name}", [self.lost[kind, name] for kind in self.kinds]
        yield "kept", [self.kept[kind] for kind in self.kinds]

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        rows = [["", *self.kinds, "all"]]
        for name, counts in self.rows():
            rows.append([name, *map(str, counts), str(sum(counts))])
        shares = [self.share(kind) for kind in self.kinds]
        rows.append(["yield", *map(percent, [*shares, self.share()])])
        yield table(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the counts as a JSON object, by kind."""
        return {
            kind: {
                "tasks": self.tasks[kind],
                "answers": self.answers[kind],
                "refused": {f.value: self.refused[kind, f] for f in Filter},
                "lost": {name: n for (k, name), n in sorted(self.lost.items()) if k is kind},
                "kept": self.kept[kind],
                "yield": self.share(kind),
            }
            for kind in self.kinds
        }
