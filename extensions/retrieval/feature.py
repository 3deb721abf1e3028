"""Retrieval in a run: a model is offered only the functions that retrieval finds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from extensions.retrieval.offering import Policy, Retrieval, RetrieveReference, ceiling
from runner.commands.options import option, switch
from runner.commands.shared import note
from runner.extension import JsonObject, RunFeature
from runner.records.codec import members_of, read
from runner.records.record import EpisodeRecord
from runner.records.run import Run
from trajectories.dataset import Dataset
from trajectories.errors import DataError


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RetrieveOptions:
    """Functions that are offered."""

    retrieve: str | None = option(
        "offer retrieved functions only, such as top=10",
        "POLICY",
    )
    pool: str | None = option(
        "functions to search: own, all or FILE",
        "NAME",
        needs="--retrieve",
    )
    retrieve_by: str | None = option(
        "ranking (default: default)",
        "METHOD",
        needs="--retrieve",
    )
    keep: bool = switch("keep offered functions in later turns (default)", needs="--retrieve")
    no_keep: bool = switch(
        "offer functions in their own turn only",
        needs="--retrieve",
        excludes=("--keep",),
    )

    @property
    def retrieval(self) -> Retrieval | None:
        """What retrieval is to do; None where nothing.

        Raises:
            DataError: The options contradict each other.
        """
        if self.retrieve is None:
            return None
        policy = Policy.named(self.retrieve)
        if self.no_keep and policy.how in ("search", "oracle"):
            raise DataError("--no-keep", f"does not go with {policy}")
        by = self.retrieve_by or "default"
        return Retrieval(policy, self.pool or "own", by, not self.no_keep)


@dataclass(frozen=True)
class RetrievalFeature(RunFeature):
    """Offers the functions that retrieval finds."""

    extension = "retrieval"
    flag = "--retrieve"
    is_offline = True
    retrieval: Retrieval
    reference: RetrieveReference | None = None
    """What was looked through; None before it has been."""

    def definition(self) -> JsonObject:
        """Return how functions were chosen, and of what."""
        assert self.reference is not None
        return {"retrieve": members_of(self.reference)}

    def narrowed(
        self, dataset: Dataset, ids: Sequence[str], folder: Path | None
    ) -> tuple[Dataset, RunFeature]:
        """Return a data set whose entries offer what is found.

        Raises:
            DataError: The pool or the ranking is missing, or no entry can be narrowed.
        """
        data, reference = self.retrieval.narrowed(dataset, ids, folder)
        left = len(ids) - len(data.offering or ())
        if left == len(ids):
            raise DataError("--retrieve", "these entries have one turn and functions of their own")
        if left:
            note(f"{left} entries of one turn keep the functions of their own")
        return data, replace(self, reference=reference)

    def restored_offers(
        self, run: Run, dataset: Dataset, notify: Callable[[str], object]
    ) -> Dataset:
        """Return a data set whose entries offer what retrieval chose in a run."""
        then = self.reference
        assert then is not None
        assert run.definition is not None
        own = run.definition.settings.function_docs == "own"
        ids = [id for id in run.ids if id in dataset.trajectories]
        found, now = self.retrieval.narrowed(dataset, ids, None if own else dataset.folder)
        if now != then:
            notify(f"{run.path}: the functions of the pool {then.pool} are not what they were")
        return found

    def lines(
        self, dataset: Dataset, ids: Sequence[str], records: Sequence[EpisodeRecord]
    ) -> Iterator[str]:
        """Yield what the offered functions allow, and how episodes ended where they suffice."""
        policy, pool, by = str(self.retrieval.policy), self.retrieval.pool, self.retrieval.by
        if policy.startswith("search"):
            yield f"retrieval {policy} of {pool}, ranked by {by}: the model looks itself"
            return
        found = ceiling(dataset, ids)
        chosen = "" if policy == "oracle" else f" of {pool}, ranked by {by}"
        yield f"retrieval {policy}{chosen}: {found.line()}"
        judged = [record for record in records if record.verdict is not None]
        for covered, words in ((True, "all that they need"), (False, "less than they need")):
            here = [record for record in judged if (record.id in found.covered) is covered]
            if here and dataset.offering:
                passed = sum(record.outcome == "passed" for record in here)
                yield f"  entries offered {words}: {passed} of {len(here)} episodes passed"


def recorded(definition: JsonObject, where: str) -> RetrievalFeature:
    """Return what a run retrieved.

    Raises:
        DataError: The definition does not say it.
    """
    reference = read(RetrieveReference, definition.get("retrieve"), where)
    return RetrievalFeature(Retrieval.of(reference), reference)
