"""What models read of refused calls: ours in BFCL's wording beside BFCL's own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from checkers.profile import BFCL
from envs.calls import Call
from envs.long_context import LongContextPack
from runner.data.bfcl_wording import BfclWording, read_table
from runner.data.source_literals import load_texts
from runner.episodes.script_playback import make_recorded_script
from runner.records import bfcl_result_file
from tests.conformance.known import rewritten
from tests.conformance.sides import Script, play_on_bfcl
from tests.conformance.wording import Met, met, same
from trajectories.schema import Trajectory

FLOOR = 0.99
"""Least share of refused calls of which the model reads the same."""
_SHOWN = 200


class Reason(NamedTuple):
    """Why a text may differ."""

    id: str
    text: str
    explains: Callable[[Met], bool]


P1 = Reason(
    "P1",
    "an argument or a state of a wrong type, over which Python stumbles at another place",
    lambda met: True,
)
REASONS = (
    Reason(
        "N1",
        "a call inside a call is refused, which ends ours; BFCL goes on with the error as a value",
        lambda met: isinstance(met.call, Call) and met.call.nested,
    ),
    Reason(
        "S1",
        "text is left as it is; BFCL rewrites what looks like a call in it",
        lambda met: isinstance(met.call, Call) and rewritten(met.call),
    ),
    Reason(
        "V14",
        "the age of travellers is counted at a fixed date, not today",
        lambda met: "verify_traveler_information" in met.text,
    ),
    P1,
)
"""The first one that explains a difference counts."""


class Compared(NamedTuple):
    """How many texts are equal, and what explains the others."""

    equal: int
    total: int
    reasons: Mapping[str, int]
    examples: Sequence[str]


def compare(found: Iterable[Met], wording: BfclWording) -> Compared:
    """Compare what models read of refused calls, each right after it was made."""
    equal = total = 0
    reasons: Counter[str] = Counter()
    examples = []
    for each in found:
        total += 1
        shown = wording(each.session, each.call, each.result)
        ours = each.result.text if shown is None else shown
        if same(ours, each.expected):
            equal += 1
            continue
        reason = next(reason for reason in REASONS if reason.explains(each))
        reasons[reason.id] += 1
        if reason is P1:
            theirs = each.expected[:_SHOWN]
            examples.append(f"{each.text[:_SHOWN]}: expected {theirs}, got {ours[:_SHOWN]}")
    return Compared(equal, total, reasons, examples)


def run(
    python: Path, data: Path, pack: LongContextPack, scripts: Iterable[Script], what: str
) -> int:
    """Play scripts and print how many refusals read the same; return 1 below the floor."""
    wording = BfclWording(load_texts(data), read_table())
    found = (
        each
        for script, theirs in play_on_bfcl(python, scripts)
        if not theirs.problem
        for each in met(script, theirs, pack)
    )
    compared = compare(found, wording)
    share = compared.equal / compared.total if compared.total else 1.0
    print(
        f"observations {what}: {compared.equal} of {compared.total} refusals read as BFCL's,"
        f" {share:.2%} (at least {FLOOR:.0%})"
    )
    for reason in REASONS:
        if compared.reasons.get(reason.id):
            print(f"  known {reason.id}, {compared.reasons[reason.id]} times: {reason.text}")
    for example in compared.examples:
        print(f"    {example}")
    return int(share < FLOOR)


def recorded_scripts(folder: Path, trajectories: Iterable[Trajectory]) -> Iterator[Script]:
    """Yield the calls of recorded runs, each step as a turn of its own."""
    known = {trajectory.id: trajectory for trajectory in trajectories}
    for path in sorted(folder.rglob("*multi_turn*_result.json")):
        for entry in bfcl_result_file.read(path):
            trajectory = known.get(entry.id)
            if trajectory is None or entry.turns is None:
                continue
            turns = make_recorded_script(entry.turns, BFCL.replies.decoder(entry.mode), BFCL)
            yield Script(
                f"{path.parent.name}_{entry.id}",
                trajectory.config,
                list(trajectory.environments),
                trajectory.long_context is not None,
                [[str(call) for call in step] for turn in turns for step in turn],
            )
