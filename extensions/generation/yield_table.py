"""Table that shows how many instructions of each kind pass each filter and each check."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from extensions.generation.entries.filters import InstructionFilter
from extensions.generation.entries.instruction_kinds import InstructionKind
from runner.analysis.figure_lines import format_percent
from runner.show.terminal import table

RULES, AGREE, SOLVED, ALIGN, ERROR = "RULES", "AGREE", "SOLVED", "ALIGN", "ERROR"
"""Checks after the filters."""
MEANINGS: Mapping[str, str] = {
    InstructionFilter.FORM: "the answer is not a JSON object of the requested form",
    InstructionFilter.INVENTED: "the answer uses functions that were not shown to the writer",
    InstructionFilter.NAMED: "the text names a function",
    InstructionFilter.WORDS: "the text is too short",
    InstructionFilter.VALUES: "a call has a value of unknown origin (rule PROVENANCE)",
    InstructionFilter.ECHO: "the text reveals a value from a result",
    InstructionFilter.DUPLICATE: "the built-in data or this output has a similar request",
    InstructionFilter.LANGUAGE: "the text is not in English",
    InstructionFilter.LONG: "the text is too long",
    AGREE: "the searches found different calls",
    RULES: "`turnwise dataset validate` reports an error or a warning",
    SOLVED: "the solver, which knows only the text and the functions, never passes",
    ALIGN: "the judge model does not confirm that the calls serve the request",
    ERROR: "a request failed",
}


class LostAnswer(NamedTuple):
    """A refused answer or instruction."""

    by: str
    """Filter or check."""
    reason: str
    answer: str = ""


class YieldTable:
    """Counts of all tasks and answers, refused answers, lost tasks and kept tasks."""

    def __init__(self, kinds: Sequence[InstructionKind]) -> None:
        self.kinds = kinds
        self.refused: Counter[tuple[InstructionKind, str]] = Counter()
        self.lost: Counter[tuple[InstructionKind, str]] = Counter()
        self.tasks: Counter[InstructionKind] = Counter()
        self.answers: Counter[InstructionKind] = Counter()
        self.kept: Counter[InstructionKind] = Counter()

    def share(self, kind: InstructionKind | None = None) -> float | None:
        """Return the share of kept tasks (default: of all kinds); None if there are no tasks."""
        tasks, kept = (
            counter[kind] if kind else counter.total() for counter in (self.tasks, self.kept)
        )
        return kept / tasks if tasks else None

    def rows(self) -> Iterator[tuple[str, list[int]]]:
        """Yield the table's rows: the name of an outcome, and its count for each kind of entry."""
        yield "tasks", [self.tasks[kind] for kind in self.kinds]
        yield "answers", [self.answers[kind] for kind in self.kinds]
        for filter in InstructionFilter:
            yield f"refused: {filter}", [self.refused[kind, filter] for kind in self.kinds]
        yield (
            "tasks lost by filters",
            [sum(self.lost[k, f] for f in InstructionFilter) for k in self.kinds],
        )
        others = dict.fromkeys(name for _, name in self.lost if name not in [*InstructionFilter])
        order = (AGREE, RULES, SOLVED, ALIGN, ERROR)
        for name in sorted(others, key=lambda name: (order.index(name.split()[0]), name)):
            yield f"lost: {name}", [self.lost[kind, name] for kind in self.kinds]
        yield "kept", [self.kept[kind] for kind in self.kinds]

    def lines(self) -> Iterator[str]:
        """Yield the table."""
        rows = [["", *self.kinds, "all"]]
        rows += [[name, *map(str, counts), str(sum(counts))] for name, counts in self.rows()]
        shares = [self.share(kind) for kind in self.kinds]
        rows.append(["yield", *map(format_percent, [*shares, self.share()])])
        yield table(rows)

    def to_json(self) -> dict[str, Any]:
        """Return the yield table as JSON: for each kind, tasks, answers and kept entries."""
        return {
            kind: {
                "tasks": self.tasks[kind],
                "answers": self.answers[kind],
                "refused": {f.value: self.refused[kind, f] for f in InstructionFilter},
                "lost": {name: n for (k, name), n in sorted(self.lost.items()) if k is kind},
                "kept": self.kept[kind],
                "yield": self.share(kind),
            }
            for kind in self.kinds
        }
