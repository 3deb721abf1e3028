"""Matching of what is wanted with what was given, one to one.

It ends at the first wanted thing for which nothing is left: that one decides, and the others are
not looked at.
"""

from __future__ import annotations

from collections.abc import Callable

Fits = Callable[[int, int], bool]
"""Tells of two indices, wanted and given, whether the one may be matched to the other."""


def first_unmatched(wanted: int, given: int, fits: Fits) -> int | None:
    """Return the first wanted thing for which nothing given is left, None if all find their own."""
    matched = len(matched_best(wanted, given, fits))
    return matched if matched < wanted else None


def matched_best(wanted: int, given: int, fits: Fits) -> dict[int, int]:
    """Return matches, from wanted to given, up to the first thing for which nothing is left.

    Things that were matched earlier move to others where that makes room.

    Args:
        wanted: How many things are wanted.
        given: How many were given.
        fits: Which may be matched.
    """
    wanted_of: dict[int, int] = {}

    def match(one: int, tried: set[int]) -> bool:
        for candidate in range(given):
            if candidate in tried or not fits(one, candidate):
                continue
            tried.add(candidate)
            if candidate not in wanted_of or match(wanted_of[candidate], tried):
                wanted_of[candidate] = one
                return True
        return False

    for one in range(wanted):
        if not match(one, set()):
            break
    return {one: candidate for candidate, one in wanted_of.items()}


def matched_in_order(wanted: int, given: int, fits: Fits) -> dict[int, int]:
    """Do as ``matched_best`` does, but leave what was matched earlier where it is."""
    matched: dict[int, int] = {}
    free = [*range(given)]
    for one in range(wanted):
        candidate = next((candidate for candidate in free if fits(one, candidate)), None)
        if candidate is None:
            break
        matched[one] = candidate
        free.remove(candidate)
    return matched
