"""Random streams that are immutable values.

A stream is a seed and a position in the output of Python's Mersenne Twister. Forks and snapshots
are therefore cheap. A stream draws the same numbers as ``random.Random(seed)``. With a
key (``occasion``), a draw depends only on seed and key.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from hashlib import sha256
from typing import TYPE_CHECKING, NamedTuple

from envs.lazy_modules import lazy_module
from envs.state import write_canonical

if TYPE_CHECKING:
    import random
    import threading
else:
    # Few sessions draw numbers.
    random = lazy_module("random")
    threading = lazy_module("threading")

_WORD = 32
_BLOCK = 64


class _WordStream:
    """Sequence of 32-bit outputs of one seed, generated on demand."""

    def __init__(self, seed: int) -> None:
        self._source = random.Random(seed)
        self._words = array("I")
        self._growing = threading.Lock()

    def at(self, position: int) -> int:
        try:
            return self._words[position]
        except IndexError:
            self._grow(position)
            return self._words[position]

    def bits(self, count: int, position: int) -> tuple[int, int]:
        """Return a random integer and the next position; the lowest word comes first."""
        if count <= _WORD:
            return self.at(position) >> (_WORD - count), position + 1
        value, shift = 0, 0
        while count - shift > _WORD:
            value |= self.at(position) << shift
            position, shift = position + 1, shift + _WORD
        value |= self.at(position) >> (_WORD - count + shift) << shift
        return value, position + 1

    def _grow(self, position: int) -> None:
        with self._growing:
            while position >= len(self._words):
                self._words.extend([self._source.getrandbits(_WORD) for _ in range(_BLOCK)])


@lru_cache(maxsize=256)
def _get_words(seed: int) -> _WordStream:
    return _WordStream(seed)


class RandomStream(NamedTuple):
    """Random stream; each draw returns a value and the next stream.

    The key ``occasion`` names the purpose of a draw, such as a function and its arguments. Without
    ``occasion``, a draw takes the next numbers of the sequence.
    """

    seed: int
    position: int = 0
    by_occasion: bool = False
    """Whether a draw depends on its key ``occasion`` instead of its position."""

    def uniform(self, low: float, high: float, *occasion: object) -> tuple[float, RandomStream]:
        """Draw a float as ``Random.uniform`` does."""
        if self.by_occasion and occasion:
            return self._at(occasion).uniform(low, high)[0], self
        words, position = _get_words(self.seed), self.position
        first, second = words.at(position), words.at(position + 1)
        fraction = ((first >> 5) * 67108864.0 + (second >> 6)) / 9007199254740992.0
        return low + (high - low) * fraction, RandomStream(
            self.seed, position + 2, self.by_occasion
        )

    def randint(self, low: int, high: int, *occasion: object) -> tuple[int, RandomStream]:
        """Draw an integer as ``Random.randint`` does."""
        if self.by_occasion and occasion:
            return self._at(occasion).randint(low, high)[0], self
        if high < low:
            raise ValueError(f"there is no integer from {low} to {high}")
        span = high - low + 1
        bits = span.bit_length()
        seed, position, by_occasion = self
        words = _get_words(seed)
        while True:
            value, position = words.bits(bits, position)
            if value < span:
                return low + value, RandomStream(seed, position, by_occasion)

    def _at(self, occasion: tuple[object, ...]) -> RandomStream:
        digest = sha256(f"{self.seed} {write_canonical(occasion)}".encode()).digest()
        return RandomStream(int.from_bytes(digest[:8]))
