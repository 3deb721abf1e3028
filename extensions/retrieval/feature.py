"""Feature of a run: the model is offered only retrieved functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from envs.errors import DataError
from extensions.retrieval.policy import (
    Retrieval,
    RetrievalPolicy,
    RetrievalSettings,
    measure_ceiling,
)
from extensions.retrieval.rankings import mask_ranking
from runner.commands.common_options import note
from runner.commands.options import option, switch
from runner.extension import JsonObject, RunFeature
from runner.records.episode_record import EpisodeRecord
from runner.records.json_codec import members_of, read
from runner.records.recorded_run import Run
from trajectories.dataset import Dataset


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class RetrieveOptions:
    """Retrieval of functions."""

    retrieve: str | None = option(
        "offer only retrieved functions: backends=N, top=N, top=N+needs, search=N or oracle",
        "POLICY",
    )
    pool: str | None = option("functions to search: own, all or FILE", "NAME", needs="--retrieve")
    retrieve_by: str | None = option(
        "ranking, see turnwise retrieve query --help (default: default)",
        "METHOD",
        needs="--retrieve",
    )
    keep: bool = switch("keep offered functions in later turns (default)", needs="--retrieve")
    no_keep: bool = switch(
        "offer retrieved functions only in the turn that retrieves them",
        needs="--retrieve",
        excludes=("--keep",),
    )

    @property
    def retrieval(self) -> Retrieval | None:
        """Retrieval settings; None without ``--retrieve``.

        Raises DataError if the options contradict each other.
        """
        if self.retrieve is None:
            return None
        policy = RetrievalPolicy.named(self.retrieve)
        if self.no_keep and policy.how in ("search", "oracle"):
            raise DataError("--no-keep", f"cannot be combined with {policy}; leave it out")
        by = self.retrieve_by or "default"
        return Retrieval(policy, self.pool or "own", by, not self.no_keep)


@dataclass(frozen=True)
class RetrievalFeature(RunFeature):
    """Retrieval of the offered functions."""

    extension = "retrieval"
    flag = "--retrieve"
    is_offline = True
    retrieval: Retrieval
    reference: RetrievalSettings | None = None
    """Settings of the last retrieval; None before the first one."""

    def definition(self) -> JsonObject:
        """Return the retrieval settings: policy, pool and ranking."""
        assert self.reference is not None
        return {"retrieve": members_of(self.reference)}

    def narrowed(
        self, dataset: Dataset, ids: Sequence[str], folder: Path | None
    ) -> tuple[Dataset, RunFeature]:
        """Return a data set that offers retrieved functions.

        Raises:
            DataError: The pool or ranking is missing, or all entries have their own functions.
        """
        data, reference = self.retrieval.narrowed(dataset, ids, folder)
        left = len(ids) - len(data.offering or ())
        if left == len(ids):
            why = "these single-turn entries have their own functions; choose other entries"
            raise DataError("--retrieve", why)
        if left:
            note(f"{left} single-turn entries keep their own functions")
        return data, replace(self, reference=reference)

    def restored_offers(
        self, run: Run, dataset: Dataset, notify: Callable[[str], object]
    ) -> Dataset:
        """Return a data set with the same offered functions as in a recorded run."""
        then = self.reference
        assert then is not None
        assert run.definition is not None
        own = run.definition.settings.function_docs == "own"
        ids = [id for id in run.ids if id in dataset.trajectories]
        found, now = self.retrieval.narrowed(dataset, ids, None if own else dataset.folder)
        if now != then:
            notify(f"{run.path}: the functions of the pool {then.pool} have changed since the run")
        return found

    def lines(
        self, dataset: Dataset, ids: Sequence[str], records: Sequence[EpisodeRecord]
    ) -> Iterator[str]:
        """Yield the coverage of the needed functions, and the pass rates."""
        policy, pool = str(self.retrieval.policy), self.retrieval.pool
        by = mask_ranking(self.retrieval.by)
        if policy.startswith("search"):
            way = "the model calls the search function"
            yield f"retrieval policy {policy}, corpus {pool}, ranking {by}: {way}"
            return
        found = measure_ceiling(dataset, ids)
        chosen = "" if policy == "oracle" else f", corpus {pool}, ranking {by}"
        yield f"retrieval policy {policy}{chosen}: {found.line()}"
        judged = [record for record in records if record.verdict is not None]
        for covered, words in ((True, "all needed"), (False, "not all needed")):
            here = [record for record in judged if (record.id in found.covered) is covered]
            if here and dataset.offering:
                passed = sum(record.outcome == "passed" for record in here)
                yield f"  entries with {words} functions: {passed} of {len(here)} episodes passed"


def recorded(definition: JsonObject, where: str) -> RetrievalFeature:
    """Return the retrieval feature of a recorded run.

    Raises DataError if the definition is invalid.
    """
    reference = read(RetrievalSettings, definition.get("retrieve"), where)
    return RetrievalFeature(Retrieval.of(reference), reference)
