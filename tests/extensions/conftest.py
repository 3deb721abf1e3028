"""Fixtures of other folders that tests of extensions share."""

from tests.environments.installing import install
from tests.live.conftest import _nothing_of_the_users, _shared_server, server
from tests.runner.conftest import data

__all__ = ["_nothing_of_the_users", "_shared_server", "data", "install", "server"]
