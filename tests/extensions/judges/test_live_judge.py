"""A live judge: what it is asked, faults of its answers and of its server, kill and resume."""

from __future__ import annotations

import json
import re
import shutil
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from extensions.judges.votes import VOTES_FILE
from runner.cli import main
from tests.live.running import BASE, Ended, end, start, wait_until
from tests.servers.responses import responding
from tests.servers.serving import Answer, Answerer, Asked, FakeServer, as_json
from tests.servers.shapes import completion

pytest_plugins = ["tests.live.run_fixtures"]

Judge = Callable[..., Ended]
FEW = 6
ASKED = re.compile(r"by their numbers: ([\d, ]+)\.")


@pytest.fixture(scope="session")
def _judged_run(
    tmp_path_factory: pytest.TempPathFactory, _shared_server: FakeServer, truth
) -> Path:
    folder = tmp_path_factory.mktemp("judged") / "run"
    _shared_server.answer = truth
    url = _shared_server.base_url
    command = ["eval", "--model", "fake", "--base-url", url, "--run-dir", str(folder), *BASE]
    assert main([*command, "--limit", str(FEW), "--no-preflight"]) == 0
    return folder


@pytest.fixture
def folder(_judged_run: Path, tmp_path: Path) -> Path:
    """Return a run of a few episodes that all passed."""
    return Path(shutil.copytree(_judged_run, tmp_path / "run"))


@pytest.fixture
def judge(folder: Path, server: FakeServer, capsys: pytest.CaptureFixture[str]) -> Judge:
    """Run the command in this process, with a judge that finds all solved until told not to."""
    server.answer = saying()

    def whole(*more: str, against: Path | None = None) -> Ended:
        name, *flags = command(folder, server, *more)
        status = main([name, flags[0], *([str(against)] if against else []), *flags[1:]])
        said = capsys.readouterr()
        return Ended(status, said.out, said.err)

    return whole


def command(folder: Path, server: FakeServer, *more: str) -> list[str]:
    """Return a command line that has a run judged by a server."""
    return [
        "judge",
        str(folder),
        "--judge",
        "j",
        "--base-url",
        server.base_url,
        "--no-cache",
        *more,
    ]


def turns_of(asked: Asked) -> list[int]:
    """Return the turns that a judge is asked about."""
    text = next(m["content"] for m in asked.body["messages"] if m["role"] == "user")
    found = ASKED.findall(text)
    return [int(number) for number in found[-1].split(",")]


def reported(asked: Asked, **other: Any) -> dict[str, Any]:
    """Return what reports that all turns are solved, or otherwise."""
    turn = {
        "solvable": "yes",
        "information": "yes",
        "tried_all": "yes",
        "answer": "solved",
        "why": "as asked",
    }
    return {"turns": [{"turn": number, **turn, **other} for number in turns_of(asked)]}


def called(arguments: Any, name: str = "report") -> Answer:
    """Return an answer that calls a function."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    call = {"id": "1", "type": "function", "function": {"name": name, "arguments": text}}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return as_json(completion(message, "tool_calls"))


def saying(**other: Any) -> Answerer:
    """Return a judge that says the same of every turn."""
    return lambda asked: called(reported(asked, **other))


def in_words(text: str, reason: str = "stop") -> Answerer:
    """Return a judge that calls nothing."""
    return lambda _: as_json(completion({"role": "assistant", "content": text}, reason))


def votes(folder: Path) -> list[dict[str, Any]]:
    """Return the votes that are kept of a run."""
    (path,) = folder.glob(f"judged/*/{VOTES_FILE}")
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def figures(done: Ended) -> dict[str, Any]:
    """Return what was printed of one run as JSON."""
    (found,) = json.loads(done.out)["runs"]
    return dict(found)


# What is asked


def test_a_judge_that_agrees_with_itself_is_asked_three_times(
    judge: Judge, server: FakeServer, folder: Path
) -> None:
    found = figures(judge("--json"))
    assert server.requests == 3 * FEW == found["votes"] == len(votes(folder))
    assert found["rate"]["half"] == 1.0
    assert found["verdicts"]["agreement"]["value"] == 1.0
    assert server.last is not None
    body = server.last.body
    assert body["tool_choice"] == {"type": "function", "function": {"name": "report"}}
    assert [tool["function"]["name"] for tool in body["tools"]] == ["report"]


def test_all_votes_are_asked_for_with_a_seed_each(judge: Judge, server: FakeServer) -> None:
    seeds: list[int] = []

    def answer(asked: Asked) -> Answer:
        seeds.append(asked.body["seed"])
        return called(reported(asked))

    server.answer = answer
    assert judge("--all-votes", "--seed", "7").status == 0
    assert sorted(seeds) == sorted([7, 8, 9, 10, 11] * FEW)


def test_a_judge_without_tools_answers_with_an_object(judge: Judge, server: FakeServer) -> None:
    def answer(asked: Asked) -> Answer:
        assert "tools" not in asked.body
        return in_words(f"Here:\n{json.dumps(reported(asked))}")(asked)

    server.answer = answer
    assert figures(judge("--mode", "prompt", "--json"))["rate"]["half"] == 1.0


def test_a_judge_is_asked_by_the_responses_api_too(judge: Judge, server: FakeServer) -> None:
    forced: list[object] = []

    def answer(asked: Asked) -> Answer:
        forced.append(asked.body["tool_choice"])
        return responding(saying())(asked)

    server.answer = answer
    done = judge("--api", "responses", "--json")
    assert figures(done)["rate"]["half"] == 1.0
    assert forced == [{"type": "function", "name": "report"}] * 3 * FEW


def test_labels_are_made_anew_without_asking(judge: Judge, server: FakeServer) -> None:
    server.answer = saying(answer="refusal", information="no")
    assert figures(judge("--json"))["rate"]["half"] == 1.0  # excused by the paper's rules
    asked = server.requests
    toolbench = figures(judge("--rules", "toolbench", "--json"))
    stable = figures(judge("--rules", "stable", "--json"))
    assert (toolbench["rate"]["half"], stable["rate"]["half"]) == (0.0, 0.0)
    assert server.requests == asked


# Answers that do not fit


@pytest.mark.parametrize(
    "unfit",
    [
        in_words("It went well."),
        in_words(""),
        in_words('{"turns": [', "length"),
        lambda _: called("{not json"),
        lambda _: called({"turns": []}),
        lambda _: called({"turns": [{"turn": 99}]}),
        lambda _: called({}, "other"),
    ],
    ids=["words", "nothing", "cut", "malformed", "empty", "strange", "other"],
)
def test_what_does_not_fit_is_asked_once_more_and_then_an_abstention(
    judge: Judge, server: FakeServer, folder: Path, unfit: Answerer
) -> None:
    server.answer = unfit
    done = judge("--json", "--limit", "2")
    found = figures(done)
    # Five abstentions in vain: neither label can have more than half of five after three.
    assert done.status == 0
    assert (found["abstained"], found["rate"]["counts"]["unsure"]) == (6, 2)
    assert server.requests == 2 * 6
    assert {vote["took"]["attempts"] for vote in votes(folder)} == {2}
    assert all(vote["abstained"] for vote in votes(folder))


def test_an_answer_may_be_mended(judge: Judge, server: FakeServer) -> None:
    def answer(asked: Asked) -> Answer:
        first = len(asked.body["messages"]) == 2
        return called({"turns": 7}) if first else called(reported(asked))

    server.answer = answer
    found = figures(judge("--json"))
    assert (found["abstained"], found["rate"]["half"]) == (0, 1.0)
    assert server.requests == 2 * 3 * FEW


# Faults of the server


@pytest.mark.slow
def test_a_rate_limit_is_waited_for(judge: Judge, server: FakeServer) -> None:
    refused: list[int] = []

    def answer(asked: Asked) -> Answer:
        if len(refused) < 3:
            refused.append(asked.number)
            return as_json({"error": {"message": "slow down"}}, 429, retry_after="0")
        return called(reported(asked))

    server.answer = answer
    done = judge("--json")
    assert (done.status, figures(done)["votes"]) == (0, 3 * FEW)


def test_episodes_whose_vote_fails_have_no_label(judge: Judge, server: FakeServer) -> None:
    failing: set[str] = set()

    def answer(asked: Asked) -> Answer:
        text = asked.body["messages"][1]["content"]
        opening = re.search(r"<<<user \w+\n(.*)", text)
        assert opening
        failing.add(opening[1]) if not failing else None
        if opening[1] in failing:
            return as_json({"error": {"message": "no such thing"}}, 400)
        return called(reported(asked))

    server.answer = answer
    done = judge()
    assert done.status == 3
    assert "no label, because a request failed: 1 episode\n" in done.out
    assert "no rate: " in done.out
    unrated = figures(judge("--json"))
    assert (unrated["rate"], unrated["verdicts"]) == (None, None)
    assert "no such thing" in done.err
    again = judge("--allow-errors")
    assert again.status == 3
    assert "pass rate: 100.0%" in again.out
    server.answer = saying()
    mended = judge("--json")
    assert (mended.status, figures(mended)["failed"]) == (0, 0)


def test_a_wrong_key_ends_it_at_once(judge: Judge, server: FakeServer) -> None:
    server.answer = lambda _: as_json({"error": "no key"}, 401)
    done = judge("--concurrency", "1")
    assert done.status == 3
    assert server.requests == 1
    assert "Traceback" not in done.err


# Budget, dry run, cache


def test_a_budget_counts_all_lives(judge: Judge, server: FakeServer, folder: Path) -> None:
    done = judge("--max-requests", "5", "--concurrency", "1")
    assert (done.status, server.requests) == (5, 5)
    assert "the budget of 5 requests is used up; run the same command again to resume" in done.err
    assert len(votes(folder)) == 5
    assert judge("--max-requests", "5").status == 5
    assert server.requests == 5
    assert judge("--max-requests", "100", "--resume").status == 0
    assert server.requests == 3 * FEW == len(votes(folder))


@pytest.mark.parametrize("flags", [[], ["--all-votes"]])
def test_a_dry_run_tells_the_tokens_within_a_tenth(
    judge: Judge, server: FakeServer, flags: list[str]
) -> None:
    sizes: list[int] = []

    def answer(asked: Asked) -> Answer:
        sizes.append(int(asked.headers["content-length"]) // 4)
        return called(reported(asked))

    server.answer = answer
    told = judge("--dry-run", "--price", "1,1", *flags)
    found = re.search(r"(\d+) requests and about (\d+) prompt tokens\. .* (\d+) requests", told.out)
    assert found
    assert "estimated cost $0.0" in told.out
    assert sizes == []
    assert judge(*flags).status == 0
    assert len(sizes) == int(found[1])
    assert int(found[2]) == pytest.approx(sum(sizes), rel=0.1)
    assert "0 of them without a label" in judge("--dry-run", *flags).out


def test_what_was_asked_before_is_taken_from_the_cache(
    judge: Judge, server: FakeServer, folder: Path, tmp_path: Path
) -> None:
    kept = ["--reply-cache", str(tmp_path / "replies")]
    cached = [word for word in command(folder, server, *kept) if word != "--no-cache"]
    assert main(cached) == 0
    asked = server.requests
    shutil.rmtree(folder / "judged")
    assert main(cached) == 0
    assert server.requests == asked == 3 * FEW
    assert {vote["took"]["attempts"] for vote in votes(folder)} == {0}


# Kill and resume


@pytest.fixture
def slow(server: FakeServer) -> Iterator[FakeServer]:
    """Return a server that takes its time."""
    server.latency = 0.02
    yield server
    server.latency = 0.0


@pytest.mark.slow
def test_killed_and_gone_on_with_no_vote_is_asked_for_twice(
    folder: Path, slow: FakeServer, judge: Judge
) -> None:
    place = folder / "judged"
    seen: list[tuple[str, int]] = []

    def answer(asked: Asked) -> Answer:
        seen.append((asked.body["messages"][1]["content"], asked.body["seed"]))
        return called(reported(asked))

    slow.answer = answer
    flags = ("--all-votes", "--seed", "0", "--concurrency", "2")
    for size in (3, 12, 20):
        process = start(command(folder, slow, *flags))
        wait_until(partial(has_votes, place, size))
        process.kill()
        process.communicate()
    done = end(start(command(folder, slow, *flags, "--resume", "--json")))
    assert done.status == 0, done.err
    assert figures(done)["votes"] == 5 * FEW == len(votes(folder))
    assert len({(v["id"], v["draw"]) for v in votes(folder)}) == 5 * FEW
    # What was under way when it was killed had no vote yet: two requests for each of three kills.
    assert len(seen) - len(set(seen)) <= 3 * 2


def has_votes(place: Path, size: int) -> bool:
    """Tell whether so many votes are written."""
    paths = place.glob(f"*/{VOTES_FILE}")
    return sum(path.read_bytes().count(b"\n") for path in paths) >= size


def test_only_what_is_asked_in_the_same_way_is_gone_on_with(judge: Judge) -> None:
    assert judge("--temperature", "0.5").status == 0
    refused = judge("--resume")
    assert (refused.status, refused.out) == (2, "")
    assert "has no votes of this judge model under these options; it has j-" in refused.err


# Interruption


@pytest.mark.slow
def test_interrupted_it_keeps_what_it_has(folder: Path, slow: FakeServer) -> None:
    slow.answer = saying()
    slow.latency = 0.1
    process = start(command(folder, slow, "--all-votes", "--concurrency", "1"))
    wait_until(partial(has_votes, folder / "judged", 2))
    process.send_signal(signal.SIGINT)
    done = end(process)
    assert done.status == 130
    assert "interrupted; run the same command again to resume" in done.err
    assert "Traceback" not in done.err
    assert 2 <= len(votes(folder)) < 5 * FEW


# Two runs


@pytest.fixture
def other(folder: Path, tmp_path: Path) -> Path:
    """Return the run with other words at the end of each turn."""
    place = Path(shutil.copytree(folder, tmp_path / "other"))
    path = place / "episodes.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("That is done.", "All is as you wished."), encoding="utf-8")
    return place


def comparing(prefers: Callable[[str], str]) -> Answerer:
    """Return a judge that finds all solved, and one of two episodes better, by their text."""

    def answer(asked: Asked) -> Answer:
        if asked.body["tools"][0]["function"]["name"] == "report":
            return called(reported(asked))
        choice = prefers(asked.body["messages"][1]["content"])
        wanted = asked.body["tools"][0]["function"]["parameters"]["required"]
        said = {**dict.fromkeys(wanted, "equal"), wanted[0]: choice, "why": "so"}
        return called(said, "compare")

    return answer


@pytest.mark.parametrize(
    ("prefers", "win", "consistency", "first"),
    [
        (lambda text: "first", 0.5, 0.0, 1.0),
        (lambda text: "equal", 0.5, 1.0, None),
        (
            lambda text: (
                "first" if text.index("as you wished") < text.index("is done") else "second"
            ),
            1.0,
            1.0,
            0.5,
        ),
    ],
    ids=["position", "equal", "words"],
)
def test_a_preference_counts_where_both_orders_agree(
    judge: Judge, server: FakeServer, other: Path, prefers, win, consistency, first
) -> None:
    server.answer = comparing(prefers)
    done = judge("--json", against=other)
    (found,) = json.loads(done.out)["wins"]
    assert done.status == 0
    assert (found["compared"], found["by"]["votes"]) == (FEW, FEW)
    assert (found["rate"], found["consistency"], found["first_share"]) == (win, consistency, first)


@pytest.mark.parametrize(("criteria", "number"), [("mixed", 3), ("judged", 6)])
def test_what_is_counted_is_not_asked_for(
    judge: Judge, server: FakeServer, other: Path, criteria: str, number: int
) -> None:
    seen: set[int] = set()
    answer = comparing(lambda _: "equal")

    def looked_at(asked: Asked) -> Answer:
        function = asked.body["tools"][0]["function"]
        if function["name"] == "compare":
            seen.add(len(function["parameters"]["required"]) - 1)
        return answer(asked)

    server.answer = looked_at
    assert judge("--criteria", criteria, against=other).status == 0
    assert seen == {number}


def test_probes_are_put_to_a_live_judge(server: FakeServer, tmp_path: Path, capsys) -> None:
    server.answer = saying()
    words = ["--probe", "--sample", "14", "--category", "base", "--limit", "30", "--no-cache"]
    place = ["--judge", "j", "--base-url", server.base_url, "--keep", str(tmp_path / "kept")]
    assert main(["judge", *words, *place, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["sensitivity"], found["specificity"]) == (1.0, 0.0)
    asked = server.requests
    assert asked == 3 * found["probes"] == 3 * 14
    assert main(["judge", *words, *place, "--resume"]) == 0
    assert server.requests == asked


def test_the_same_episodes_are_a_tie_that_nobody_is_asked_about(
    judge: Judge, server: FakeServer, folder: Path, tmp_path: Path
) -> None:
    same = Path(shutil.copytree(folder, tmp_path / "same"))
    done = judge("--json", against=same)
    (found,) = json.loads(done.out)["wins"]
    assert (found["by"]["same"], found["votes"], found["rate"]) == (FEW, 0, 0.5)
    assert server.requests == 2 * 3 * FEW
