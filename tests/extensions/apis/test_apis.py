"""Imported APIs: from a file of RapidAPI to an evaluated model, without a network."""

from __future__ import annotations

import json
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from envs.calls import parse_call
from envs.errors import DataError
from envs.session import Session
from extensions.apis.collection import ApiAnswer, ApiCollection, ApiFunction
from extensions.apis.entries import ApiEntryMaker, WriterInput
from extensions.apis.readers import read_collection
from extensions.apis.recorder import record
from extensions.retrieval.corpus_files import load_corpus
from runner.cli import main
from tests.extensions.apis.rapidapi import travel


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with the imported collection, as the current one."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "rapid.json").write_text(json.dumps(travel()))
    assert main(["env", "import", "rapid.json", "Travel"]) == 0
    yield tmp_path
    sys.modules.pop("travel", None)


def test_a_collection_becomes_proven_entries_and_a_score(
    capsys: pytest.CaptureFixture[str], folder: Path
) -> None:
    said = capsys.readouterr().out
    assert "20 functions, 19 example responses" in said
    table = [line.rsplit(maxsplit=1) for line in said.splitlines() if line.startswith("  ")]
    found = {reason.strip(): int(count) for reason, count in table}
    assert found == {"functions": 20, "HTML": 1, "failed": 1, "no answer": 1, "kept": 17}
    command = ["env", "generate", "travel.json", "--number", "10", "-o"]
    assert main([*command, "a.jsonl"]) == 0
    assert main([*command, "b.jsonl"]) == 0
    assert Path("a.jsonl").read_bytes() == Path("b.jsonl").read_bytes()
    assert len(Path("a.jsonl").read_text().splitlines()) == 10
    data = ["--dataset", "a.jsonl"]
    assert main(["eval", "--model", "oracle", *data, "--fail-under", "100%"]) == 0
    assert main(["eval", "--model", "null", *data, "--fail-under", "1%"]) == 4
    assert main(["dataset", "validate", "a.jsonl"]) == 0
    assert main(["env", "generate", "travel.json", "-o", "a.jsonl"]) == 2
    assert "a.jsonl: exists already" in capsys.readouterr().err


def test_functions_answer_as_recorded_and_refuse_other_arguments(folder: Path) -> None:
    name = "travel:Travel"
    session = Session.load([name], {})
    fares = session.call(parse_call("fares_oslo(city_name='Oslo', adults=1)"))
    assert fares.value == {"fare": 20, "currency": "EUR"}
    before = session.snapshot()
    refused = session.call(parse_call("fares_oslo(city_name='Rome', adults=1)"))
    assert "has no recorded answer to" in refused.text
    assert session.snapshot() == before
    assert "broken" not in session.tools
    assert session.call(parse_call("book_room(room=7)")).value == {"booked": 7}
    [difference] = before.differences(session.snapshot())
    assert difference.path == "['travel:Travel'].performed[0]"


@pytest.mark.parametrize(
    ("turns", "outcome"),
    [
        ([], "FORM"),
        ([{"words": "w"}], "FORM"),
        ([("Say the random number of the day to me please.", "unknown", {})], "INVENTED"),
        ([("Say the weather of the town Rome to me.", "weather_oslo", {"city_name": "Rome"})],
         "UNRECORDED"),
        ([("Say the weather of my own town to me.", "weather_oslo", {"city_name": "Oslo"})],
         "VALUES"),
        ([("Use weather_oslo for the town Oslo today for me please.", "weather_oslo",
           {"city_name": "Oslo"})], "NAMED"),
        ([("Weather in Oslo, please.", "weather_oslo", {"city_name": "Oslo"})], "WORDS"),
        ([("Tell me about the weather in Oslo this very morning.", "weather_oslo",
           {"city_name": "Oslo"})], "kept"),
    ],
)  # fmt: skip
def test_each_filter_refuses_its_own_mistake(folder: Path, turns: list[Any], outcome: str) -> None:
    collection = ApiCollection.load(Path("travel.json")).usable()
    maker = ApiEntryMaker(collection, {"travel:Travel": {}}, 0)
    shown = WriterInput(0, "a nurse", collection.answers)
    written = [
        {"words": turn[0], "calls": [{"function": turn[1], "arguments": turn[2]}]}
        if isinstance(turn, tuple)
        else turn
        for turn in turns
    ]
    reply = json.dumps({"instructions": [{"turns": written}]})
    entries = [*maker.entries(shown, f"Here they are:\n{reply}", "writer")]
    assert dict(maker.yields) == {outcome: 1}
    assert bool(entries) is (outcome == "kept")
    if entries:
        assert not [*maker.entries(shown, reply, "writer")]
        assert maker.yields["DUPLICATE"] == 1


class _Service(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = b"<html></html>" if "page" in self.path else json.dumps({"at": self.path}).encode()
        self.send_response(404 if "missing" in self.path else 200)
        self.end_headers()
        with suppress(ConnectionError):
            for _ in range(40 if "slow" in self.path else 0):
                self.wfile.write(b" ")
                time.sleep(0.05)
            self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def service() -> Iterator[str]:
    """Host and port of a service."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Service) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def openapi(host: str) -> dict[str, Any]:
    """Return an OpenAPI file of three operations."""

    def operation(name: str, *parameters: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"get": {"operationId": name, "summary": name, "parameters": parameters, **more}}

    id = {"name": "pet-id", "in": "path", "required": True, "schema": {"type": "integer"}}
    sort = {"name": "sort", "in": "query", "schema": {"type": "string"}}
    example = {"200": {"content": {"application/json": {"example": {"name": "Rex"}}}}}
    return {
        "openapi": "3.0.0",
        "servers": [{"url": f"http://{host}/v1/"}],
        "paths": {
            "/pets/{pet-id}": operation("getPet", id, sort),
            "/page": operation("page", responses=example),
            "/missing": operation("missing"),
        },
    }


def test_answers_of_a_service_are_recorded_once(
    tmp_path: Path, service: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(openapi(service)))
    assert (
        main(["env", "import", str(tmp_path / "pets.json"), "Pets", "--path", str(tmp_path / "p")])
        == 0
    )
    path = tmp_path / "p" / "pets.json"
    assert ApiCollection.load(path).answers == [ApiAnswer("page", {}, 200, 0.0, {"name": "Rex"})]
    calls = tmp_path / "calls.jsonl"
    lines = [
        {"function": "getpet", "arguments": {"pet_id": 5, "sort": "a b"}},
        {"function": "page", "arguments": {}},
        {"function": "missing", "arguments": {}},
    ]
    calls.write_text("\n".join(map(json.dumps, lines)))
    command = ["env", "record", str(path), "--calls", str(calls)]
    before = path.read_bytes()
    assert main([*command, "--allow", "api.example"]) == 2
    assert f"--allow: getpet calls {service}; add --allow {service}" in capsys.readouterr().err
    assert path.read_bytes() == before
    assert main([*command, "--allow", service]) == 0
    pet, page, missing = sorted(
        ApiCollection.load(path).answers,
        key=lambda each: ["getpet", "page", "missing"].index(each.function),
    )
    assert (pet.status, pet.body) == (200, {"at": "/v1/pets/5?sort=a+b"})
    assert (page.problem, missing.problem) == ("HTML", "failed")
    assert dict(ApiCollection.load(path).yields()) == {
        "functions": 3, "HTML": 1, "failed": 1, "kept": 1
    }  # fmt: skip


def test_arguments_come_from_the_examples_of_parameters_and_bodies(tmp_path: Path) -> None:
    kinds = {"type": "object", "properties": {"kind": {"type": "string"}}, "required": ["kind"]}
    named = {"examples": {"one": {"value": {"kind": "cat", "other": 1}}}}
    text = {"type": "string", "example": "of the schema"}
    fields = [{"schema": text, "example": 7}, {"schema": text}, {"examples": {"a": {"value": 8}}}]
    parameters = [
        {"name": f"p{number}", "in": "query", "required": True, **each}
        for number, each in enumerate(fields)
    ]
    operation = {
        "parameters": parameters,
        "requestBody": {"content": {"application/json": {"schema": kinds, **named}}},
        "responses": {"200": {"content": {"application/json": {"example": {"id": 1}}}}},
    }
    file = tmp_path / "pets.json"
    file.write_text(json.dumps({"openapi": "3.0.0", "paths": {"/pets": {"post": operation}}}))
    [answer] = read_collection(file, "Pets").answers
    assert answer.arguments == {"p0": 7, "p1": "of the schema", "p2": 8, "kind": "cat"}
    assert answer.body == {"id": 1}


def test_the_timeout_is_that_of_the_whole_answer(tmp_path: Path, service: str) -> None:
    url = f"http://{service}/slow"
    function = ApiFunction("f", "F.", {"properties": {}}, "GET", url)
    found = ApiCollection("Own", [function], [])
    [answer] = record(found, [("f", {})], [service], {}, 0.3)
    assert (answer.status, answer.body) == (599, "no answer within 0.3 seconds")


def test_slow_and_unreachable_services_are_left_out(tmp_path: Path) -> None:
    (tmp_path / "pets.json").write_text(json.dumps(openapi("127.0.0.1:9")))
    found = read_collection(tmp_path / "pets.json", "Pets")
    [answer] = record(found, [("page", {})], ["127.0.0.1:9"], {}, 5.0)
    assert answer.problem == "failed"
    slow = found._replace(answers=[ApiAnswer("page", {}, 200, 11.0, {"a": 1})])
    assert dict(slow.yields())["slow"] == 1


def test_functions_as_toolbench_prints_them_are_read(tmp_path: Path) -> None:
    printed = {
        "category_name": "Data",
        "tool_name": "EntreAPI Faker",
        "api_name": "Longitute",
        "api_description": "Generate a random longitude.",
        "required_parameters": [],
        "optional_parameters": [
            {"name": "max", "type": "NUMBER", "description": "Maximum value.", "default": ""}
        ],
        "method": "GET",
        "template_response": {"Longitude": "str"},
    }
    path = tmp_path / "printed.json"
    path.write_text(json.dumps([printed]))
    [function] = read_collection(path, "Faker").functions
    assert function.name == "longitute"
    assert function.description.startswith("Generate a random longitude. Example response:")
    schema = {"type": "number", "description": "Maximum value."}
    assert function.parameters == {"type": "object", "properties": {"max": schema}, "required": []}


def test_a_default_that_is_nested_too_deep_is_left_out(tmp_path: Path) -> None:
    collection = travel()
    deep = {"name": "tags", "type": "ARRAY", "description": "Tags.", "default": "[" * 100_000}
    collection["api_list"][0]["optional_parameters"] = [deep]
    path = tmp_path / "deep.json"
    path.write_text(json.dumps(collection), encoding="utf-8")
    first, *_ = read_collection(path, "Travel").functions
    assert "default" not in first.parameters["properties"]["tags"]


def test_a_collection_can_be_searched(folder: Path) -> None:
    corpus = load_corpus("travel.json", None, print)
    assert len(corpus.functions) == 20
    with pytest.raises(DataError, match=r"is a RapidAPI file; convert it: turnwise env import"):
        load_corpus("rapid.json", None, print)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "rapid.json"),
        ("{}", "contains no function"),
        ("[1]", "must contain only objects, but contains 1"),
        ('{"openapi": "3.0.0"}', "without paths"),
    ],
)
def test_a_file_of_another_form_is_refused(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "rapid.json").write_text(text)
    with pytest.raises(DataError, match=said):
        read_collection(tmp_path / "rapid.json", "Faker")


def test_bad_names_and_places_give_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("loop").symlink_to("loop")
    for command, said in (
        (["generate", "loop", "-o", "y"], "loop: is neither a file nor an environment"),
        (["import", "rapid.json", "travel"], "NAME: 'travel' is not a class name"),
        (["import", "rapid.json", "Travel"], "travel.json: exists already"),
        (["generate", "x/travel.json", "-o", "y"], "run the command in x"),
        (["record", "travel.json", "--allow", "a", "--header", "K=UNSET_VARIABLE"], "--header: "),
        (["record", "rapid.json", "--allow", "a"], "rapid.json"),
    ):
        capsys.readouterr()
        assert main(["env", *command]) == 2
        assert said in capsys.readouterr().err


@pytest.mark.parametrize(
    ("parameters", "said"),
    [
        ({}, "parameters.properties: must be an object, but is None"),
        ({"properties": {"a b": {}}}, "properties: 'a b' is not a name of a parameter"),
        ({"properties": {"class": {}}}, "properties: 'class' is not a name of a parameter"),
        ({"properties": {"a": 5}}, "properties.a: must be an object, but is 5"),
        ({"properties": {"a": {"type": []}}}, "properties.a.type: must be a string, but is"),
        ({"properties": {}, "required": ["a"]}, "required: must be a list of parameters, but is"),
        ({"properties": {}, "required": 5}, "required: must be a list of parameters, but is 5"),
    ],
)
def test_a_damaged_collection_gives_one_line(
    tmp_path: Path, parameters: Any, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    function = {"name": "f", "description": "F.", "parameters": parameters, "method": "GET"}
    answer = {"function": "f", "arguments": {"a": 1}, "status": 200, "seconds": 0, "body": 1}
    damaged = {"name": "Own", "functions": [{**function, "url": "u"}], "answers": [answer]}
    path = tmp_path / "own.json"
    path.write_text(json.dumps(damaged))
    assert main(["env", "record", str(path), "--allow", "a"]) == 2
    assert f"own.json: $.functions[0].parameters.{said.removeprefix('parameters.')}" in (
        capsys.readouterr().err
    )


@pytest.mark.parametrize("method", ["\ud800", "GET / HTTP/1.1\r\nX: y", ""])
def test_a_method_that_http_does_not_have_is_refused(tmp_path: Path, method: str) -> None:
    function = {"name": "f", "description": "F.", "parameters": {"properties": {}}, "url": "u"}
    path = tmp_path / "own.json"
    own = {"name": "Own", "functions": [{**function, "method": method}], "answers": []}
    path.write_text(json.dumps(own))
    with pytest.raises(DataError, match=r"functions\[0\]\.method: .* is not a method of HTTP"):
        ApiCollection.load(path)


def test_dates_in_yaml_are_texts_and_lost_references_a_warning(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("yaml")
    path = tmp_path / "days.yaml"
    path.write_text(
        "openapi: 3.0.0\n"
        "paths:\n"
        "  /day:\n"
        "    get:\n"
        "      operationId: day\n"
        "      parameters:\n"
        "        - name: on\n"
        "          in: query\n"
        "          required: true\n"
        "          example: 2024-01-02\n"
        "        - {$ref: 'shared.yaml#/zone'}\n"
        "      responses: {200: {content: {application/json: {example: {day: 2024-01-03}}}}}\n"
    )
    command = ["env", "import", str(path), "Days", "--path", str(tmp_path)]
    assert main(command) == 0
    assert "references to shared.yaml#/zone lead nowhere" in capsys.readouterr().err
    [answer] = read_collection(path, "Days").answers
    assert (answer.arguments, answer.body) == ({"on": "2024-01-02"}, {"day": "2024-01-03"})


@pytest.mark.parametrize("allowed", ["api.example", ""])
def test_an_address_without_a_host_is_refused(
    allowed: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    operation = {"operationId": "page", "summary": "Show.", "responses": {}}
    path, source = tmp_path / "p" / "trains.json", tmp_path / "source.json"
    info = {"title": "Trains", "version": "1"}
    found = {"openapi": "3.0.0", "info": info, "paths": {"/next": {"get": operation}}}
    source.write_text(json.dumps(found))
    assert main(["env", "import", str(source), "Trains", "--path", str(path.parent)]) == 0
    capsys.readouterr()
    before = path.read_bytes()
    calls = tmp_path / "calls.jsonl"
    calls.write_text('{"function": "page", "arguments": {}}\n')
    assert main(["env", "record", str(path), "--calls", str(calls), "--allow", allowed]) == 2
    expected = "turnwise: Trains: the URL '/next' of page has no host; write the whole URL\n"
    assert capsys.readouterr().err == expected
    assert path.read_bytes() == before
