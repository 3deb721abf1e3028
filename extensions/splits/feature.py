"""Run feature that selects the training entries or the held-out entries of a fold."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, get_args

from envs.errors import DataError
from extensions.splits.fold import Fold, FoldOptions, KindName, is_in_part
from runner.commands.common_options import note
from runner.commands.options import option
from runner.extension import JsonObject, RunFeature
from runner.records.json_codec import members_of
from trajectories.dataset import Dataset

PartName = Literal["test", "train"]
PARTS: tuple[PartName, ...] = get_args(PartName)
KINDS: tuple[KindName, ...] = get_args(KindName)
_MAX_SHOWN = 8


class SplitPart(NamedTuple):
    """Training or held-out part of a split."""

    part: PartName
    fold: Fold


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class PartOptions(FoldOptions):
    """Split of the data."""

    split: str | None = option(
        "run one part of a split, such as tool:test (kinds: instruction, tool, category; parts: "
        "test, train)",
        "KIND:PART",
    )

    @property
    def feature(self) -> SplitFeature | None:
        """Feature for the given split, or None. Raises DataError if the part is unknown."""
        if self.split is None:
            return None
        parts = {f"{kind}:{part}": (part, kind) for kind in KINDS for part in PARTS}
        if self.split not in parts:
            raise DataError("--split", f"{self.split!r:.80} must be one of {', '.join(parts)}")
        part, kind = parts[self.split]
        return SplitFeature(SplitPart(part, self.fold_of(kind)))


@dataclass(frozen=True)
class SplitFeature(RunFeature):
    """One part of a split."""

    extension = "splits"
    flag = "--split"
    is_offline = True
    split: SplitPart

    def definition(self) -> JsonObject:
        """Return the settings of the split: the part and the fold."""
        return members_of(self.split)

    def entries(self, dataset: Dataset) -> Dataset:
        """Return a data set with only the entries of the selected part of the split.

        Raises DataError if the selected part of the split has no entries.
        """
        (part, fold), everything = self.split, dataset.trajectories
        held, kind = fold.held_out([dataset]), fold.kind
        kept = {
            id: entry
            for id, entry in everything.items()
            if is_in_part(fold.keys(entry), held, training=part == "train")
        }
        name = f"{kind}:{part}, fold {fold.fold} of {fold.folds}"
        if not kept:
            raise DataError("--split", f"{name}: this part has no entries; choose another --fold")
        shown = [] if kind == "instruction" else sorted(held)[:_MAX_SHOWN]
        listed = f": {', '.join(shown)}{', ...' if len(held) > len(shown) else ''}" if shown else ""
        note(
            f"split {name}: {len(kept)} of {len(everything)} entries; {len(held)} held out{listed}"
        )
        return replace(dataset, trajectories=kept)
