"""The contract that every environment keeps, as tests that its author runs.

An author's whole contract test:

    import pytest
    from turnwise.testing import contract

    @pytest.mark.parametrize("check", contract("CalendarAPI"), ids=str)
    def test_contract(check):
        check()

``turnwise env check`` runs the same checks. ``succeed`` and ``refuse`` are for tests of single
calls. Needs hypothesis, which comes with the extra ``dev``.
"""

from envs.testing.contract import CONTRACT, BoundCheck, Check, contract, refuse, state, succeed
from envs.testing.subject import Broken, Subject

__all__ = [
    "CONTRACT",
    "BoundCheck",
    "Broken",
    "Check",
    "Subject",
    "contract",
    "refuse",
    "state",
    "succeed",
]
