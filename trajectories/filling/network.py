"""Tweets of the same accounts and of accounts with nearly their names, comments and follows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from trajectories.filling.bulk import Bulk
from trajectories.vocabulary import Vocabulary

_COMMENTS = 8
"""Items for each comment on a tweet that is there."""
_FEW = 2
"""Comments on a tweet that stands beside, at most."""
_ENDINGS = ("daily", "archive", "club", "news", "official")


def fill(
    config: dict[str, Any], whole: Mapping[str, Any], vocabulary: Vocabulary, bulk: Bulk
) -> None:
    """Add tweets with the free ids below the first, comments on all, and users to follow."""
    tweets = whole["tweets"]
    first = min((tweet["id"] for tweet in tweets.values()), default=whole["tweet_counter"])
    people = list(dict.fromkeys(tweet["username"] for tweet in tweets.values()))
    others = _accounts([*people, *whole["following_list"]], vocabulary, bulk.items)
    posting = [*people, *others[: 2 * len(people) + 1]]
    added = {
        str(number): {
            "id": number,
            "username": vocabulary.choice(posting),
            "content": vocabulary.remark("tweet"),
            "tags": [f"#{vocabulary.one('town')}"],
            "mentions": [],
        }
        for number in range(max(0, first - bulk.items), first)
        if str(number) not in bulk.without
    }
    comments = {
        key: [
            *_comments(others, vocabulary, bulk),
            *whole["comments"].get(key, ()),
        ]
        for key in (tweets if bulk.lengthens else added)
    }
    config["tweets"] = {**added, **tweets}
    config["comments"] = comments if bulk.lengthens else {**whole["comments"], **comments}
    config["following_list"] = [*others, *whole["following_list"]]


def _comments(
    others: Sequence[str], vocabulary: Vocabulary, bulk: Bulk
) -> Iterator[dict[str, str]]:
    count = bulk.items // _COMMENTS if bulk.lengthens else vocabulary.number(0, _FEW)
    for _ in range(count):
        username = vocabulary.choice(others)
        yield {"username": username, "content": vocabulary.remark("comment")}


def _accounts(known: Sequence[str], vocabulary: Vocabulary, count: int) -> list[str]:
    """Return accounts: some that are called nearly as those that are known, then any."""
    near = [f"{name}_{ending}" for name in dict.fromkeys(known) for ending in _ENDINGS]
    near = [name for name in near if vocabulary.permits(name)]
    any_ones = [vocabulary.person().lower().replace(" ", "_") for _ in range(count)]
    return [name for name in dict.fromkeys([*near, *any_ones]) if name not in known][:count]
