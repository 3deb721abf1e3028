"""The example initial configs and their JSON Schemas in ``configs/initial/``.

``python tests/envs/test_initial_configs.py`` writes the schemas anew from the backends.
"""

import json
from pathlib import Path

import pytest

from envs.registry import BACKENDS, library
from envs.schema import config_schema
from envs.session import Session

FOLDER = Path(__file__).parents[2] / "configs" / "initial"
OURS = {**BACKENDS, **library()}


def schema(backend):
    """Return the JSON Schema of a backend's initial config."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **config_schema(backend.Config),
    }


@pytest.mark.parametrize("name", OURS)
def test_the_example_loads_without_a_complaint(name):
    config = json.loads((FOLDER / f"{name}.json").read_text(encoding="utf-8"))
    assert list(config) == [name]
    Session.load([name], config)


@pytest.mark.parametrize("name", OURS)
def test_the_schema_is_that_of_the_backend(name):
    path = FOLDER / f"{name}.schema.json"
    assert json.loads(path.read_text(encoding="utf-8")) == schema(OURS[name])


if __name__ == "__main__":
    for name, backend in OURS.items():
        text = json.dumps(schema(backend), indent=2) + "\n"
        (FOLDER / f"{name}.schema.json").write_text(text, encoding="utf-8")
