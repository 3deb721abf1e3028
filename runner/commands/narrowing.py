"""What retrieval makes of the entries of ``turnwise eval``, and what is said of it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy import lazily
from runner.commands.eval_options import EvalOptions
from runner.commands.shared import note
from runner.records.record import EpisodeRecord, RetrieveReference
from trajectories.dataset import Dataset
from trajectories.errors import DataError
from trajectories.schema import Trajectory

if TYPE_CHECKING:
    from extensions.retrieval import offering
else:
    # Function documents take a while to load, and few runs retrieve.
    offering = lazily("extensions.retrieval.offering")


class Narrowed(NamedTuple):
    """Entries as they are asked, and by what their functions were chosen."""

    dataset: Dataset
    trajectories: Sequence[Trajectory]
    reference: RetrieveReference | None = None
    """None where nothing chose them."""

    def lines(self, records: Iterable[EpisodeRecord]) -> Iterator[str]:
        """Yield what the offered functions allow, and how episodes ended where they suffice."""
        if self.reference is None:
            return
        policy, pool, by, *_ = self.reference
        if policy.startswith("search"):
            yield f"retrieval {policy} of {pool}, ranked by {by}: the model looks itself"
            return
        found = offering.ceiling(self.dataset, [each.id for each in self.trajectories])
        chosen = "" if policy == "oracle" else f" of {pool}, ranked by {by}"
        yield f"retrieval {policy}{chosen}: {found.line()}"
        judged = [record for record in records if record.verdict is not None]
        for covered, words in ((True, "all that they need"), (False, "less than they need")):
            here = [record for record in judged if (record.id in found.covered) is covered]
            if here and self.dataset.offering:
                passed = sum(record.outcome == "passed" for record in here)
                yield f"  entries offered {words}: {passed} of {len(here)} episodes passed"


def narrowed(
    options: EvalOptions,
    dataset: Dataset,
    trajectories: Sequence[Trajectory],
    folder: Path | None,
) -> Narrowed:
    """Return entries that are offered what retrieval finds, where the user wants that.

    Args:
        options: The user's.
        dataset: What the entries are of.
        trajectories: Those that are wanted.
        folder: BFCL's data folder, where the model is shown its documents; None for ours.

    Raises:
        DataError: The options contradict each other, or something of them cannot be had.
    """
    retrieval = options.retrieval
    if retrieval is None:
        return Narrowed(dataset, [dataset.trajectories[each.id] for each in trajectories])
    if options.vary:
        raise DataError("--retrieve", "chooses functions, and so does --vary: leave one out")
    data, reference = retrieval.narrowed(dataset, [each.id for each in trajectories], folder)
    left = len(trajectories) - len(data.offering or ())
    if left == len(trajectories):
        raise DataError("--retrieve", "these entries have one turn and functions of their own")
    if left:
        note(f"{left} entries of one turn keep the functions of their own")
    return Narrowed(data, [data.trajectories[each.id] for each in trajectories], reference)
