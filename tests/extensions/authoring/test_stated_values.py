from __future__ import annotations

from extensions.authoring.stated_values import shown


def test_secrets_are_not_shown() -> None:
    config = {"users": [{"name": "Ann", "password": "x"}], "access_token": "y"}
    assert shown(config) == {"users": [{"name": "Ann"}]}
