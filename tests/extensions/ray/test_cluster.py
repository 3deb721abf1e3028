from __future__ import annotations

import sys

import pytest

from envs.errors import DataError
from extensions.ray.cluster import library
from runner.cli import main


def test_without_ray_it_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(DataError, match="needs the package ray"):
        library()
    assert main(["eval", "--model", "null", "--limit", "1", "--engine", "ray"]) == 2
    said = "turnwise: --engine ray: needs the package ray: pip install 'turnwise[ray]'\n"
    assert capsys.readouterr().err == said


def test_an_address_needs_the_engine(capsys):
    assert main(["eval", "--model", "null", "--address", "auto"]) == 2
    assert "--address: is for Ray clusters; add --engine ray" in capsys.readouterr().err
