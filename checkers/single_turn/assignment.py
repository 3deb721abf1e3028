"""Maximum matching of what is wanted with what was given."""

from __future__ import annotations

from collections.abc import Callable


def first_unmatched(wanted: int, given: int, fits: Callable[[int, int], bool]) -> int | None:
    """Return the first wanted thing for which nothing given is left, None if all find their own.

    Things that were matched earlier move to others where that makes room.

    Args:
        wanted: How many things are wanted.
        given: How many were given.
        fits: Tells of two indices, wanted and given, whether the one may be matched to the other.
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

    return next((one for one in range(wanted) if not match(one, set())), None)
