"""Verdicts and diagnoses of episodes with random changes, compared with recorded ones.

``python -m tests.checkers.causes.test_recorded_diagnoses`` judges the same episodes anew and
writes the verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from checkers.causes.diagnosis import diagnose
from checkers.profile import BFCL, STRICT
from envs.calls import parse_call
from envs.errors import MalformedCall
from runner.episodes.judging import kind_of
from runner.episodes.script_traces import trace, trace_truth
from tests.checkers.causes.test_diagnosis import CAR, CONFIG
from tests.recorded_tables import read_rows, write_rows
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import prepare
from trajectories.schema import Category, Message, Trajectory, Turn

RECORDED = Path(__file__).parents[2] / "golden" / "random_diagnoses.jsonl"
"""One episode a line: its number, its verdict and counts, and the diagnosis of a failure."""
EPISODES = 800
_WORLD = {**CONFIG, "MathAPI": {}, "VehicleControlAPI": CAR["VehicleControlAPI"]}
CALLS = """
mv(source='log.txt', destination='old')|mv(source='draft.txt', destination='old')
cp(source='log.txt', destination='old')|cp(source='log.txt', destination='copy.txt')
cat(file_name='log.txt')|cat(file_name='draft.txt')|cat(file_name='missing.txt')
tail(file_name='log.txt', lines=1)|tail(file_name='log.txt', lines=2)|tail(file_name='draft.txt')
rm(file_name='log.txt')|rm(file_name='draft.txt')|rm(file_name='missing.txt')
cd(folder='old')|cd(folder='new')|cd(folder='..')
mkdir(dir_name='new')|mkdir(dir_name='old')|mkdir(dir_name='log.txt')
touch(file_name='new.txt')|touch(file_name='log.txt')
echo(content='a note', file_name='new.txt')|echo(content='a note', file_name='log.txt')
ls()|ls(a=True)
pwd()
find(path='.', name='log.txt')|find(path='.', name='new')
create_ticket(title='Dark screen', priority=2)|create_ticket(title='Dark screen', priority=4)
create_ticket(title='No sound at all', description='three', priority=20)
close_ticket(ticket_id=1)|close_ticket(ticket_id=2)
get_ticket(ticket_id=1)|get_ticket(ticket_id='1')
resolve_ticket(ticket_id=1, resolution='Dark screen')|resolve_ticket(ticket_id=9, resolution='x')
post_tweet(content='Hello')|post_tweet(content='Dark screen at home')
mention(tweet_id=1, mentioned_usernames=['ann'])|mention(tweet_id=7, mentioned_usernames=['bob'])
follow_user(username_to_follow='bob')|follow_user(username_to_follow='ann')
authenticate_twitter(username='ann', password='secret')
authenticate_twitter(username='ann', password='wrong')
mean(numbers=[1, 2, 3])|mean(numbers=[2, 4])
add(a=mean(numbers=[1, 2, 3]), b=2)|add(a=2.0, b=2)|add(a=2.0, b=200)
pressBrakePedal(pedalPosition=1.0)|pressBrakePedal(pedalPosition=0.1)
startEngine(ignitionMode='START')|startEngine(ignitionMode='STOP')
lockDoors(unlock=True, door=['driver'])|lockDoors(unlock=False, door=['driver', 'passenger'])
fillFuelTank(fuelAmount=5)|fillFuelTank(fuelAmount=500)|fillFuelTank(fuelAmount=5.004)
liter_to_gallon(liter=38)|gallon_to_liter(gallon=38)
"""
"""Calls; those of a line have one function and other arguments."""
STRANGE = (
    "file_mv(source='log.txt', destination='old')",
    "delete(file_name='log.txt')",
    "send_tweet(content='Hello')",
    "make_ticket(title='Dark screen')",
    "mv(from='log.txt', to='old')",
    "startEngine()",
    "create_ticket(title=['Dark screen'], priority='high')",
)
"""Calls of unknown functions and parameters."""
UNREADABLE = ("mv(source='log.txt', destination=", "create_ticket and post_tweet", "rm -f log.txt")
ANSWERS = (
    None,
    "",
    "Done.",
    "All is done: Dark screen.",
    "The call failed.",
    "Which folder do you mean?",
    "Shall I move log.txt to old?",
    "I'm sorry, but I can't do that.",
    "I am unable to find the file.",
    "mv(source='log.txt', destination='old')",
    "[create_ticket(title='Dark screen', priority=2)]",
    '{"name": "post_tweet", "arguments": {"content": "Hello"}}',
)
WORDS = (
    "Move log.txt to old.",
    "Make a folder named new, and enter it.",
    "Open a ticket: Dark screen, priority 2.",
    "Post: Hello. But don't post anything else.",
    "Start the engine, please.",
    "What does log.txt say? Never delete it.",
    "Fill in 5 gallons, then add 2 to the mean of 1, 2 and 3.",
    "Thanks.",
)


def draw_turns(random: Random) -> list[list[str]]:
    """Return the calls of a ground truth."""
    lines = [line.split("|") for line in CALLS.split("\n") if line]
    sizes = random.choices((0, 1, 2, 3, 4), (2, 4, 4, 3, 1), k=random.randint(1, 3))
    return [[random.choice(random.choice(lines)) for _ in range(size)] for size in sizes]


def change_calls(random: Random, calls: list[str]) -> list[str]:
    """Return the calls of a turn after one change."""
    lines = [line.split("|") for line in CALLS.split("\n") if line]
    place = random.randrange(len(calls) + 1)
    before, call, after = calls[:place], calls[place : place + 1], calls[place + 1 :]
    same = [line for line in lines if call and call[0] in line] or [random.choice(lines)]
    other = random.choice(random.choice(lines))
    kinds = {
        "left out": [*before, *after],
        "in another order": random.sample(calls, len(calls)),
        "with another argument": [*before, random.choice(same[0]), *after],
        "after another argument": [*before, random.choice(same[0]), *call, *after],
        "replaced": [*before, other, *after],
        "after another call": [*before, other, *call, *after],
        "repeated": [*before, *(call or same[0][:1]) * random.randint(2, 4), *after],
        "strange": [*before, random.choice(STRANGE), *after],
        "after a strange call": [*before, random.choice(STRANGE + UNREADABLE), *call, *after],
        "unreadable": [*before, random.choice(UNREADABLE), *after],
    }
    (kind,) = random.choices([*kinds], (6, 2, 8, 4, 4, 1, 1, 2, 1, 1))
    return kinds[kind]


def judge(number: int) -> list[Any]:
    """Return the verdict on an episode, and its diagnosis if it fails."""
    random, profile = Random(number), (BFCL, STRICT)[number % 3 > 0]
    truth = draw_turns(random)
    model = [[*calls] for calls in truth]
    for _ in range(random.choice((1, 1, 1, 2, 3))):
        turn = random.randrange(len(model))
        model[turn] = change_calls(random, model[turn])[:8]
    if len(model) > 1 and random.random() < 0.15:
        model[-2:] = model[:-3:-1]
    held_out = {0: ("mv", "post_tweet")} if random.random() < 0.1 else {}
    said = [" ".join(random.sample(WORDS, random.randint(1, 2))) for _ in truth]
    turns = tuple(
        Turn((Message("user", words),), tuple(calls), held_out.get(place, ()))
        for place, (words, calls) in enumerate(zip(said, truth, strict=True))
    )
    trajectory = Trajectory("made_up_0", Category.BASE, tuple(_WORLD), _WORLD, turns)
    data = Dataset("made-up", "1", "0" * 64, {trajectory.id: trajectory})
    prepared = prepare(data, trajectory, profile)
    script, limit = [], random.choice((20, 20, 20, 4))
    for calls in model:
        together = [read(text) for text in calls]
        script.append([together] if random.random() < 0.3 and calls else [[c] for c in together])
    played = trace(prepared, script, profile, limit)
    ended = [
        turn._replace(answer=random.choice(ANSWERS) if random.random() < 0.5 else None)
        if random.random() < 0.9
        else turn._replace(unreadable=MalformedCall("no call", "x"))
        for turn in played.turns
    ]
    played = played._replace(turns=tuple(ended))
    outcomes: Any = [turn.outcome for turn in played.turns]
    kind: Any = kind_of(trajectory)
    verdict = kind.judge_outcomes(prepared, outcomes, profile, played.terminated).verdict
    counted = [verdict.turns_passed, *(verdict.selected or ()), *verdict.hallucinated]
    found = diagnose(trace_truth(prepared, profile), played, verdict, said)
    if found is None:
        return [verdict.irreversible, counted]
    failure = verdict.failure
    seen = [*failure.unseen[:3], *(each.path for each in failure.differences[:3])]
    seen += failure.calls.lines() if failure.calls else ()
    judged = [verdict.error_type, *(each[:100] for each in seen)]
    evidence = {key: value for key, value in found.evidence.items() if key != "result"}
    return [verdict.irreversible, counted, judged, found.sentence, evidence]


def read(text: str) -> Any:
    """Return the call of a text, or the error of a text that is no call."""
    try:
        return parse_call(text)
    except MalformedCall as error:
        return error


def judge_all() -> Iterator[list[Any]]:
    """Yield the verdict on each episode, without results of calls."""
    for number in range(EPISODES):
        yield [number, *judge(number)]


def test_every_verdict_and_diagnosis_of_a_random_episode_is_the_recorded_one() -> None:
    assert [json.loads(json.dumps(each)) for each in judge_all()] == read_rows(RECORDED)


if __name__ == "__main__":
    write_rows(RECORDED, judge_all())
