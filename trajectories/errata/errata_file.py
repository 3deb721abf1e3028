"""Reader and writer of errata files, which have one JSON object per line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from envs.calls import parse_call
from envs.errors import DataError, MalformedCall
from trajectories.errata.erratum import NAMED_CALL, Assessment, Erratum
from trajectories.jsonl import read_objects
from trajectories.record_validation import validate_record

_ADAPTER = TypeAdapter(Erratum)


def read_errata(path: Path) -> list[Erratum]:
    """Read an errata file.

    Raises DataError if a line is not an erratum, contradicts itself, or repeats an entry.
    """
    found: dict[str, Erratum] = {}
    for where, line in read_objects(path):
        erratum = validate_record(_ADAPTER, line, where)
        for problem in _list_problems(erratum):
            raise DataError(where, problem)
        if erratum.id in found:
            raise DataError(where, f"$.id: duplicate erratum for {erratum.id}; delete one of them")
        found[erratum.id] = erratum
    return list(found.values())


def to_json(erratum: Erratum) -> dict[str, Any]:
    """Return the JSON object of an erratum, without defaults."""
    shown: dict[str, Any] = _ADAPTER.dump_python(erratum, mode="json", exclude_defaults=True)
    return shown


def _list_problems(erratum: Erratum) -> Iterator[str]:
    assessment = erratum.judgement
    for name, text in (("reason", erratum.reason), ("evidence", erratum.evidence)):
        if not text.strip():
            yield f"$.{name}: must not be blank"
    others = bool(erratum.alternatives or erratum.answers)
    corrects = others or bool(erratum.ground_truth or erratum.asks_otherwise)
    if corrects and assessment in (Assessment.SOUND, Assessment.WITHDRAWN):
        yield f"$.judgement: `{assessment}` entries cannot have corrections"
    if assessment is Assessment.MENDED and not corrects:
        yield "$.judgement: `mended` entries need a correction"
    if assessment is Assessment.AMBIGUOUS and not others:
        yield "$.judgement: `ambiguous` entries need alternatives"
    for path in erratum.paths:
        for turn, calls in path.items():
            yield from (f"turn {turn}: {said}" for said in map(_check_call, calls) if said)


def _check_call(call: str) -> str:
    if NAMED_CALL.fullmatch(call):
        return ""
    try:
        parse_call(call)
    except MalformedCall as error:
        return str(error)
    return ""
