"""Compares Turnwise with BFCL as a black box: ``python -m tests.conformance --bfcl-python PATH``.

Eleven parts: ground truth, random call scripts, decoding of replies, replies in formats of their
own, verdicts on recorded runs, single turns, the table of scores, what models read of refused
calls, whole requests, the retired sets, and tau2's recorded material. Every difference that is not
a known one is a line of its own; the exit status is 1 if there is any.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

from envs.long_context import LongContextPack
from envs.registry import BACKENDS
from tests.conformance import (
    handlers,
    observations,
    prompts,
    requests,
    retired,
    single_turn,
    table,
    tau2,
    vllm_parsers,
)
from tests.conformance.compare import Tally
from tests.conformance.diagnoses import (
    AGREED,
    agreement,
    found_causes,
    named,
    read_causes,
    readings_of,
)
from tests.conformance.generator import Generator
from tests.conformance.known import KNOWN, failed
from tests.conformance.recorded import our_verdicts, verdicts_of
from tests.conformance.replies import decoded_by_bfcl, decoded_by_turnwise, random_replies, same
from tests.conformance.sides import Reply, Script, data_folder, play_on_bfcl, play_on_turnwise
from trajectories.bfcl_reader import load, load_pack
from trajectories.schema import MULTI_TURN, Category, Trajectory

REPLIES = 20_000
"""How many random replies are decoded."""
PARTS = (
    "ground-truth",
    "random",
    "decoding",
    "handlers",
    "prompts",
    "recorded",
    "single-turn",
    "table",
    "observations",
    "requests",
    "retired",
    "vllm",
    "tau2",
)


def main() -> int:
    """Run the parts that are asked for; return the exit status."""
    options = _options()
    data = data_folder(options.bfcl_python)
    pack = load_pack(data)
    trajectories = {category: list(load(data, category)) for category in MULTI_TURN}
    differences = 0
    if options.only in (None, "ground-truth"):
        for category, entries in trajectories.items():
            differences += ground_truth(options.bfcl_python, category, entries, pack)
    if options.only in (None, "random"):
        entries = [entry for category in trajectories.values() for entry in category]
        scripts = Generator(entries, pack, options.seed).scripts(options.scripts)
        differences += random_scripts(options.bfcl_python, scripts, pack)
    if options.only in (None, "decoding"):
        differences += decoding(options.bfcl_python, options.seed)
    if options.only == "recorded" or (options.only is None and options.recorded):
        differences += recorded(options.recorded, data)
    if options.only in (None, "single-turn"):
        differences += single_turn.run(options.bfcl_python, data, options.recorded, options.seed)
    if options.only in (None, "table"):
        differences += table.run(options.bfcl_python, options.seed)
    if options.only in (None, "handlers"):
        differences += handlers.run(options.bfcl_python, options.seed)
    if options.only in (None, "prompts"):
        differences += prompts.run(options.bfcl_python, options.seed)
    if options.only in (None, "observations"):
        entries = [entry for category in trajectories.values() for entry in category]
        differences += read_of_refusals(options, data, entries, pack)
    if options.only == "requests" or (options.only is None and options.bfcl):
        differences += requests.run(options.bfcl)
    if options.only in (None, "retired"):
        differences += retired.run(data)
    if options.only == "vllm" or (options.only is None and options.vllm_python):
        differences += vllm_parsers.run(options.vllm_python, options.seed)
    if options.recorded and options.only in (None, "tau2"):
        for folder in sorted(each.parent for each in options.recorded.rglob("retail/tools.json")):
            differences += tau2.run(folder.parent)
    return 1 if differences else 0


def read_of_refusals(
    options: argparse.Namespace, data: Path, entries: Sequence[Trajectory], pack: LongContextPack
) -> int:
    """Compare what models read of refused calls; return how many floors are not reached."""
    python = options.bfcl_python
    scripts = Generator(entries, pack, options.seed).scripts(options.scripts)
    below = observations.run(python, data, pack, scripts, "random")
    if options.recorded:
        for run in sorted(path for path in options.recorded.iterdir() if path.is_dir()):
            scripts = observations.recorded_scripts(run, entries)
            below += observations.run(python, data, pack, scripts, run.name)
    return below


def ground_truth(
    python: Path, category: Category, entries: Sequence[Trajectory], pack: LongContextPack
) -> int:
    """Compare one category's ground truth; return the number of differences."""
    tally = Tally()
    failing = 0
    for script, theirs in play_on_bfcl(python, map(_script, entries)):
        tally.compare(script, theirs, play_on_turnwise(script, pack))
        failing += _fails_somewhere(theirs)
    _show_findings(tally)
    equal = len(entries) - len(tally.findings)
    note = f"; {failing} contain calls that fail in BFCL" if failing else ""
    print(
        f"ground truth {category}: {equal} of {len(entries)} entries equal,"
        f" {tally.calls} calls{note}"
    )
    _show_known(tally)
    return len(tally.findings)


def random_scripts(python: Path, scripts: Iterable[Script], pack: LongContextPack) -> int:
    """Compare random scripts; return the number of differences."""
    tally = Tally()
    equal = played = 0
    for script, theirs in play_on_bfcl(python, scripts):
        played += 1
        equal += tally.compare(script, theirs, play_on_turnwise(script, pack))
    _show_findings(tally)
    print(f"random: {equal} of {played} scripts equal, {tally.calls} calls")
    _show_known(tally)
    _show_coverage(tally)
    return len(tally.findings)


def decoding(python: Path, seed: int) -> int:
    """Compare how random replies are decoded; return the number of differences."""
    replies = list(random_replies(seed, REPLIES))
    differences = 0
    outcomes: Counter[str] = Counter()
    for reply, theirs in zip(replies, decoded_by_bfcl(python, replies), strict=True):
        outcomes["fail" if theirs is None else "give calls" if theirs else "give nothing"] += 1
        ours = decoded_by_turnwise(reply)
        if not same(theirs, ours):
            differences += 1
            print(f"DIFFERENT reply {reply!r}: expected {theirs}, got {ours}")
    what = ", ".join(f"{number} {outcome}" for outcome, number in sorted(outcomes.items()))
    print(f"decoding: {REPLIES - differences} of {REPLIES} replies equal; {what}")
    return differences


def recorded(folder: Path, data: Path) -> int:
    """Compare verdicts on recorded runs; return the number of differences."""
    differences = 0
    for run in sorted(path.parent for path in folder.rglob("verdicts.jsonl")):
        files = sorted(run.glob("*multi_turn*_result.json"))
        if files:
            differences += _recorded_run(run, files, data)
    return differences


def _recorded_run(run: Path, files: Sequence[Path], data: Path) -> int:
    expected = verdicts_of(run / "verdicts.jsonl")
    actual = our_verdicts(files, data)
    different = [id for id in expected | actual if expected.get(id) != actual.get(id)]
    for id in different:
        print(f"DIFFERENT {run.name} {id}: expected {expected.get(id)}, got {actual.get(id)}")
    equal = len(expected) - len(different)
    print(f"recorded {run.name}: {equal} of {len(expected)} verdicts and error types equal")
    return len(different) + _causes(run, data)


def _causes(run: Path, data: Path) -> int:
    """Compare causes with what people read; return the number of differences that should not be."""
    read, readings = read_causes(run), readings_of(run)
    found = found_causes(run, data, [*read, *(each.id for each in readings)])
    misread = [id for id in read if found[id] is None or found[id].cause is not read[id]]
    for id in misread:
        print(f"DIFFERENT {run.name} {id}: read as {read[id]}, diagnosed as {named(found[id])}")
    print(
        f"recorded {run.name}: {len(read) - len(misread)} of {len(read)} causes as a person reads"
    )
    counts = list(agreement(readings, found))
    for number, of, agreed in counts:
        print(f"  reading {number}: {agreed} of {of} causes and sub-reasons as read")
    if sum(agreed for *_, agreed in counts) < AGREED * len(readings):
        print(f"DIFFERENT {run.name}: less than {AGREED:.0%} of the readings' causes")
        return len(misread) + 1
    return len(misread)


def _show_findings(tally: Tally) -> None:
    for finding in tally.findings:
        print(f"DIFFERENT {finding}")


def _show_known(tally: Tally) -> None:
    for known in KNOWN:
        if tally.known[known.id]:
            print(f"  known {known.id}, {tally.known[known.id]} times: {known.reason}")


def _show_coverage(tally: Tally) -> None:
    """Show which functions the random scripts have reached, and which outcome they lack."""
    for name, backend in BACKENDS.items():
        counts = [
            f"{function} {tally.done[function]}/{tally.refused[function]}"
            for function in backend.TOOLS
        ]
        print(f"  {name} (done/refused): {', '.join(counts)}")
    tools = [function for backend in BACKENDS.values() for function in backend.TOOLS]
    for outcome, counter in (("done", tally.done), ("refused", tally.refused)):
        lacking = [function for function in tools if not counter[function]]
        print(f"  never {outcome}: {', '.join(lacking) or 'none'} of {len(tools)} functions")


def _script(entry: Trajectory) -> Script:
    return Script(
        id=entry.id,
        initial_config=entry.config,
        involved_classes=list(entry.environments),
        long_context=entry.long_context is not None,
        turns=[list(turn.ground_truth) for turn in entry.turns],
    )


def _fails_somewhere(reply: Reply) -> bool:
    return any(failed(result) for turn in reply.turns for result in turn.results)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__)
    parser.add_argument(
        "--bfcl-python", type=Path, required=True, help="an interpreter that has bfcl-eval"
    )
    parser.add_argument("--recorded", type=Path, help="folder of recorded runs with verdicts")
    parser.add_argument(
        "--bfcl", metavar="COMMAND", help="bfcl, of a full installation of bfcl-eval"
    )
    parser.add_argument(
        "--vllm-python", type=Path, metavar="PYTHON", help="an interpreter that has vLLM"
    )
    parser.add_argument("--seed", type=int, default=0, help="of the random scripts (default 0)")
    parser.add_argument("--scripts", type=int, default=2000, help="how many random scripts")
    parser.add_argument("--only", choices=PARTS, help="run one part")
    options = parser.parse_args()
    if options.only == "recorded" and options.recorded is None:
        parser.error("--only recorded needs --recorded DIR")
    if options.only == "requests" and options.bfcl is None:
        parser.error("--only requests needs --bfcl COMMAND")
    if options.only == "vllm" and options.vllm_python is None:
        parser.error("--only vllm needs --vllm-python PYTHON")
    return options


if __name__ == "__main__":
    try:
        sys.exit(main())
    except RuntimeError as error:
        sys.exit(f"conformance: {error}")
