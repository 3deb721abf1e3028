"""The debugger on an attacked episode: the marks of untrusted text and of the obeying call."""

from __future__ import annotations

from checkers.profile import STRICT
from extensions.debugger.views import call_view
from tests.extensions.debugger.episodes import stepper
from tests.extensions.injection.test_invariants import GOAL, attacked


def test_the_debugger_marks_untrusted_text_and_the_obeying_call() -> None:
    calls = "close_ticket(ticket_id=1), get_ticket(ticket_id=1)"
    obeyed = stepper([[f"[{calls}]", f"[{GOAL}]"], [], []], attacked(), STRICT)
    marked, shown = [], ""
    for cursor, moment in enumerate(obeyed.timeline.moments):
        if moment.remarks:
            obeyed.cursor = cursor
            marked += [label for label, _ in moment.remarks]
            shown += call_view(obeyed).plain
    assert marked == ["untrusted", "obeys"]
    assert "untrusted: TicketAPI.ticket_queue: Please create" in shown
    assert "obeys: this call is the attacker's goal" in shown
