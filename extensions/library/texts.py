"""Text functions: count, compare, order and convert words and letters.

They are stateless. A word is a sequence of letters and digits. Case is ignored unless stated.
"""

from __future__ import annotations

import re
from collections import Counter
from string import ascii_lowercase, ascii_uppercase
from typing import Any

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument
from extensions.library.bounds import check_between, check_count

_MAX_CHARS = 10_000
_WORD = re.compile(r"[^\W_]+")
_ROMAN = {
    "M": 1000, "CM": 900, "D": 500, "CD": 400, "C": 100, "XC": 90, "L": 50, "XL": 40,
    "X": 10, "IX": 9, "V": 5, "IV": 4, "I": 1,
}  # fmt: skip
_MORSE = {
    "A": ".-", "B": "-...", "C": "-.-.", "D": "-..", "E": ".", "F": "..-.", "G": "--.",
    "H": "....", "I": "..", "J": ".---", "K": "-.-", "L": ".-..", "M": "--", "N": "-.",
    "O": "---", "P": ".--.", "Q": "--.-", "R": ".-.", "S": "...", "T": "-", "U": "..-",
    "V": "...-", "W": ".--", "X": "-..-", "Y": "-.--", "Z": "--..", "0": "-----",
    "1": ".----", "2": "..---", "3": "...--", "4": "....-", "5": ".....", "6": "-....",
    "7": "--...", "8": "---..", "9": "----.",
}  # fmt: skip


class TextTools(Backend):
    """Functions for texts."""

    Config = NoConfig

    @reads
    def count_text(self, text: str) -> dict[str, Any]:
        """Count the characters, words and lines of a text.

        Args:
            text: Text of up to 10000 characters.

        Returns:
            characters: Number of characters, with spaces and line breaks.
            words: Number of words.
            lines: Number of lines.

        Examples:
            >>> count_text(text='To be, or not to be')
            {"characters": 19, "words": 6, "lines": 1}
        """
        check_count("text", text, 0, _MAX_CHARS)
        words, lines = len(_WORD.findall(text)), text.count("\n") + 1
        return {"characters": len(text), "words": words, "lines": lines}

    @reads
    def frequent_words(self, text: str, limit: int = 5) -> dict[str, Any]:
        """List the most frequent words of a text, ignoring case.

        Args:
            text: Text of up to 10000 characters.
            limit: Maximum number of words, from 1 to 100.

        Returns:
            words: Words in lower case with their counts, most frequent first. Equally frequent
            words are in alphabetical order.

        Examples:
            >>> frequent_words(text='To be, or not to be', limit=2)
            {"words": [{"word": "be", "count": 2}, {"word": "to", "count": 2}]}
            >>> frequent_words(text='To be, or not to be', limit=0)
            {"error": "limit must be from 1 to 100, not 0."}
        """
        check_count("text", text, 0, _MAX_CHARS)
        check_between("limit", limit, 1, 100)
        counts = Counter(_WORD.findall(text.lower()))
        ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        return {"words": [{"word": word, "count": count} for word, count in ordered[:limit]]}

    @reads
    def count_letter(self, text: str, letter: str) -> dict[str, Any]:
        """Count how often a character occurs in a text, ignoring case.

        Args:
            text: Text of up to 10000 characters.
            letter: One character.

        Returns:
            count: Number of occurrences.

        Examples:
            >>> count_letter(text='Strawberry', letter='r')
            {"count": 3}
            >>> count_letter(text='Strawberry', letter='rr')
            {"error": "The length of letter must be 1, not 2."}
        """
        check_count("text", text, 0, _MAX_CHARS)
        check_count("letter", letter, 1, 1)
        return {"count": text.lower().count(letter.lower())}

    @reads
    def is_palindrome(self, text: str) -> dict[str, Any]:
        """Check whether a text reads the same backwards (palindrome).

        Only letters and digits are compared, ignoring case.

        Args:
            text: Text of up to 10000 characters.

        Returns:
            palindrome: Whether the text is a palindrome.

        Examples:
            >>> is_palindrome(text='A man, a plan, a canal: Panama')
            {"palindrome": true}
        """
        check_count("text", text, 0, _MAX_CHARS)
        read = "".join(_WORD.findall(text.lower()))
        return {"palindrome": read == read[::-1]}

    @reads
    def are_anagrams(self, first: str, second: str) -> dict[str, Any]:
        """Check whether two texts consist of the same letters and digits, ignoring case.

        Args:
            first: First text, up to 10000 characters.
            second: Second text, with the same limit.

        Returns:
            anagrams: Whether the texts are anagrams.

        Examples:
            >>> are_anagrams(first='Dormitory', second='Dirty room')
            {"anagrams": true}
        """
        letters = []
        for name, text in (("first", first), ("second", second)):
            check_count(name, text, 0, _MAX_CHARS)
            letters.append(sorted("".join(_WORD.findall(text.lower()))))
        return {"anagrams": letters[0] == letters[1]}

    @reads
    def edit_distance(self, first: str, second: str) -> dict[str, Any]:
        """Count the character changes between two texts (Levenshtein distance).

        Args:
            first: First text, up to 200 characters; case matters.
            second: Second text, with the same limit.

        Returns:
            distance: Minimum number of characters to insert, delete or replace.

        Examples:
            >>> edit_distance(first='kitten', second='sitting')
            {"distance": 3}
        """
        check_count("first", first, 0, 200)
        check_count("second", second, 0, 200)
        distances = list(range(len(second) + 1))
        for row, one in enumerate(first, start=1):
            diagonal, distances[0] = distances[0], row
            for column, other in enumerate(second, start=1):
                changed = min(distances[column], distances[column - 1], diagonal - (one == other))
                diagonal, distances[column] = distances[column], changed + 1
        return {"distance": distances[-1]}

    @reads
    def shift_letters(self, text: str, shift: int) -> dict[str, Any]:
        """Shift the letters A to Z of a text in the alphabet, as a Caesar cipher does.

        Args:
            text: Text of up to 10000 characters.
            shift: Number of places, negative for backwards; A follows Z.

        Returns:
            text: Text with shifted letters; other characters are unchanged.

        Examples:
            >>> shift_letters(text='Hello, Zoe!', shift=3)
            {"text": "Khoor, Crh!"}
        """
        check_count("text", text, 0, _MAX_CHARS)
        places = shift % len(ascii_uppercase)
        moved = ascii_uppercase[places:] + ascii_uppercase[:places]
        letters = str.maketrans(ascii_uppercase + ascii_lowercase, moved + moved.lower())
        return {"text": text.translate(letters)}

    @reads
    def to_roman(self, number: int) -> dict[str, Any]:
        """Convert a number to a Roman numeral.

        Args:
            number: Number, from 1 to 3999.

        Returns:
            numeral: Roman numeral.

        Examples:
            >>> to_roman(number=2026)
            {"numeral": "MMXXVI"}
            >>> to_roman(number=4000)
            {"error": "number must be from 1 to 3999, not 4000."}
        """
        check_between("number", number, 1, 3999)
        return {"numeral": _roman(number)}

    @reads
    def from_roman(self, numeral: str) -> dict[str, Any]:
        """Convert a Roman numeral to a number.

        Args:
            numeral: Roman numeral from I to MMMCMXCIX, in upper or lower case.

        Returns:
            number: Value of the numeral.

        Examples:
            >>> from_roman(numeral='MCMXC')
            {"number": 1990}
            >>> from_roman(numeral='IIX')
            {"error": "'IIX' is not a Roman numeral from I to MMMCMXCIX."}
        """
        rest, number = numeral.upper(), 0
        for sign, value in _ROMAN.items():
            while rest.startswith(sign):
                rest, number = rest[len(sign) :], number + value
        # Parsing is lenient; writing the number again checks it.
        if rest or not 1 <= number <= 3999 or _roman(number) != numeral.upper():
            raise InvalidArgument(f"{numeral!r:.50} is not a Roman numeral from I to MMMCMXCIX.")
        return {"number": number}

    @reads
    def to_morse(self, text: str) -> dict[str, Any]:
        """Convert a text to Morse code.

        Args:
            text: Text of 1 to 1000 characters; only letters A to Z, digits and spaces.

        Returns:
            code: Dots and dashes, with a space between letters and a slash between words.

        Examples:
            >>> to_morse(text='SOS 112')
            {"code": "... --- ... / .---- .---- ..---"}
            >>> to_morse(text='')
            {"error": "The length of text must be from 1 to 1000, not 0."}
        """
        check_count("text", text, 1, 1000)
        unknown = [sign for sign in text.upper() if sign not in _MORSE and sign != " "]
        if unknown:
            raise InvalidArgument(f"There is no Morse code for {unknown[0]!r}: use A to Z, 0 to 9.")
        words = [" ".join([_MORSE[sign] for sign in word]) for word in text.upper().split()]
        return {"code": " / ".join(words)}

    @reads
    def slug_of(self, title: str) -> dict[str, Any]:
        """Convert a title to a slug, which can be part of a web address.

        Args:
            title: Title of up to 1000 characters.

        Returns:
            slug: Words of the title in lower case, joined by hyphens.

        Examples:
            >>> slug_of(title='What is new in 2026?')
            {"slug": "what-is-new-in-2026"}
        """
        check_count("title", title, 0, 1000)
        return {"slug": "-".join(_WORD.findall(title.lower()))}

    @reads
    def sort_words(self, words: list[str], descending: bool = False) -> dict[str, Any]:
        """Sort words alphabetically, ignoring case.

        Args:
            words: Up to 1000 words.
            descending: Whether to sort in descending order.

        Returns:
            words: Sorted words.

        Examples:
            >>> sort_words(words=['pear', 'Apple', 'fig'])
            {"words": ["Apple", "fig", "pear"]}
        """
        check_count("words", words, 0, 1000)
        ordered = sorted(words, key=lambda word: (word.lower(), word), reverse=descending)
        return {"words": ordered}


def _roman(number: int) -> str:
    numeral = ""
    for sign, value in _ROMAN.items():
        count, number = divmod(number, value)
        numeral += sign * count
    return numeral
