"""Verdicts on random reads instead of the needed reads, compared with recorded ones.

``python -m tests.checkers.test_recorded_reads`` judges the same episodes anew and writes the
verdicts.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.checkers.test_seen_facts import BROKER, CAR, FILES, PEOPLE, verdict
from tests.recorded_tables import read_rows, write_rows

RECORDED = Path(__file__).parents[1] / "golden" / "reads.jsonl"
"""One episode a line: its number, the failed turn, and the missing facts."""
EPISODES = 500
TICKETS = [
    {"id": 1, "title": "Noise", "description": "in room 4", "status": "Open", "priority": 5},
    {"id": 2, "title": "Smell", "description": "in room 4", "status": "Closed", "priority": 1},
    {"id": 3, "title": "Light", "description": "", "status": "Open", "priority": 1},
]
DESK = {
    "ticket_queue": [{**ticket, "created_by": "ann", "resolution": ""} for ticket in TICKETS],
    "ticket_counter": 4,
    "current_user": "ann",
}
WORLD: dict[str, Any] = {"TicketAPI": DESK, "MathAPI": {}, **BROKER, **CAR, **FILES, **PEOPLE}
CALLS = """
get_ticket(ticket_id=1)|get_ticket(ticket_id=2)|get_ticket(ticket_id=3)|get_user_tickets()
get_user_tickets(status='Open')|get_user_tickets(status='Closed')|get_ticket(ticket_id=9)
get_ticket(ticket_id=1)|close_ticket(ticket_id=1)|edit_ticket(ticket_id=1, updates={'priority': 2})
cat(file_name='a.txt')|cat(file_name='b.txt')|tail(file_name='a.txt')|tail('a.txt', lines=1)|ls()
grep(file_name='a.txt', pattern='o')|grep(file_name='b.txt', pattern='o')|sort(file_name='a.txt')
wc(file_name='a.txt', mode='l')|wc(file_name='a.txt', mode='w')|wc(file_name='b.txt', mode='l')
ls()|ls(a=True)|find(path='.', name='txt')|find(path='.', name='a')|pwd()|touch(file_name='c.txt')
diff(file_name1='a.txt', file_name2='b.txt')|diff(file_name1='b.txt', file_name2='a.txt')
get_watchlist()|get_stock_info(symbol='NVDA')|get_stock_info(symbol='AAPL')|get_account_info()
get_stock_info(symbol='NVDA')|get_symbol_by_name(name='Nvidia')|get_available_stocks(sector='Tech')
add_to_watchlist(stock='GOOG')|remove_stock_from_watchlist(symbol='NVDA')|get_watchlist()
get_user_id(user='Agnes Moor')|get_user_id(user='Agnes Muir')|list_users()|get_message_stats()
send_message(receiver_id='USR301', message='Hello')|view_messages_sent()|get_message_stats()
displayCarStatus(option='fuel')|displayCarStatus(option='doors')|check_tire_pressure()
displayCarStatus(option='fuel')|fillFuelTank(fuelAmount=2)|gallon_to_liter(gallon=10)
mean(numbers=[1, 2, 6])|divide(a=9, b=3)|sum_values(numbers=[1, 2])|max_value(numbers=[3, 1])
percentage(part=60, whole=200)|multiply(a=10, b=3)|absolute_value(number=-30)|add(a=29, b=1)
"""
"""Calls; the results of a line have facts in common."""
WORDS = (
    "Show me tickets 1 and 3.",
    "Which tickets are open?",
    "What is in a.txt? It has the word three.",
    "How many lines has a.txt: 2?",
    "What is Nvidia's price, and what is on my watch list: NVDA?",
    "Who is Agnes Moor? Tell USR301 Hello.",
    "How much fuel have I: 10 gallons?",
    "What is the mean of 1, 2 and 6?",
)


def draw_calls(random: Random, line: list[str]) -> list[str]:
    """Return some calls of a line, and sometimes another call before them."""
    calls = random.sample(line, random.randint(1, 2))
    return calls if random.random() < 0.8 else [random.choice(line), *calls]


def judge_all() -> Iterator[list[Any]]:
    """Yield the verdict on each episode."""
    lines = [line.split("|") for line in CALLS.split("\n") if line]
    for number in range(EPISODES):
        random = Random(number)
        drawn = [random.choice(lines) for _ in range(random.randint(1, 3))]
        turns: list[Any] = [(random.choice(WORDS), draw_calls(random, line)) for line in drawn]
        model = [draw_calls(random, line) for line in drawn]
        kept = random.randrange(len(turns))
        model[:kept] = [turn[1] for turn in turns[:kept]]
        found = verdict(WORLD, turns, model)
        failure = found.failure
        seen = [each[:80] for each in failure.unseen[:4]] if failure else []
        seen += failure.calls.lines() if failure and failure.calls else []
        yield [number, found.error_type, found.failed_turn, [*(found.selected or ())], seen]


def test_every_verdict_on_other_reads_is_the_recorded_one() -> None:
    assert [json.loads(json.dumps(each)) for each in judge_all()] == read_rows(RECORDED)


if __name__ == "__main__":
    write_rows(RECORDED, judge_all())
