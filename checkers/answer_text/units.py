"""Table of units and currencies with their words and signs."""

from __future__ import annotations

import re
from collections.abc import Mapping

_NAMES = {
    "USD": "usd $ us$ dollar bucks buck greenbacks",
    "CAD": "cad c$ ca$ $ dollar",
    "AUD": "aud a$ au$ $ dollar",
    "NZD": "nzd nz$ $ dollar",
    "SGD": "sgd s$ $ dollar",
    "HKD": "hkd hk$ $ dollar",
    "EUR": "eur € euro",
    "GBP": "gbp £ pound sterling quid",
    "JPY": "jpy ¥ yen",
    "CNY": "cny rmb ¥ yuan renminbi",
    "INR": "inr ₹ rs rupee",
    "CHF": "chf franc",
    "BRL": "brl r$ real reais",
    "MXN": "mxn peso",
    "RUB": "rub ₽ ruble rouble",
    "KRW": "krw ₩ won",
    "SEK": "sek krona kronor",
    "NOK": "nok krone kroner",
    "DKK": "dkk krone kroner",
    "PLN": "pln zloty",
    "TRY": "try ₺ lira",
    "percent": "% percent pct percentage",
    "gallon": "gal gallon",
    "liter": "l liter litre ltr",
    "milliliter": "ml milliliter millilitre",
    "mile": "mi mile",
    "kilometer": "km kilometer kilometre",
    "meter": "m meter metre",
    "centimeter": "cm centimeter centimetre",
    "millimeter": "mm millimeter millimetre",
    "foot": "ft foot feet '",
    "inch": 'in inch inches "',
    "yard": "yd yard",
    "kilogram": "kg kilogram kilo",
    "gram": "g gram gramme",
    "pound": "lb lbs pound",
    "ounce": "oz ounce",
    "ton": "ton tonne",
    "psi": "psi",
    "bar": "bar",
    "kilopascal": "kpa kilopascal",
    "kelvin": "kelvin",
    "celsius": "°c c celsius centigrade ° degree",
    "fahrenheit": "°f f fahrenheit ° degree",
    "mile per hour": "mph mi/h",
    "kilometer per hour": "km/h kmh kph kmph",
    "mile per gallon": "mpg",
    "revolution per minute": "rpm",
    "volt": "v volt",
    "watt": "w watt",
    "kilowatt": "kw kilowatt",
    "kilowatt hour": "kwh",
    "decibel": "db decibel",
    "hertz": "hz hertz",
    "second": "s sec second",
    "minute": "min minute",
    "hour": "h hr hour",
    "day": "day",
    "week": "wk week",
    "month": "month",
    "year": "yr year",
    "byte": "b byte",
    "kilobyte": "kb kilobyte",
    "megabyte": "mb megabyte",
    "gigabyte": "gb gigabyte",
}
_PER = {"mile": "mile per hour", "kilometer": "kilometer per hour"}

UNITS: Mapping[str, frozenset[str]] = {
    sign: frozenset(unit for unit, signs in _NAMES.items() if sign in signs.split())
    for sign in {sign for signs in _NAMES.values() for sign in signs.split()}
}

_CURRENCIES = {
    sign: frozenset(name for name in found if name.isupper())
    for sign, found in UNITS.items()
    if any(name.isupper() for name in found)
}

SIGNS = "".join(sorted({sign for sign in UNITS if len(sign) == 1 and not sign.isalnum()}))

_SIGN = f"[{re.escape(SIGNS)}]"
_BEFORE = re.compile(rf"((?<![^\W_])[A-Za-z]{{1,2}}\$|{_SIGN}|(?<![^\W_])[A-Za-z]{{2,3}}) ?-?$")
_AFTER = re.compile(rf"([ -]?)((?:US|CA|A|C) ?\$|°[CF]?\b|[^\W\d_]+(?:/h\b)?|{_SIGN})")
_OF_A_COUNTRY = re.compile(r" (?:US|U\.S\.|Canadian|Australian)(?= dollars?\b)", re.IGNORECASE)
_COUNTRIES = {"c": "CAD", "a": "AUD", "u": "USD"}
_AMBIGUOUS_WORDS = {"in", "a", "s", "c", "b", "v", "w", "real", "won", "second", "bar", "try"}
"""Words that are rarely units after a space: "5in" has a unit, "5 in total" has no unit."""


def find_units(text: str, start: int, end: int) -> frozenset[str]:
    """Return the possible units next to a number."""
    if country := _OF_A_COUNTRY.match(text, end):
        return frozenset({_COUNTRIES[country[0][1].lower()]})
    if after := _AFTER.match(text, end):
        found = units(after[2].replace(" ", ""))
        if found and not (after[1] == " " and after[2] in _AMBIGUOUS_WORDS):
            per_hour = text[after.end() : after.end() + 9].lower() in (" per hour", " an hour")
            return frozenset({_PER.get(name, name) for name in found}) if per_hour else found
    before = _BEFORE.search(text[max(0, start - 6) : start])
    return _CURRENCIES.get(before[1].casefold(), frozenset()) if before else frozenset()


def units(word: str) -> frozenset[str]:
    """Return the units that a word, in the singular or plural, can mean."""
    low = word.casefold()
    return UNITS.get(low) or UNITS.get(singular(low)) or frozenset()


def find_named_units(unit: str) -> frozenset[str]:
    """Return the units that a name or sign in a fact can mean."""
    whole = unit.casefold()
    exact = {name for name in _NAMES if name.casefold() in (whole, singular(whole))}
    return frozenset(exact) or units(unit)


def singular(word: str) -> str:
    """Return the singular of a word."""
    if len(word) > 3 and word.endswith("ies"):
        return f"{word[:-3]}y"
    if word.endswith(("ches", "shes", "sses", "xes")):
        return word[:-2]
    return word[:-1] if len(word) > 2 and word.endswith("s") and word[-2] != "s" else word
