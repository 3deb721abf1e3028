"""The example initial configs and their JSON Schemas: in ``configs/initial/``, or beside modules.

``python tests/envs/test_initial_configs.py`` writes the schemas anew from the backends.
"""

import json

import pytest

from envs.errors import ConfigError
from envs.registry import BACKENDS, load_library
from envs.schema import make_config_schema
from envs.session import Session
from extensions.contract.checked_environment import CheckedEnvironment

OURS = {**BACKENDS, **load_library()}


def schema(backend):
    """Return the JSON Schema of a backend's initial config."""
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        **make_config_schema(backend.Config),
    }


@pytest.mark.parametrize("name", OURS)
def test_the_example_loads_without_a_complaint(name):
    config = json.loads(CheckedEnvironment(name).example_file.read_text(encoding="utf-8"))
    assert next(iter(config)) == name  # worlds that it uses follow
    Session.load([name], config)


@pytest.mark.parametrize("name", OURS)
def test_the_schema_is_that_of_the_backend(name):
    path = CheckedEnvironment(name).example_file.with_suffix(".schema.json")
    assert json.loads(path.read_text(encoding="utf-8")) == schema(OURS[name])


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "next_id, seen = config",
            "next_id, seen = {}['x'], config",
            "`references` raised KeyErr",
        ),
        (
            "    @classmethod",
            "    def _load(self, config, pack):\n        1 / 0\n\n    @classmethod",
            "loading raised ZeroDivisionError: division by zero",
        ),
        (
            "    @classmethod",
            "    def _load(self, config, pack):\n        raise GeneratorExit\n\n    @classmethod",
            "loading raised GeneratorExit",
        ),
    ],
)
def test_what_an_author_s_hook_raises_is_a_defect_with_its_line(install, old, new, said):
    name = install((old, new))
    with pytest.raises(ConfigError) as caught:
        Session.load([name], {name: {"items": []}})
    [problem] = caught.value.problems
    assert problem.path == f"$.{name}"
    assert problem.message.startswith(said)
    assert "backend.py:" in problem.message


if __name__ == "__main__":
    for name, backend in OURS.items():
        text = json.dumps(schema(backend), indent=2) + "\n"
        path = CheckedEnvironment(name).example_file.with_suffix(".schema.json")
        path.write_text(text, encoding="utf-8")
