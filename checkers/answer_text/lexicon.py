"""English words for numbers, scales and months."""

from __future__ import annotations

ONES, TENS, MONTHS, ORDINALS = (
    words.split()
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
        "fifteen sixteen seventeen eighteen nineteen",
        "twenty thirty forty fifty sixty seventy eighty ninety",
        "january february march april may june july august september october november december",
        "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth "
        "thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth twentieth "
        "twenty-first twenty-second twenty-third twenty-fourth twenty-fifth twenty-sixth "
        "twenty-seventh twenty-eighth twenty-ninth thirtieth thirty-first",
    )
)
NUMBERS = {
    **{word: value for value, word in enumerate(ONES)},
    **{word: 10 * value for value, word in enumerate(TENS, start=2)},
    "pair": 2,
    "trio": 3,
    "dozen": 12,
}
SCALES = {
    "hundred": 100,
    "thousand": 1_000,
    "grand": 1_000,
    "k": 1_000,
    "million": 1_000_000,
    "mn": 1_000_000,
    "billion": 1_000_000_000,
    "bn": 1_000_000_000,
}
