from __future__ import annotations

import json

import pytest

from envs.backends.ticket import TicketAPI
from envs.errors import BackendFault, DataError
from envs.long_context import LongContextPack
from extensions.scripts.execute import execute, read_script

LINE = {
    "id": "x",
    "initial_config": {"TicketAPI": {"current_user": "ann"}},
    "involved_classes": ["TicketAPI"],
    "turns": [["create_ticket('A')", "1 + 1"], [], ["nonsense()"]],
}


def no_pack():
    """Stand for the long-context material where it must not be asked for."""
    raise AssertionError("nobody wanted long context")


def run(line, pack=no_pack, **options):
    """Execute a line."""
    return execute(read_script(line, "here"), "here", pack, **options)


def test_a_script_gives_results_and_states():
    done = run(LINE)
    ticket = {
        "id": 1,
        "title": "A",
        "description": "",
        "status": "Open",
        "priority": 1,
        "created_by": "ann",
    }
    before = {"ticket_queue": [], "ticket_counter": 1, "current_user": "ann"}
    after = {"TicketAPI": {**before, "ticket_queue": [ticket], "ticket_counter": 2}}
    assert list(done) == ["id", "initial_state", "turns"]
    assert done["id"] == "x"
    assert done["initial_state"] == {"TicketAPI": before}
    assert [turn["state"] for turn in done["turns"]] == [after, after, after]
    [[created, bad], [], [unknown]] = [turn["results"] for turn in done["turns"]]
    assert json.loads(created) == ticket
    assert list(json.loads(bad)) == list(json.loads(unknown)) == ["error"]


def test_held_out_functions_and_argument_types_are_not_looked_at():
    [turn] = run({**LINE, "turns": [["create_ticket(title=5)"]]})["turns"]
    assert json.loads(turn["results"][0])["title"] == 5


def test_what_may_be_left_out():
    done = run({"involved_classes": ["TicketAPI"], "turns": []})
    assert (done["id"], done["turns"]) == (None, [])


def test_states_are_in_the_order_of_the_classes():
    done = run({"involved_classes": ["TwitterAPI", "TicketAPI"], "turns": [[]]})
    assert list(done["turns"][0]["state"]) == ["TwitterAPI", "TicketAPI"]


def test_long_context_material_is_asked_for_where_it_is_wanted():
    line = {
        "involved_classes": ["GorillaFileSystem"],
        "initial_config": {
            "GorillaFileSystem": {
                "root": {"home": {"type": "directory", "contents": {}}},
            }
        },
        "long_context": True,
        "turns": [["ls()"]],
    }
    pack = LongContextPack(extra_files=("a.txt", "b.txt", "c.txt"))
    [turn] = run(line, lambda: pack)["turns"]
    listed = json.loads(turn["results"][0])["current_directory_content"]
    assert listed == list(pack.extra_files)


@pytest.mark.parametrize(
    ("member", "value", "message"),
    [
        ("initial_config", [], "$.initial_config: must be a dict, but is []"),
        ("initial_config", None, "$.initial_config: must be a dict, but is None"),
        ("initial_config", {"TicketAPI": []}, "$.initial_config.TicketAPI: must be an object"),
        ("involved_classes", None, "$.involved_classes: must be a list"),
        ("involved_classes", "TicketAPI", "$.involved_classes: must be a list"),
        ("involved_classes", [["TicketAPI"]], "$.involved_classes"),
        ("involved_classes", [1], "$.involved_classes"),
        ("long_context", 1, "$.long_context: must be a bool, but is 1"),
        ("turns", None, "$.turns: must be a list"),
        ("turns", {}, "$.turns: must be a list"),
        ("turns", [[], "f()"], "$.turns[1]: must be a list of calls as strings"),
        ("turns", [[1]], "$.turns[0]: must be a list of calls as strings"),
        ("turns", [[["f()"]]], "$.turns[0]: must be a list of calls as strings"),
    ],
)
def test_a_line_of_another_form_is_refused_with_its_place(member, value, message):
    with pytest.raises(DataError) as caught:
        read_script({**LINE, member: value}, "here")
    assert str(caught.value).startswith(f"here: {message}")


@pytest.mark.parametrize("member", ["involved_classes", "turns"])
def test_a_missing_member_is_named(member):
    line = {key: value for key, value in LINE.items() if key != member}
    with pytest.raises(DataError, match=rf"^here: \$\.{member}: must be a list"):
        read_script(line, "here")


def test_a_class_that_there_is_not_is_named():
    with pytest.raises(DataError, match=r"Zither: unknown backend; known backends are Gor"):
        run({**LINE, "involved_classes": ["TicketAPI", "Zither"]})


def test_a_config_that_cannot_be_loaded_is_named():
    line = {"involved_classes": ["GorillaFileSystem"], "turns": []}
    with pytest.raises(DataError, match=r"^here: \$\.initial_config: \$\.GorillaFileSystem\.root"):
        run({**line, "initial_config": {"GorillaFileSystem": {"root": 5}}})


def nested(depth):
    """Return a list in a list in a list."""
    value = []
    for _ in range(depth):
        value = [value]
    return value


def test_a_config_that_is_nested_too_deep_is_named():
    line = {**LINE, "initial_config": {"TicketAPI": {"current_user": nested(5000)}}}
    with pytest.raises(DataError, match=r"^here: \$\.initial_config"):
        run(line)


def test_what_an_irregular_state_keeps_a_function_from_doing_is_a_refusal():
    config = {"TicketAPI": {"ticket_queue": [5]}}
    [turn] = run({**LINE, "initial_config": config, "turns": [["get_ticket(1)"]]})["turns"]
    assert list(json.loads(turn["results"][0])) == ["error"]


def test_a_bug_in_a_backend_is_not_hidden(monkeypatch):
    def broken(self, ticket_id):
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr(TicketAPI, "_find", broken)
    with pytest.raises(BackendFault, match="get_ticket"):
        run({**LINE, "turns": [["get_ticket(1)"]]}, irregular=False)
