"""The words by which a scenario means something, so that what is generated does without them."""

from __future__ import annotations

import re
from collections.abc import Sequence

from checkers.telling.dates import days
from checkers.told import literals
from envs.backends.travel_facts import AIRPORTS, CITIES
from extensions.authoring.making.base import calls
from trajectories.schema import Trajectory
from trajectories.told import words
from trajectories.vocabulary import NOTES, Phrases, clashing, tokens

NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_WHOLE = ("sort", "tail", "wc", "diff", "rmdir")
"""Functions to which older entries, or another file in a directory, make a difference."""


def meant(base: Trajectory, said: Sequence[str], phrases: Phrases = NOTES) -> tuple[str, ...]:
    """Return the words that bulk does without.

    Words of the vocabulary that a request uses, parts of people's names that stand alone, airports
    and days of the requests (without a year, those of all), files that more is done with than
    reading, directories to remove, and the numbers that a variant waits for.
    """
    names = _names(base)
    spoken = "\n".join([*words(base.turns), *said])
    truth = [call for turn in base.turns for call in calls(turn)]
    literal = [str(value) for call in truth for value in literals(call.kwargs)]
    alone = spoken
    for name in names:
        alone = re.sub(re.escape(name), " ", alone, flags=re.IGNORECASE)
    heard = {*tokens(alone), *(word for text in literal for word in tokens(text))}
    named = [word for name in names for word in tokens(name) if word not in tokens(alone)]
    found = {*(clashing(heard, names, phrases) - {*named})}
    airports = {CITIES[city] for city in CITIES if city.casefold() in spoken.casefold()}
    airports |= {code for code in AIRPORTS if code in {*re.findall(r"\w+", spoken), *literal}}
    found |= {code.casefold() for code in airports}
    found |= {text for text in literal if _DAY.fullmatch(text)}
    found |= {*_DAY.findall(spoken)}
    found |= {f"{day.month:02}-{day.day:02}" for day in days(spoken) if day.year is None}
    found |= {*NUMBER.findall("\n".join(said))}
    whole = {str(v) for call in truth if call.name in _WHOLE for v in call.kwargs.values()}
    moved = [call.kwargs for call in truth if call.name in ("cp", "mv")]
    found |= whole | {move["source"] for move in moved if move["destination"] in whole}
    return tuple(sorted(found))


def _names(base: Trajectory) -> list[str]:
    """Return the people and accounts of a scenario, which bulk has namesakes of."""
    get = base.config.get
    people = [*get("MessageAPI", {}).get("user_map", {})]
    cards = get("TravelAPI", {}).get("credit_card_list", {}).values()
    people += [card.get("cardholder_name", "") for card in cards]
    tweets = get("TwitterAPI", {}).get("tweets", {}).values()
    people += [tweet["username"] for tweet in tweets]
    people += get("TwitterAPI", {}).get("following_list", ())
    # The longest first, so that no part of one is taken for another.
    return sorted({name for name in people if name}, key=lambda name: (-len(name), name))
