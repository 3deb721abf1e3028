"""Random numbers as a value.

A stream is a seed and a position in the 32-bit output of Python's Mersenne Twister. It is
two integers, so that forking and snapshots cost nothing, and it yields exactly what
``random.Random(seed)`` yields for the same sequence of draws. Or it draws by occasion: then a
value follows from the seed and from what it is drawn for, whatever was drawn before.
"""

from __future__ import annotations

from array import array
from functools import lru_cache
from hashlib import sha256
from random import Random
from threading import Lock
from typing import NamedTuple

from envs.state import canonical

_WORD = 32
_BLOCK = 64


class _Words:
    """The 32-bit outputs of one seed, produced as far as anyone has asked."""

    def __init__(self, seed: int) -> None:
        self._source = Random(seed)
        self._words = array("I")
        self._growing = Lock()

    def at(self, position: int) -> int:
        """Return one output."""
        try:
            return self._words[position]
        except IndexError:
            self._grow(position)
            return self._words[position]

    def bits(self, count: int, position: int) -> tuple[int, int]:
        """Return an integer of so many bits, lowest word first, and the position after it."""
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
def _words(seed: int) -> _Words:
    return _Words(seed)


class RandomStream(NamedTuple):
    """A position in the outputs of one seed; a draw returns the value and the stream after it.

    What a draw is for is its occasion: the function, and what of arguments and state tells it from
    other draws. A draw without one always goes in sequence.
    """

    seed: int
    position: int = 0
    by_occasion: bool = False
    """Whether a draw depends on its occasion alone, so that it leaves the stream as it is."""

    def uniform(self, low: float, high: float, *occasion: object) -> tuple[float, RandomStream]:
        """Draw a float between low and high, as ``Random.uniform`` does."""
        if self.by_occasion and occasion:
            return self._at(occasion).uniform(low, high)[0], self
        words, position = _words(self.seed), self.position
        first, second = words.at(position), words.at(position + 1)
        fraction = ((first >> 5) * 67108864.0 + (second >> 6)) / 9007199254740992.0
        return low + (high - low) * fraction, RandomStream(
            self.seed, position + 2, self.by_occasion
        )

    def randint(self, low: int, high: int, *occasion: object) -> tuple[int, RandomStream]:
        """Draw an integer from low to high, both included, as ``Random.randint`` does."""
        if self.by_occasion and occasion:
            return self._at(occasion).randint(low, high)[0], self
        if high < low:
            raise ValueError(f"there is no integer from {low} to {high}")
        span = high - low + 1
        bits = span.bit_length()
        seed, position, by_occasion = self
        words = _words(seed)
        while True:
            value, position = words.bits(bits, position)
            if value < span:
                return low + value, RandomStream(seed, position, by_occasion)

    def _at(self, occasion: tuple[object, ...]) -> RandomStream:
        digest = sha256(f"{self.seed} {canonical(occasion)}".encode()).digest()
        return RandomStream(int.from_bytes(digest[:8]))
