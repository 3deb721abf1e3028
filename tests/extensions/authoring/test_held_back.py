from __future__ import annotations

import json
import zlib

import pytest

from envs.errors import DataError
from extensions.authoring.canary import CANARY
from extensions.authoring.held_back import HELD_BACK, pack, sealed, unpack
from extensions.authoring.making.scenarios import SCENARIOS
from tests.source import ROOT
from trajectories.schema import MULTI_TURN


def test_what_is_packed_comes_back(tmp_path):
    path = tmp_path / "packed.bin"
    files = {"a.jsonl": "line\n" * 1000, "b/ü.json": "{}\n"}
    path.write_bytes(pack(files))
    assert unpack(path) == files
    assert b"line" not in path.read_bytes()
    assert path.read_bytes() == pack(dict(reversed(files.items())))


def test_it_says_what_it_is_and_has_the_canary():
    assert HELD_BACK.read_bytes().startswith(b"Held back; see extensions/authoring/held_back.py.")
    assert CANARY.encode() in HELD_BACK.read_bytes()


def test_what_comes_along_has_all_categories_and_its_scenarios_and_nothing_in_clear_text():
    files = unpack()
    assert {f"{category}.jsonl" for category in MULTI_TURN} < {*files}
    scenarios = [json.loads(text) for name, text in files.items() if name.startswith("scenarios/")]
    assert len(scenarios) >= 10
    packed = HELD_BACK.read_bytes()
    clear = "".join(path.read_text("utf-8") for path in SCENARIOS.glob("*.json"))
    for scenario in scenarios:
        assert scenario["id"].encode() not in packed
        assert scenario["id"] not in clear
        assert not (ROOT / "trajectories/scenarios" / f"{scenario['id'][5:]}.json").exists()


@pytest.mark.parametrize("at", [3, 130, -1])
def test_damage_is_found(tmp_path, at):
    path = tmp_path / "packed.bin"
    damaged = bytearray(pack({"a": "b"}))
    damaged[at] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(DataError, match="is damaged"):
        unpack(path)


def test_what_is_not_there_is_said(tmp_path):
    with pytest.raises(DataError, match="cannot be read"):
        unpack(tmp_path / "none.bin")


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"no zlib", "cannot be unpacked"),
        (zlib.compress(b"\xff"), "cannot be unpacked"),
        (zlib.compress(b"[]"), "must be a JSON object"),
        (zlib.compress(b'{"../a": "b"}'), "must be a text file"),
        (zlib.compress(b'{"a": 1}'), "must be a text file"),
    ],
)
def test_what_is_whole_but_not_of_the_form_is_refused(tmp_path, body, said):
    path = tmp_path / "packed.bin"
    path.write_bytes(sealed(body))
    with pytest.raises(DataError, match=said):
        unpack(path)
