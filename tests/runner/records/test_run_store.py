from __future__ import annotations

import errno
import json
import os
import re
import resource
import shutil
import subprocess
import sys
from datetime import datetime
from functools import partial
from pathlib import Path
from random import Random

import pytest

from envs.errors import DataError
from runner.models.model_types import ToolCall
from runner.records import durable_files
from runner.records.durable_files import write_whole
from runner.records.episode_record import (
    TIMING_FIELDS,
    EpisodeRecord,
    ReplyRecord,
    ResumableStep,
    RunSegment,
    RunSpending,
    TurnEnd,
)
from runner.records.recorded_run import open_run, read_run
from runner.records.run_store import RunStore, create_folder, default_folder
from tests.runner.records.made import ASKED, defining, step

ROOT = Path(__file__).resolve().parents[3]
DEFINITION = defining()._replace(
    settings=ASKED._replace(temperature=0.0, extra_body={"seed": None})
)
NO_FOLDER_OF_A_RUN = "contains no run: run.json is missing"


@pytest.fixture(autouse=True)
def _no_waiting_for_the_disk(monkeypatch):
    """What is tested is what a killed process leaves; that needs no wait for a disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "runs" / "one"


def record(id, trial=0, outcome="passed", **more):
    """Return a record of an episode."""
    return EpisodeRecord(id, trial, "base", outcome, None, None)._replace(**more)


def written(folder, *records, tools=()):
    """Make a run of some records and leave it."""
    with RunStore.create(folder, DEFINITION) as store:
        for digest in tools:
            store.put_tools(digest, [{"type": "function", "function": {"name": digest}}])
        for each in records:
            store.append(each)


def contents(folder):
    """Return the bytes of all files in a folder by name."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def lines(path):
    """Return the lines of a file, each with its line break."""
    return path.read_bytes().splitlines(keepends=True)


# A run from beginning to end


def test_a_run_begins_with_what_defines_it(folder):
    note = {"created": "2025-01-02", "command_line": ["turnwise", "eval"]}
    with RunStore.create(folder, DEFINITION, note=note) as store:
        assert store.done == {}
    text = (folder / "run.json").read_text(encoding="utf-8")
    assert json.loads(text) == {"format": 1, "definition": DEFINITION.to_json(), "note": note}
    assert text.startswith('{\n  "format": 1,\n')
    assert text.endswith("}\n")
    run = open_run(folder)
    assert (run.definition, run.note, list(run.episodes)) == (DEFINITION, note, [])


def test_every_episode_is_one_line_as_soon_as_it_is_added(folder):
    records = [record("a"), record("a", trial=1, outcome="failed"), record("b", outcome="error")]
    with RunStore.create(folder, DEFINITION) as store:
        for count, each in enumerate(records, start=1):
            store.append(each)
            assert [json.loads(line) for line in lines(folder / "episodes.jsonl")] == (
                [record.to_json() for record in records[:count]]
            )
        assert store.done == {
            ("a", 0): "passed",
            ("a", 1): "failed",
            ("b", 0): "error",
        }
    assert list(open_run(folder).records) == records


def test_steps_that_were_kept_as_they_came_stand_in_the_line_as_others_do(folder, tmp_path):
    said = [{"role": "assistant", "content": f'"step":{{}} é {number}'} for number in range(3)]
    steps = [step(0, ["a()"], ['"step":'])._replace(request_messages=place) for place in range(3)]
    done = record('x"step":', steps=steps, messages=said)
    written(tmp_path / "other", done)
    with RunStore.create(folder, DEFINITION) as store:
        for made, message in zip(steps[:2], said, strict=False):
            store.put_step(ResumableStep(done.id, 0, made, message), RunSpending(1, 2, 0.5))
        assert [each.step for each in store.underway(done.key)] == steps[:2]
        store.append(done)
    name = "episodes.jsonl"
    assert (folder / name).read_bytes() == (tmp_path / "other" / name).read_bytes()


def test_a_resumed_run_knows_what_is_done_and_goes_on(folder):
    written(folder, record("a"), record("b", outcome="failed"))
    before = contents(folder)
    with RunStore.resume(folder, DEFINITION, note={"created": "later"}) as store:
        assert [*store.done] == [("a", 0), ("b", 0)]
        assert store.done["b", 0] == "failed"
        store.append(record("c"))
    after = contents(folder)
    assert after["run.json"] == before["run.json"]
    assert after["episodes.jsonl"].startswith(before["episodes.jsonl"])
    assert [each.id for each in open_run(folder).records] == ["a", "b", "c"]


def test_a_tool_list_is_written_once(folder):
    tools = [{"type": "function", "function": {"name": "ls"}}]
    with RunStore.create(folder, DEFINITION) as store:
        store.put_tools("d1", tools)
        store.put_tools("d1", tools)
    with RunStore.resume(folder, DEFINITION) as store:
        store.put_tools("d1", tools)
        store.put_tools("d2", [])
    assert len(lines(folder / "tools.jsonl")) == 2
    run = open_run(folder)
    assert run.tools(["d1", "d2"]) == {"d1": tools, "d2": []}
    assert run.kept_tools(["d2", *map(str, range(20))]) == {"d2": []}
    with pytest.raises(DataError, match=r"tools\.jsonl: has no tool list 'd3'"):
        run.tools(["d3"])


def test_what_models_say_comes_back_as_it_was(folder):
    texts = ["\ud83d", "\u2028", "\x00", "é", '"\n"', "\r"]
    messages = [{"content": text} for text in texts]
    written(folder, record("a", messages=messages))
    assert len(lines(folder / "episodes.jsonl")) == 1
    [found] = open_run(folder).records
    assert found.messages == messages


def test_what_is_no_finished_episode_is_not_written(folder):
    with RunStore.create(folder, DEFINITION) as store:
        with pytest.raises(ValueError, match=r"episode \('a', 0\) is not finished"):
            store.append(record("a", outcome=None))
        assert store.done == {}
    assert lines(folder / "episodes.jsonl") == []


def test_an_episode_is_not_written_twice(folder):
    with RunStore.create(folder, DEFINITION) as store:
        store.append(record("a"))
        with pytest.raises(ValueError, match=r"already contains episode \('a', 0\)"):
            store.append(record("a", outcome="failed"))
    assert len(lines(folder / "episodes.jsonl")) == 1


def test_a_closed_store_takes_nothing_and_can_be_closed_again(folder):
    with RunStore.create(folder, DEFINITION) as store:
        pass
    store.close()
    with pytest.raises(ValueError, match="closed"):
        store.append(record("a"))


# Which folder


def test_a_new_run_does_not_go_where_one_is(folder):
    written(folder, record("a"))
    before = contents(folder)
    with pytest.raises(DataError, match="already contains a run; resume it with --resume"):
        RunStore.create(folder, DEFINITION)
    assert contents(folder) == before


def test_a_new_run_does_not_go_where_episodes_are(folder):
    written(folder, record("a"))
    (folder / "run.json").unlink()
    with pytest.raises(DataError, match="already contains a run"):
        RunStore.create(folder, DEFINITION)


def test_a_new_run_may_go_into_a_folder_with_other_files(folder):
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    written(folder, record("a"))
    assert contents(folder)["notes.txt"] == b"mine"


def test_there_must_be_a_run_to_resume(folder):
    with pytest.raises(DataError, match=NO_FOLDER_OF_A_RUN):
        RunStore.resume(folder, DEFINITION)
    assert not folder.exists()
    folder.mkdir(parents=True)
    (folder / "notes.txt").write_text("mine", encoding="utf-8")
    with pytest.raises(DataError, match=NO_FOLDER_OF_A_RUN):
        RunStore.resume(folder, DEFINITION)
    assert [*contents(folder)] == ["notes.txt"]


@pytest.mark.parametrize(
    "left", [{}, {"lock": b""}, {"lock": b"1", ".run.json.unfinished": b'{"format"'}]
)
def test_a_run_that_was_killed_before_it_began_can_be_resumed_or_begun_again(tmp_path, left):
    for name in ("create", "resume"):
        folder = tmp_path / name
        folder.mkdir()
        for file, content in left.items():
            (folder / file).write_bytes(content)
    with RunStore.create(tmp_path / "create", DEFINITION, note={"n": 1}):
        pass
    with RunStore.resume(tmp_path / "resume", DEFINITION, note={"n": 1}):
        pass
    resumed = contents(tmp_path / "resume")
    assert resumed == contents(tmp_path / "create")
    assert {*resumed} == {"run.json", "episodes.jsonl", "tools.jsonl", "lock"}


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    for folder in (tmp_path / "file", tmp_path / "file" / "run"):
        with pytest.raises(DataError, match=f"^{folder}: cannot be written: "):
            RunStore.create(folder, DEFINITION)
        with pytest.raises(DataError, match=NO_FOLDER_OF_A_RUN):
            read_run(folder)


def test_a_broken_link_in_place_of_a_folder_is_named_with_its_target(tmp_path):
    link, target = tmp_path / "runs", tmp_path / "unmounted"
    link.symlink_to(target)
    named = f"{link} is a broken link to {target}; create that folder or remove the link"
    start = partial(RunStore.create, definition=DEFINITION)
    for create, folder in ((start, link), (start, link / "a"), (create_folder, link / "a")):
        with pytest.raises(DataError) as caught:
            create(folder)
        assert str(caught.value) == f"{folder}: cannot be written: {named}"
    assert create_folder(link) == tmp_path / "runs-2"
    assert not target.exists()


def test_runs_that_begin_in_the_same_second_have_folders_of_their_own(tmp_path):
    folder = tmp_path / "runs" / "20250102-030405-m"
    places = [create_folder(folder) for _ in range(3)]
    assert [place.name for place in places] == [folder.name, f"{folder.name}-2", f"{folder.name}-3"]
    for place in places:
        RunStore.create(place, DEFINITION).close()
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(DataError, match="cannot be written"):
        create_folder(tmp_path / "file" / "run")


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("gpt-4o", "gpt-4o"),
        ("anthropic/claude:x@2", "anthropic-claude-x-2"),
        ("../../etc/passwd", "etc-passwd"),
        ("..", "model"),
        ("模型", "model"),
        ("a b\n\x00c", "a-b-c"),
        ("m" * 500, "m" * 60),
    ],
)
def test_the_default_folder_is_named_after_time_and_model(model, name):
    now = datetime(2025, 1, 2, 3, 4, 5)
    assert default_folder(model, now) == Path("runs") / f"20250102-030405-{name}"


# What a killed process leaves


@pytest.mark.parametrize("name", ["episodes.jsonl", "tools.jsonl"])
def test_a_file_that_was_cut_anywhere_is_mended_and_made_whole(folder, name):
    records = [record(f"entry_{n}", error="é" * n) for n in range(4)]
    digests = [f"digest_{n}" for n in range(4)]
    written(folder, *records, tools=digests)
    path = folder / name
    whole = lines(path)
    complete, kept = b"".join(whole), b"".join(whole[:-2])
    for size in range(len(kept), len(complete) + 1):
        path.write_bytes(complete[:size])
        with RunStore.resume(folder, DEFINITION) as store:
            there = complete[:size].count(b"\n")
            assert path.read_bytes() == b"".join(whole[:there])
            assert len(store.done) == (there if name == "episodes.jsonl" else 4)
            for digest in digests:
                store.put_tools(digest, [{"type": "function", "function": {"name": digest}}])
            for each in records:
                if each.key not in store.done:
                    store.append(each)
        assert path.read_bytes() == complete


@pytest.mark.parametrize("damage", [b"{\n", b"\x00\x00\x00\n", b"\xff\n", b"[1]\n", b"\n"])
@pytest.mark.parametrize("name", ["episodes.jsonl", "tools.jsonl"])
def test_a_damaged_last_line_is_cut_off_and_an_earlier_one_is_named(folder, name, damage):
    written(folder, record("a"), record("b"), tools=["d1", "d2"])
    path = folder / name
    first, second = lines(path)
    path.write_bytes(first + second + damage)
    with RunStore.resume(folder, DEFINITION) as store:
        assert len(store.done) == 2
    assert path.read_bytes() == first + second
    path.write_bytes(first + damage + second)
    with pytest.raises(DataError, match=f"{name}:2: "):
        RunStore.resume(folder, DEFINITION)
    assert path.read_bytes() == first + damage + second


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("episodes.jsonl", b"{}\n", 'must have "id", "trial"'),
        ("episodes.jsonl", b'{"id": "c", "trial": 0, "category": "base"}\n', "must have"),
        ("tools.jsonl", b'{"digest": "d3"}\n', "must have"),
    ],
)
def test_a_line_that_is_something_else_is_named(folder, name, line, message):
    written(folder, record("a"), tools=["d1"])
    with (folder / name).open("ab") as file:
        file.write(line)
    with pytest.raises(DataError, match=f"{name}:2: {message}"):
        RunStore.resume(folder, DEFINITION)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("episodes.jsonl", r"\('a', 0\) occurs twice in the file"),
        ("tools.jsonl", "'d1' occurs twice in the file"),
    ],
)
def test_a_line_that_is_there_twice_is_named(folder, name, message):
    written(folder, record("a"), record("b"), tools=["d1", "d2"])
    path = folder / name
    path.write_bytes(path.read_bytes() + lines(path)[0])
    with pytest.raises(DataError, match=f"{name}:3: {message}"):
        RunStore.resume(folder, DEFINITION)
    if name == "episodes.jsonl":
        with pytest.raises(DataError, match=f"{name}:3: {message}"):
            list(open_run(folder).records)


WRITER = """
import sys, time
from pathlib import Path
from runner.records.episode_record import EpisodeRecord
from runner.records.run_store import RunStore
from tests.runner.records.made import defining, step

folder = Path(sys.argv[1])
begin = RunStore.resume if folder.exists() else RunStore.create
print(flush=True)
with begin(folder, defining()) as store:
    for n in range(int(sys.argv[2])):
        if (f"entry_{n}", 0) not in store.done:
            sys.stdin.read(1)
            store.put_tools(f"digest_{n // 7}", [{"n": n // 7, "text": "t" * 5000}])
            request = step(n, ["s" * 20_000])._replace(latency=time.perf_counter())
            done = EpisodeRecord(f"entry_{n}", 0, "base", "passed", None, None, steps=[request])
            store.append(done)
            print(flush=True)
"""


"""Reads a character and writes a line for each episode; the end of its input holds nothing up."""


def writer(folder, total):
    """Start a process that writes a run of some size."""
    command = [sys.executable, "-W", "error", "-c", WRITER, str(folder), str(total)]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe)


def without_timing(folder):
    """Return the episodes by id, without what differs from run to run."""
    episodes = {}
    for each in open_run(folder).records:
        timed = dict.fromkeys(TIMING_FIELDS)
        steps = [step._replace(**timed) for step in each.steps]
        episodes[each.id] = each._replace(steps=steps)
    return episodes


@pytest.mark.slow
def test_killed_fifty_times_a_run_ends_up_as_if_undisturbed(tmp_path):
    chance, disturbed, total = Random(3), tmp_path / "disturbed", 400
    episodes = disturbed / "episodes.jsonl"
    before = b""
    for _ in range(50):
        with writer(disturbed, total) as process:
            allowed = chance.randrange(8)
            process.stdin.write(b"." * allowed)
            process.stdin.flush()
            for _ in range(chance.randrange(allowed + 1)):
                process.stdout.readline()
            for _ in range(chance.randrange(20_000)):
                pass
            process.kill()
        after = episodes.read_bytes() if episodes.exists() else b""
        assert after.startswith(before)
        before = after[: after.rfind(b"\n") + 1]
    assert 0 < before.count(b"\n") < total
    for folder in (disturbed, tmp_path / "undisturbed"):
        with writer(folder, total) as process:
            process.communicate()
        assert process.returncode == 0
    assert episodes.read_bytes().startswith(before)
    assert len(lines(episodes)) == total
    assert without_timing(disturbed) == without_timing(tmp_path / "undisturbed")
    for name in ("tools.jsonl", "run.json"):
        assert (disturbed / name).read_bytes() == (tmp_path / "undisturbed" / name).read_bytes()
    assert {*contents(disturbed)} == {*contents(tmp_path / "undisturbed")}


# One process at a time

HOLDER = """
import sys
from pathlib import Path
from runner.records.run_store import RunStore
from tests.runner.records.made import defining
with RunStore.create(Path(sys.argv[1]), defining()):
    print(flush=True)
    sys.stdin.read()
"""


def test_a_second_process_is_refused_until_the_first_has_ended(folder):
    command = [sys.executable, "-c", HOLDER, str(folder)]
    pipe = subprocess.PIPE
    with subprocess.Popen(command, cwd=ROOT, stdin=pipe, stdout=pipe) as process:
        process.stdout.readline()
        message = rf"^{folder}: another process is writing this run \(pid {process.pid}\)$"
        for begin in (RunStore.create, RunStore.resume):
            with pytest.raises(DataError, match=message):
                begin(folder, defining())
        assert list(open_run(folder).records) == []
        process.kill()
        process.wait()
        RunStore.resume(folder, defining()).close()


def test_a_second_store_in_the_same_process_is_refused_too(folder):
    with (
        RunStore.create(folder, DEFINITION),
        pytest.raises(DataError, match=rf"\(pid {os.getpid()}\)"),
    ):
        RunStore.resume(folder, DEFINITION)


@pytest.mark.parametrize("superseded", [[], [("a", 0)]])
def test_a_deleted_lock_lets_no_second_process_write(folder, superseded):
    written(folder, record("a", outcome="error"))
    with RunStore.resume(folder, DEFINITION) as store:
        store.supersede(superseded)
        (folder / "lock").unlink()
        with pytest.raises(DataError, match="another process is writing this run"):
            RunStore.resume(folder, DEFINITION)
        store.append(record("b"))
    with RunStore.resume(folder, DEFINITION) as store:
        assert ("b", 0) in store.done


def test_a_refusal_leaves_the_folder_to_others(folder):
    written(folder, record("a"))
    with pytest.raises(DataError):
        RunStore.resume(folder, defining("other"))
    with pytest.raises(DataError):
        RunStore.create(folder, DEFINITION)
    RunStore.resume(folder, DEFINITION).close()


# What defines a run


def changed(**settings):
    """Return the definition with other settings."""
    return DEFINITION._replace(settings=DEFINITION.settings._replace(**settings))


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (DEFINITION._replace(model="n"), "model was 'm' and is now 'n'"),
        (changed(temperature=0.5), "settings.temperature was 0.0 and is now 0.5"),
        (changed(extra_body={}), "settings.extra_body.seed was None and is now nothing"),
        (
            changed(extra_body={"seed": None, "n": 2}),
            "settings.extra_body.n was nothing and is now 2",
        ),
        (
            DEFINITION._replace(extensions={"formats": {"name": "a" * 500}}),
            f"extensions was nothing and is now {{'formats': {{'name': '{'a' * 80}",
        ),
        (changed(extra_headers=["a"]), "settings.extra_headers was [] and is now ['a']"),
    ],
)
def test_a_run_with_another_definition_is_refused_and_what_differs_is_named(folder, now, message):
    written(folder, record("a"))
    before = contents(folder)
    with pytest.raises(DataError) as caught:
        RunStore.resume(folder, now)
    text = str(caught.value)
    assert text.startswith(f"{folder}: the run started with other settings: ")
    assert message in text
    assert "\n" not in text
    assert contents(folder) == before


DATA = DEFINITION.dataset


@pytest.mark.parametrize(
    ("then", "now"),
    [
        (changed(base_url="http://127.0.0.1:8000/v1"), changed(base_url="http://localhost:9/v1/")),
        (changed(base_url="http://here/v1"), changed(base_url=" http://here/v1 ")),
        (DEFINITION, DEFINITION._replace(dataset=DATA._replace(name="elsewhere", version="2"))),
        (DEFINITION, changed(function_docs="own")),
        (
            DEFINITION._replace(dataset=DATA._replace(name="bfcl")),
            changed(function_docs="bfcl")._replace(dataset=DATA._replace(name="bfcl")),
        ),
    ],
    ids=["server", "spaces", "data", "own-docs", "bfcl-docs"],
)
def test_a_run_goes_on_under_a_definition_that_means_the_same(folder, then, now):
    for first, second in ((then, now), (now, then)):
        with RunStore.create(folder / first.dataset.name, first):
            pass
        RunStore.resume(folder / first.dataset.name, second).close()
        shutil.rmtree(folder / first.dataset.name)


@pytest.mark.parametrize(
    ("now", "message"),
    [
        (
            changed(base_url="http://there/v1"),
            "settings.base_url was 'http://here/v1' and is now 'http:",
        ),
        (
            changed(base_url="http://here/v2"),
            "settings.base_url was 'http://here/v1' and is now 'http:",
        ),
        (changed(base_url=None), "settings.base_url was 'http://here/v1' and is now None"),
        *[
            (
                changed(base_url=url),
                f"'http://here/v1' and is now '{url}'; use the same options and",
            )
            for url in ("http://[::1/v1", "http://[zz]/v1", "http://\u2100/v1", "here:8000/v1")
        ],
        (
            changed(base_url="http://here/v1")._replace(dataset=DATA._replace(sha256="1" * 64)),
            "dataset.sha256 was",
        ),
        (changed(base_url="http://here/v1", function_docs="bfcl"), "settings.function_docs was"),
    ],
)
def test_what_means_something_else_is_refused(folder, now, message):
    with RunStore.create(folder, changed(base_url="http://here/v1")):
        pass
    with pytest.raises(DataError, match=re.escape(message)):
        RunStore.resume(folder, now)


def test_every_difference_is_named(folder):
    written(folder)
    with pytest.raises(
        DataError, match=r"model was 'm' and is now 'n'; settings\.seed was None and is now 4; use"
    ):
        RunStore.resume(folder, changed(temperature=0, seed=4)._replace(model="n"))


def test_what_json_makes_of_a_definition_is_compared(folder):
    given = {"price": (1.0, 2.0), "by_number": {1: "a"}, "model": "m"}
    with RunStore.create(folder, changed(extra_body=given)):
        pass
    RunStore.resume(folder, changed(extra_body=dict(reversed(given.items())))).close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ('{"format": 2}', "has format 2; this turnwise reads format 1"),
        ("{}", "has format None"),
        ("{", "is not valid JSON"),
        ("[]", "must be a JSON object"),
        ('{"format": 1, "definition": {}}', 'must contain the objects "definition" and "note"'),
        ('{"format": 1, "definition": 1, "note": {}}', "must contain the objects"),
    ],
)
def test_a_run_that_cannot_be_read_is_refused(folder, content, message):
    written(folder, record("a"))
    (folder / "run.json").write_text(content, encoding="utf-8")
    for read in (read_run, lambda folder: RunStore.resume(folder, DEFINITION)):
        with pytest.raises(DataError, match=message) as caught:
            read(folder)
        assert str(caught.value).startswith(f"{folder / 'run.json'}: ")


# Secrets

SECRETS = [
    "sk-0123456789abcdef",
    'quo"te\\d-secret',
    "schlüssel-größe",
    "zwei\nzeilen-geheim",
    'der "größte" schlüssel',
]


@pytest.mark.parametrize("secret", SECRETS)
def test_a_secret_reaches_no_file(folder, secret):
    once = json.dumps({"key": secret})
    twice = json.dumps({"arguments": json.dumps({"key": secret}, ensure_ascii=False)})
    definition = changed(extra_body={"Authorization": f"Bearer {secret}"})
    note = {"command_line": ["--header", f"Authorization: Bearer {secret}"]}
    with RunStore.create(folder, definition, note=note, secrets=["", secret]) as store:
        store.append(
            record("a", error=f"401: {secret}{secret}", messages=[{"a": once, "b": [twice]}])
        )
        store.append(record("b", messages=({"a": "nothing"},)))
        assert (store.secrets.masked, store.secrets.kept) == (4, [])
    escaped = {json.dumps(secret, ensure_ascii=ascii)[1:-1] for ascii in (True, False)}
    for content in contents(folder).values():
        for form in {secret, *escaped, *(json.dumps(form)[1:-1] for form in escaped)}:
            assert form.encode() not in content
    run = open_run(folder)
    assert run.definition.settings.extra_body == {"Authorization": "Bearer ***"}
    first, second = run.records
    assert first.error == "401: ******"
    masked = {"a": '{"key": "***"}', "b": [json.dumps({"arguments": '{"key": "***"}'})]}
    assert first.messages == [masked]
    assert second.messages == [{"a": "nothing"}]
    RunStore.resume(folder, definition, secrets=[secret]).close()


@pytest.mark.parametrize("secret", ['ab"cd\\efgh', "it's\\a'key", "b\"o't\\h-key"])
def test_a_secret_is_masked_where_python_quotes_it(folder, secret):
    said = [repr({"key": secret}), repr([f"{secret}'"]), repr([f'{secret}"']), ascii([secret])]
    with RunStore.create(folder, DEFINITION, secrets=[secret]) as store:
        store.append(record("a", messages=[{"content": text} for text in said]))
    [first] = open_run(folder).records
    assert all("***" in message["content"] for message in first.messages)


def test_of_secrets_that_begin_alike_none_is_left_in_part(folder):
    secrets = ["secret-and", "secret-and-more"]
    with RunStore.create(folder, changed(base_url="secret-and-more"), secrets=secrets):
        pass
    assert open_run(folder).definition.settings.base_url == "***"


def test_a_difference_shows_no_secret(folder):
    with RunStore.create(folder, changed(base_url="http://a/")):
        pass
    other = changed(base_url="http://a/?key=" + SECRETS[0])
    with pytest.raises(DataError, match=r"is now 'http://a/\?key=\*\*\*'; use"):
        RunStore.resume(folder, other, secrets=SECRETS)


def test_what_is_too_short_for_a_secret_is_ordinary_text(folder):
    with RunStore.create(folder, changed(base_url="EMPTY"), secrets=["EMPTY", "id"]):
        pass
    assert open_run(folder).definition.settings.base_url == "EMPTY"


def episode_with_login(text=None, why="answer"):
    """Return the record of an episode whose calls, results and data say a password."""
    arguments = {"username": "ada", "password": "pass-word"}
    called = step(0, ["login(username='ada', password='pass-word')"], ['{"status": "ok"}'])
    reply = ReplyRecord(None, [ToolCall("1", "login", json.dumps(arguments))], None, "stop")
    answer = step(0)._replace(reply=ReplyRecord(text, [], "thoughts of tell-me-not", "stop"))
    return record(
        "multi_turn_base_0",
        messages=[{"role": "user", "content": "I am ada, pass-word."}],
        steps=[called._replace(reply=reply), answer],
        turn_ends=[TurnEnd(0, why, None)],
        result=[[[{"login": json.dumps(arguments)}], text]],
    )


@pytest.mark.parametrize(
    "secret",
    [
        # An argument's name, its value, an id, a category of texts, syntax, a number.
        "password",
        "pass-word",
        "multi_turn_base_0",
        "step_limit",
        '"reply":{',
        "assistant",
        "username='ada'",
        "00000000",
    ],
)
def test_masking_alters_nothing_that_was_done(folder, secret):
    given = episode_with_login("Done.", "step_limit")
    said = {"multi_turn_base_0": "Trajectory(config={'password': 'pass-word'})"}.__getitem__
    with RunStore.create(folder, DEFINITION, secrets=[secret], said=said) as store:
        store.append(given)
    plain = json.loads(json.dumps(given.to_json()))
    assert json.loads((folder / "episodes.jsonl").read_bytes()) == plain
    with RunStore.resume(folder, DEFINITION, secrets=[secret]) as store:
        assert store.done == {("multi_turn_base_0", 0): "passed"}


def test_an_episode_that_keeps_a_secret_is_named(folder):
    secrets, said = ["pass-word", "tell-me-not"], lambda _: "The user says pass-word."
    with RunStore.create(folder, DEFINITION, secrets=secrets, said=said) as store:
        store.append(episode_with_login("The key is tell-me-not; the word is pass-word."))
        assert store.secrets.kept == ["multi_turn_base_0, trial 0"]
        assert store.secrets.masked == 3
    [kept] = open_run(folder).records
    assert kept.steps[1].reply.text == "The key is ***; the word is pass-word."
    assert kept.steps[1].reply.reasoning == "thoughts of ***"
    assert kept.result[0][1] == "The key is ***; the word is pass-word."


def test_a_key_that_a_server_repeats_in_calls_is_masked_and_the_episode_named(folder):
    with RunStore.create(folder, DEFINITION, secrets=["pass-word"]) as store:
        store.append(episode_with_login("Done."))
        assert store.secrets.altered == ["multi_turn_base_0, trial 0"]
    assert b"pass-word" not in (folder / "episodes.jsonl").read_bytes()
    [kept] = open_run(folder).records
    assert kept.steps[0].calls == ["login(username='ada', password='***')"]
    assert kept.result[0][0] == [{"login": '{"username": "ada", "password": "***"}'}]


def test_what_the_tool_lists_say_is_ordinary_text(folder):
    tools = [{"function": {"name": "login", "parameters": {"password": {"type": "string"}}}}]
    with RunStore.create(folder, DEFINITION, secrets=["password"]) as store:
        store.put_tools("d", tools)
        store.append(record("a", error="give a password"))
    with RunStore.resume(folder, DEFINITION, secrets=["password"]) as store:
        store.append(record("b", error="give a password"))
        assert store.secrets.kept == ["a tool list"]
    run = open_run(folder)
    assert run.tools(["d"])["d"] == tools
    assert [each.error for each in run.records] == ["give a password"] * 2


# Doing episodes again


def test_superseded_episodes_are_kept_apart_and_can_be_done_again(folder):
    written(folder, record("a"), record("b", outcome="error"), record("c", 1, outcome="failed"))
    first, second, third = lines(folder / "episodes.jsonl")
    with RunStore.resume(folder, DEFINITION) as store:
        store.supersede([("b", 0), ("c", 1), ("never", 0)])
        assert [*store.done] == [("a", 0)]
        assert lines(folder / "episodes.jsonl") == [first]
        assert lines(folder / "superseded.jsonl") == [second, third]
        store.append(record("b", outcome="failed"))
        store.supersede([("b", 0)])
        store.append(record("b"))
    assert [each.id for each in open_run(folder).records] == ["a", "b"]
    outcomes = [json.loads(line)["outcome"] for line in lines(folder / "superseded.jsonl")]
    assert outcomes == ["error", "failed", "failed"]
    assert {*contents(folder)} == {
        *("run.json", "episodes.jsonl", "tools.jsonl", "superseded.jsonl", "lock")
    }


def test_superseding_nothing_changes_nothing(folder):
    written(folder, record("a"))
    before = contents(folder)
    with RunStore.resume(folder, DEFINITION) as store:
        store.supersede([])
        store.supersede([("never", 0)])
    assert contents(folder) == before


def states_during(folder, act):
    """Do something and return all that the folder held meanwhile, at every call of a C function."""
    states = []

    def look(frame, event, argument):
        if event in ("c_call", "c_return"):
            state = contents(folder)
            if state not in states[-1:]:
                states.append(state)

    sys.setprofile(look)
    try:
        act()
    finally:
        sys.setprofile(None)
    return states


def half_written(states):
    """Yield states, also with half of every unfinished file."""
    for state in states:
        yield state
        for name, content in state.items():
            if name.endswith(".unfinished") and content:
                yield {**state, name: content[: len(content) // 2]}


@pytest.mark.parametrize("taken", [["b"], ["d"], ["a", "b", "c", "d"]])
def test_a_process_killed_while_superseding_leaves_all_or_none_of_it(tmp_path, taken):
    folder = tmp_path / "run"
    records = [record(id, outcome="failed") for id in "abcd"]
    written(folder, record("a", outcome="error"), *records[1:])
    with RunStore.resume(folder, DEFINITION) as store:
        store.supersede([("a", 0)])
        store.append(records[0])
        before = contents(folder)
        states = states_during(folder, lambda: store.supersede([(id, 0) for id in taken]))
    assert len(states) >= 5
    everything = sorted(
        (before["episodes.jsonl"] + before["superseded.jsonl"]).splitlines(keepends=True)
    )
    outcomes = []
    for number, state in enumerate(half_written(states)):
        copy = tmp_path / str(number)
        copy.mkdir()
        for name, content in state.items():
            (copy / name).write_bytes(content)
        with RunStore.resume(copy, DEFINITION) as store:
            gone = [id for id in "abcd" if (id, 0) not in store.done]
            outcomes.append(gone)
            found = lines(copy / "episodes.jsonl") + lines(copy / "superseded.jsonl")
            assert sorted(found) == everything
            for id in gone:
                store.append(record(id))
        with RunStore.resume(copy, DEFINITION) as store:
            assert sorted(store.done) == [(id, 0) for id in "abcd"]
        assert {*contents(copy)} == {*before}
    assert outcomes[0] == []
    assert outcomes[-1] == taken
    assert all(gone in ([], taken) for gone in outcomes)


# Episodes that are under way


def answer(id, place, text="Yes.", trial=0):
    """Return an answer to a request of so many messages."""
    asked = step(0)._replace(request_messages=place, reply=ReplyRecord(text, [], None, "stop"))
    return ResumableStep(id, trial, asked, {"role": "assistant", "content": text})


def underway(folder, *keys):
    """Return how many messages the requests had that are known of episodes, and what was used."""
    with RunStore.resume(folder, DEFINITION) as store:
        places = [[a.step.request_messages for a in store.underway(key)] for key in keys]
        return places, store.spent


A, B = ("a", 0), ("b", 0)


def copied(folder, name):
    """Return a copy of a folder, as a process that is killed at this moment leaves it."""
    target = folder.with_name(name)
    shutil.copytree(folder, target)
    return target


def test_answers_are_known_until_their_episode_is_finished(folder):
    with RunStore.create(folder, DEFINITION) as store:
        store.put_step(answer("a", 1), RunSpending(1, 12, 0.5))
        store.put_step(answer("b", 1), RunSpending(2, 24, 1.0))
        store.put_step(answer("a", 3), RunSpending(4, 36, None))
        assert store.underway(A) == [answer("a", 1), answer("a", 3)]
        killed = copied(folder, "early")
        store.append(record("a"))
        assert (store.underway(A), store.underway(B)) == ([], [answer("b", 1)])
        late = copied(folder, "late")
    assert underway(killed, A, B) == ([[1, 3], [1]], RunSpending(4, 36, None))
    assert underway(late, A, B) == ([[], [1]], RunSpending(4, 36, None))
    assert underway(folder, A, B) == ([[], [1]], RunSpending(4, 36, None))
    assert contents(late)["underway.jsonl"] == contents(folder)["underway.jsonl"]
    assert len(lines(folder / "underway.jsonl")) == 2


def test_an_answer_that_was_half_written_is_dropped(folder):
    with RunStore.create(folder, DEFINITION) as store:
        store.put_step(answer("a", 1), RunSpending(1))
        store.put_step(answer("a", 3), RunSpending(2))
        path = folder / "underway.jsonl"
        content = path.read_bytes()
        killed = [copied(folder, str(cut)) for cut in range(1, len(content), 40)]
    for cut, copy in zip(range(1, len(content), 40), killed, strict=True):
        (copy / "underway.jsonl").write_bytes(content[:cut])
        whole = content[:cut].count(b"\n")
        assert underway(copy, A) == ([[1, 3][:whole]], RunSpending(whole))


def test_a_resumed_run_rewrites_its_answers_only_if_some_are_obsolete(folder):
    with RunStore.create(folder, DEFINITION) as store:
        store.put_step(answer("a", 1), RunSpending(1))
        killed = copied(folder, "killed")
    path = killed / "underway.jsonl"
    (line,) = lines(path)
    spent = b'{"spent": {"requests": 1, "tokens": 0, "cost": null}}\n'
    for count in (1, 300):
        kept = [line.replace(b'"a"', b'"%d"' % number) for number in range(count)]
        for found, left in ((kept, kept), (kept + kept[:1], [*kept, spent])):
            path.write_bytes(b"".join(found))
            with RunStore.resume(killed, DEFINITION):
                assert lines(path) == left


def test_an_episode_that_begins_anew_or_earlier_has_no_two_answers_to_a_request(folder):
    with RunStore.create(folder, DEFINITION) as store:
        for place in (1, 3, 5, 3, 7):
            store.put_step(answer("a", place), RunSpending(9))
    assert underway(folder, A) == ([[1, 3, 7]], RunSpending(9))


def test_an_answer_with_a_secret_is_not_kept(folder):
    with RunStore.create(folder, DEFINITION, secrets=["sk-0123456789"]) as store:
        store.put_step(answer("a", 1), RunSpending(1))
        store.put_step(answer("a", 3, "It is sk-0123456789."), RunSpending(2))
    assert underway(folder, A) == ([[1]], RunSpending(2))
    assert b"sk-0123456789" not in contents(folder)["underway.jsonl"]


def test_what_finished_episodes_leave_is_bounded(folder, monkeypatch):
    monkeypatch.setattr("runner.records.run_store._MAX_OBSOLETE_BYTES", 5000)
    with RunStore.create(folder, DEFINITION) as store:
        store.put_step(answer("zz", 1), RunSpending(1))
        for number in range(200):
            store.put_step(answer(str(number), 1, "x" * 500), RunSpending(number + 2))
            store.append(record(str(number)))
            assert (folder / "underway.jsonl").stat().st_size < 10_000
    assert underway(folder, ("zz", 0)) == ([[1]], RunSpending(201))


def test_answers_of_finished_episodes_are_dropped_beyond_a_limit(folder, monkeypatch):
    path = folder / "underway.jsonl"

    def is_rewritten(id, more):
        store.put_step(answer(id, 1), RunSpending(1))
        monkeypatch.setattr("runner.records.run_store._MAX_OBSOLETE_BYTES", size - more)
        store.append(record(id))
        # Only the spent budget is left.
        return lines(path) == [b'{"spent": {"requests": 1, "tokens": 0, "cost": null}}\n']

    with RunStore.create(folder, DEFINITION) as store:
        store.put_step(answer("z", 1), RunSpending(1))
        size = path.stat().st_size
        store.append(record("z"))
    shutil.rmtree(folder)
    with RunStore.create(folder, DEFINITION) as store:
        assert [is_rewritten(id, more) for id, more in zip("abc", (1, 1, 0), strict=True)] == [
            True,
            True,
            False,
        ]
    assert underway(folder, A) == ([[]], RunSpending(1))


def ended_in_error(id):
    """Return the record of an episode that ended in an error after an answer."""
    messages = [{"role": "user", "content": "?"}, {"role": "assistant", "content": "Yes."}]
    asked = step(0)._replace(reply=ReplyRecord("Yes.", [], None, "stop"))
    return record(id, outcome="error", messages=messages, steps=[asked])


def test_episodes_that_ended_in_errors_go_on_and_a_kill_meanwhile_loses_none(folder, tmp_path):
    written(folder, ended_in_error("a"), record("b"))
    with RunStore.resume(folder, DEFINITION) as store:
        store.put_step(answer("c", 1), RunSpending(7))
        states = states_during(folder, lambda: store.supersede([A], go_on=True))
        assert store.underway(A) == [answer("a", 1)]
    assert underway(folder, A, ("c", 0)) == ([[1], [1]], RunSpending(7))
    found = []
    for number, state in enumerate(half_written(states)):
        copy = tmp_path / str(number)
        copy.mkdir()
        for name, content in state.items():
            (copy / name).write_bytes(content)
        with RunStore.resume(copy, DEFINITION) as store:
            assert A in store.done or store.underway(A) == [answer("a", 1)]
            assert (store.underway(("c", 0)), store.spent) == ([answer("c", 1)], RunSpending(7))
            found.append(A in store.done)
    assert (found[0], found[-1]) == (True, False)


def test_an_episode_in_which_a_text_was_masked_begins_anew(folder):
    lost = ended_in_error("a")
    masked = lost._replace(messages=[{"role": "user", "content": "***"}, lost.messages[1]])
    written(folder, masked)
    with RunStore.resume(folder, DEFINITION) as store:
        store.supersede([A], go_on=True)
        assert store.underway(A) == []


# Reading a run that goes on


def test_a_run_is_read_while_it_is_written(folder):
    with RunStore.create(folder, DEFINITION) as store:
        store.put_tools("early", [])
        store.append(record("a"))
        run = open_run(folder)
        assert run.tools(["early"]) == {"early": []}
        assert [each.id for each in run.records] == ["a"]
        store.put_tools("late", [])
        store.append(record("b", steps=[step(0)._replace(tools="late")]))
        assert [each.id for each in open_run(folder).records] == ["a", "b"]
        assert run.tools(["late"]) == {"late": []}


@pytest.mark.parametrize("cut", [1, 10, 40])
def test_a_half_written_last_line_is_passed_over(folder, cut):
    written(folder, record("a"), record("b"), tools=["d1", "d2"])
    for name in ("episodes.jsonl", "tools.jsonl"):
        path = folder / name
        path.write_bytes(path.read_bytes()[:-cut])
    before = contents(folder)
    run = open_run(folder)
    assert [each.id for each in run.records] == ["a"]
    assert run.tools(["d1"])["d1"]
    with pytest.raises(DataError, match="no tool list 'd2'"):
        run.tools(["d2"])
    assert contents(folder) == before


def test_a_line_that_is_finished_while_it_is_read_is_not_misread(folder):
    written(folder, record("a"), record("b"), record("c"))
    path = folder / "episodes.jsonl"
    whole = path.read_bytes()
    path.write_bytes(whole[:-100])
    found = durable_files.read_lines(path)
    assert next(found).value["id"] == "a"
    path.write_bytes(whole)
    assert [line.value["id"] for line in found] in ([], ["b"], ["b", "c"])


def test_a_run_that_has_only_begun_can_be_read(folder):
    written(folder)
    (folder / "episodes.jsonl").unlink()
    (folder / "tools.jsonl").unlink()
    run = open_run(folder)
    assert list(run.episodes) == []
    with pytest.raises(DataError, match="no tool list"):
        run.tools(["d"])


# A disk that is full or broken


def test_a_full_disk_leaves_no_half_line_and_the_run_can_go_on(folder):
    with RunStore.create(folder, DEFINITION) as store:
        store.append(record("a"))
        path = folder / "episodes.jsonl"
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (path.stat().st_size + 20, hard))
        try:
            with pytest.raises(DataError, match=r"episodes\.jsonl: cannot be written: no space"):
                store.append(record("b"))
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert [*store.done] == [("a", 0)]
        assert len(lines(path)) == 1
        store.append(record("b"))
    assert [each.id for each in open_run(folder).records] == ["a", "b"]


def test_a_disk_that_does_not_take_what_was_written_is_reported(folder, monkeypatch):
    store = RunStore.create(folder, DEFINITION)
    errors = [OSError(errno.EIO, os.strerror(errno.EIO))]

    def broken_once(_):
        while errors:
            raise errors.pop()

    monkeypatch.setattr(os, "fsync", broken_once)
    store.append(record("a"))
    with pytest.raises(DataError, match="cannot be written: Input/output error"):
        store.close()
    monkeypatch.undo()
    with RunStore.resume(folder, DEFINITION) as store:
        assert [*store.done] == [("a", 0)]


def test_a_moved_run_writes_nothing_where_it_was(folder, tmp_path):
    store = RunStore.create(folder, DEFINITION)
    store.put_step(answer("a", 1), RunSpending(1))
    folder.rename(tmp_path / "moved")
    written(folder, record("b"))
    before = contents(folder)
    store.put_life(RunSegment(1.0, 1, None))
    with pytest.raises(DataError, match="was moved or deleted during the run"):
        store.close()
    assert contents(folder) == before
    assert underway(tmp_path / "moved", ("a", 0)) == ([[1]], RunSpending(1))


def test_a_deleted_run_stays_deleted(folder):
    store = RunStore.create(folder, DEFINITION)
    store.put_step(answer("a", 1), RunSpending(1))
    shutil.rmtree(folder)
    with pytest.raises(DataError, match="was moved or deleted during the run"):
        store.close()
    assert not folder.exists()


@pytest.mark.parametrize("episodes", [0, 20])
def test_everything_is_on_the_disk_when_a_store_is_closed(folder, monkeypatch, episodes):
    synced = {}
    with RunStore.create(folder, DEFINITION) as store:
        monkeypatch.setattr(
            os, "fsync", lambda handle: synced.update({os.fstat(handle).st_ino: os.fstat(handle)})
        )
        for number in range(episodes):
            store.put_tools(f"d{number}", [])
            store.append(record(f"entry_{number}"))
        store.put_tools("unused", [])
    for name in ("episodes.jsonl", "tools.jsonl"):
        found = (folder / name).stat()
        assert synced[found.st_ino].st_size == found.st_size


def test_a_file_that_cannot_be_finished_is_not_there(tmp_path):
    path = tmp_path / "new" / "file"
    write_whole(path, [b"old"])

    def chunks():
        yield b"new"
        raise DataError("somewhere", "is wrong")

    with pytest.raises(DataError, match="somewhere"):
        write_whole(path, chunks())
    assert contents(path.parent) == {"file": b"old"}
