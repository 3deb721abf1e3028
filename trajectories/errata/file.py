"""A file of errata: one JSON object a line, read with care and written as it is read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from envs.calls import parse_call
from envs.errors import MalformedCall
from trajectories.errata.record import NAMED_CALL, Assessment, Erratum
from trajectories.errors import DataError
from trajectories.jsonl import read_objects
from trajectories.validation import validated

BFCL = Path(__file__).with_name("bfcl.jsonl")
"""The errata of BFCL's data that come with the package."""

_ADAPTER = TypeAdapter(Erratum)


def read_errata(path: Path) -> list[Erratum]:
    """Read a file of errata.

    Raises:
        DataError: A line is none, contradicts itself, or judges an entry a second time.
    """
    found: dict[str, Erratum] = {}
    for where, line in read_objects(path):
        erratum = validated(_ADAPTER, line, where)
        for problem in _problems(erratum):
            raise DataError(where, problem)
        if erratum.id in found:
            raise DataError(where, f"$.id: {erratum.id} is judged on an earlier line")
        found[erratum.id] = erratum
    return list(found.values())


def to_json(erratum: Erratum) -> dict[str, Any]:
    """Return the JSON object that stands for an erratum, without members at their default."""
    shown: dict[str, Any] = _ADAPTER.dump_python(erratum, mode="json", exclude_defaults=True)
    return shown


def _problems(erratum: Erratum) -> Iterator[str]:
    """Yield how an erratum contradicts itself."""
    assessment = erratum.judgement
    for name, text in (("reason", erratum.reason), ("evidence", erratum.evidence)):
        if not text.strip():
            yield f"$.{name}: must say it in words"
    others = bool(erratum.alternatives or erratum.answers)
    mends = others or bool(erratum.ground_truth or erratum.asks_otherwise)
    if mends and assessment in (Assessment.SOUND, Assessment.WITHDRAWN):
        yield f"$.judgement: an entry that is {assessment} is not read otherwise"
    if assessment is Assessment.MENDED and not mends:
        yield "$.judgement: an entry that is mended needs what is right instead"
    if assessment is Assessment.AMBIGUOUS and not others:
        yield "$.judgement: an entry that is ambiguous needs alternatives"
    for path in erratum.paths:
        for turn, calls in path.items():
            yield from (f"turn {turn}: {said}" for said in map(_unreadable, calls) if said)


def _unreadable(call: str) -> str:
    if NAMED_CALL.fullmatch(call):
        return ""
    try:
        parse_call(call)
    except MalformedCall as error:
        return str(error)
    return ""
