"""Files of errata: what is read, what is refused, and those that come along."""

from __future__ import annotations

import json
import re
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from envs.errors import DataError
from trajectories.errata import BFCL
from trajectories.errata.errata_file import read_errata, to_json
from trajectories.errata.erratum import Assessment, Erratum


def line(**changes: Any) -> dict[str, Any]:
    """Return an erratum as a line of a file."""
    return {
        "id": "base_one",
        "judgement": "mended",
        "reason": "The words ask for one plan.",
        "evidence": "Played: the directory is called plan.",
        "published": "0123456789abcdef",
        "ground_truth": {"0": ["mkdir(dir_name='plan')"]},
        **changes,
    }


def written(path: Path, *lines: dict[str, Any]) -> Path:
    """Write lines."""
    path.write_text("".join(json.dumps(each) + "\n" for each in lines), encoding="utf-8")
    return path


def test_an_erratum_is_read_as_it_is_written(tmp_path: Path) -> None:
    wanted = line(alternatives=[{"1": ["touch(file_name='b')"]}], config={"MathAPI": {"a": 1}})
    (erratum,) = read_errata(written(tmp_path / "e.jsonl", wanted))
    assert erratum.judgement is Assessment.MENDED
    assert erratum.ground_truth == {0: ("mkdir(dir_name='plan')",)}
    assert erratum.alternatives == ({1: ("touch(file_name='b')",)},)
    assert json.loads(json.dumps(to_json(erratum))) == wanted


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": 3}, r"\$\.id: .*string"),
        ({"judgement": "odd"}, r"\$\.judgement: .*sound"),
        ({"reason": " "}, r"\$\.reason: must not be blank"),
        ({"evidence": ""}, r"\$\.evidence: must not be blank"),
        ({"ground_truth": {"one": []}}, r"\$\.ground_truth"),
        ({"ground_truth": {"0": "ls()"}}, r"\$\.ground_truth\.0: "),
        ({"ground_truth": {"0": ["ls("]}}, "turn 0: .*not valid Python"),
        ({"alternatives": [{"2": ["ls("]}]}, "turn 2: .*not valid Python"),
        ({"extra": 1}, r"\$\.extra: "),
        ({"judgement": "sound"}, "`sound` entries cannot have corrections"),
        ({"judgement": "withdrawn"}, "`withdrawn` entries cannot have corrections"),
        ({"ground_truth": {}}, "`mended` entries need a correction"),
        ({"judgement": "ambiguous"}, "`ambiguous` entries need alternatives"),
    ],
)
def test_an_erratum_that_is_none_is_refused(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    with pytest.raises(DataError, match=message):
        read_errata(written(tmp_path / "e.jsonl", line(**changes)))


def test_an_entry_is_judged_once(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="duplicate erratum for base_one"):
        read_errata(written(tmp_path / "e.jsonl", line(), line()))


def test_new_words_or_another_config_have_to_be_asked_anew() -> None:
    plain = Erratum("a", Assessment.MENDED, "r", "e", "0")
    assert not plain.asks_otherwise
    assert Erratum("a", Assessment.MENDED, "r", "e", "0", wording={0: "Go."}).asks_otherwise
    assert Erratum("a", Assessment.MENDED, "r", "e", "0", config={"A": {}}).asks_otherwise


def test_those_of_bfcl_are_read_and_say_why() -> None:
    errata = read_errata(BFCL)
    counts = Counter(erratum.judgement for erratum in errata)
    assert set(counts) == set(Assessment)
    assert all(len(e.reason) > 20 and len(e.evidence) > 20 for e in errata)
    assert all(len(e.published) == 16 for e in errata)
    readme = (BFCL.parent.parent / "README.md").read_text(encoding="utf-8")
    for kind, count in counts.items():
        assert re.search(rf"^\| `{kind}` \|.*\| {count} \|$", readme, re.MULTILINE)
    # They hold no text of BFCL's, so long ones are a mistake.
    calls = [call for e in errata for path in e.paths for some in path.values() for call in some]
    assert max(map(len, calls)) < 300


@pytest.mark.parametrize(
    "id",
    [
        "multi_turn_base_4",
        "multi_turn_base_75",
        "multi_turn_miss_func_133",
        "multi_turn_miss_param_172",
        "multi_turn_long_context_38",
        "live_simple_106-63-0",
    ],
)
def test_entries_known_to_be_wrong_are_among_them(id: str) -> None:
    found = {erratum.id: erratum.judgement for erratum in read_errata(BFCL)}
    assert found[id] is not Assessment.SOUND
