"""Data of the recorded public services: places, shares, films and others.

Places, codes and films are real; prices, counts and products are invented.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from typing import NamedTuple

from extensions.library.calendar import easter_of


class MapPlace(NamedTuple):
    """Place on a map."""

    name: str
    country: str
    country_code: str
    latitude: float
    longitude: float
    time_zone: str
    postcode: str


PLACES = tuple(
    MapPlace(*row)
    for row in (
        ("New York", "United States", "US", 40.7128, -74.006, "America/New_York", "10001"),
        ("Los Angeles", "United States", "US", 34.0522, -118.2437, "America/Los_Angeles", "90012"),
        ("San Francisco", "United States", "US", 37.77, -122.42, "America/Los_Angeles", "94102"),
        ("Cupertino", "United States", "US", 37.323, -122.0322, "America/Los_Angeles", "95014"),
        ("Mountain View", "United States", "US", 37.42, -122.08, "America/Los_Angeles", "94043"),
        ("Stanford", "United States", "US", 37.4275, -122.1697, "America/Los_Angeles", "94305"),
        ("Berkeley", "United States", "US", 37.8756, -122.2588, "America/Los_Angeles", "94709"),
        ("Monterey", "United States", "US", 36.6182, -121.9018, "America/Los_Angeles", "93940"),
        ("Chicago", "United States", "US", 41.8781, -87.6298, "America/Chicago", "60601"),
        ("Houston", "United States", "US", 29.7604, -95.3698, "America/Chicago", "77002"),
        ("Montgomery", "United States", "US", 32.3668, -86.3, "America/Chicago", "36104"),
        ("Denver", "United States", "US", 39.7392, -104.9903, "America/Denver", "80202"),
        ("Charlotte", "United States", "US", 35.2271, -80.8431, "America/New_York", "28202"),
        ("Ottawa", "Canada", "CA", 45.4215, -75.6972, "America/Toronto", "K1P"),
        ("Sao Paulo", "Brazil", "BR", -23.5505, -46.6333, "America/Sao_Paulo", "01310"),
        ("London", "United Kingdom", "GB", 51.5074, -0.1278, "Europe/London", "WC2N"),
        ("Paris", "France", "FR", 48.8566, 2.3522, "Europe/Paris", "75001"),
        ("Madrid", "Spain", "ES", 40.4168, -3.7038, "Europe/Madrid", "28013"),
        ("Berlin", "Germany", "DE", 52.52, 13.405, "Europe/Berlin", "10178"),
        ("Rome", "Italy", "IT", 41.9028, 12.4964, "Europe/Rome", "00184"),
        ("Cairo", "Egypt", "EG", 30.0444, 31.2357, "Africa/Cairo", "11511"),
        ("Cape Town", "South Africa", "ZA", -33.9249, 18.4241, "Africa/Johannesburg", "8001"),
        ("New Delhi", "India", "IN", 28.6139, 77.209, "Asia/Kolkata", "110001"),
        ("Manila", "Philippines", "PH", 14.5995, 120.9842, "Asia/Manila", "1000"),
        ("Taipei", "Taiwan", "TW", 25.033, 121.5654, "Asia/Taipei", "100"),
        ("Yakutsk", "Russia", "RU", 62.0355, 129.6755, "Asia/Yakutsk", "677000"),
        ("Tokyo", "Japan", "JP", 35.6895, 139.6917, "Asia/Tokyo", "100-0001"),
        ("Sydney", "Australia", "AU", -33.8688, 151.2093, "Australia/Sydney", "2000"),
        ("Base Dumont", "Antarctica", "AQ", -66.66, 140.0, "Antarctica/DumontDUrville", "-"),
    )
)  # fmt: skip


def nearest(latitude: float, longitude: float) -> MapPlace:
    """Return the place nearest to a position."""

    def cosine(place: MapPlace) -> float:
        a, b = math.radians(latitude), math.radians(place.latitude)
        apart = math.radians(longitude - place.longitude)
        return math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(apart)

    return max(PLACES, key=cosine)


def place_in(address: str) -> MapPlace | None:
    """Return the last known place in an address, or None if the address contains no known place."""
    words = f" {' '.join(address.lower().replace(',', ' ').split())} "
    found = [(words.rfind(f" {place.name.lower()} "), place) for place in PLACES]
    where, place = max(found, key=lambda pair: pair[0])
    return place if where >= 0 else None


class EpidemicCounts(NamedTuple):
    """Invented epidemic counts of a country."""

    country: str
    continent: str
    population: int
    active: int
    deaths: int


EPIDEMIC = (
    EpidemicCounts("USA", "North-America", 331_000_000, 780_000, 1_180_000),
    EpidemicCounts("Brazil", "South-America", 212_000_000, 1_700_000, 701_000),
    EpidemicCounts("India", "Asia", 1_400_000_000, 44_000, 532_000),
    EpidemicCounts("Russia", "Europe", 146_000_000, 210_000, 401_000),
    EpidemicCounts("UK", "Europe", 67_000_000, 5_900, 229_000),
    EpidemicCounts("Italy", "Europe", 60_000_000, 130_000, 190_000),
    EpidemicCounts("France", "Europe", 65_000_000, 9_400, 155_000),
    EpidemicCounts("Germany", "Europe", 83_000_000, 84_000, 178_000),
    EpidemicCounts("Spain", "Europe", 47_000_000, 260_000, 121_000),
    EpidemicCounts("Iran", "Asia", 85_000_000, 3_200, 146_000),
    EpidemicCounts("Japan", "Asia", 126_000_000, 17_000, 74_000),
    EpidemicCounts("China", "Asia", 1_410_000_000, 118_000, 5_200),
    EpidemicCounts("Uganda", "Africa", 46_000_000, 640, 3_600),
)
EPIDEMIC_NAMES = {"United States": "USA", "US": "USA", "United Kingdom": "UK", "GB": "UK"}
"""Other names of countries."""

PER_DOLLAR: Mapping[str, float] = {
    "USD": 1.0, "AED": 3.67, "ARS": 870.0, "AUD": 1.52, "BRL": 5.1, "CAD": 1.36, "CHF": 0.9,
    "CNY": 7.2, "CZK": 23.4, "DKK": 6.9, "EGP": 47.0, "EUR": 0.92, "GBP": 0.79, "HKD": 7.82,
    "HUF": 362.0, "IDR": 15_900.0, "ILS": 3.7, "INR": 83.2, "JPY": 151.0, "KRW": 1350.0,
    "MXN": 16.9, "NGN": 1400.0, "NOK": 10.7, "NZD": 1.66, "PHP": 56.4, "PLN": 3.96, "RUB": 92.0,
    "SAR": 3.75, "SEK": 10.5, "SGD": 1.35, "THB": 36.5, "TRY": 32.1, "TWD": 32.0, "ZAR": 18.8,
}  # fmt: skip
"""Invented value of one US dollar in each currency."""


class ShareQuote(NamedTuple):
    """Share with an invented price."""

    name: str
    price: float


SHARES: Mapping[str, ShareQuote] = {
    "AAPL": ShareQuote("Apple Inc.", 171.5),
    "AMZN": ShareQuote("Amazon.com, Inc.", 118.2),
    "BABA": ShareQuote("Alibaba Group Holding Limited", 72.4),
    "GOOG": ShareQuote("Alphabet Inc. Class C", 139.9),
    "GOOGL": ShareQuote("Alphabet Inc. Class A", 138.6),
    "META": ShareQuote("Meta Platforms, Inc.", 489.0),
    "MSFT": ShareQuote("Microsoft Corporation", 412.3),
    "NFLX": ShareQuote("Netflix, Inc.", 602.7),
    "NVDA": ShareQuote("NVIDIA Corporation", 881.0),
    "TSLA": ShareQuote("Tesla, Inc.", 222.2),
}


class Film(NamedTuple):
    """Film."""

    title: str
    year: str
    rated: str
    director: str


FILMS = (
    Film("Avatar", "2009", "PG-13", "James Cameron"),
    Film("Barbie", "2023", "PG-13", "Greta Gerwig"),
    Film("Django Unchained", "2012", "R", "Quentin Tarantino"),
    Film("Gorilla", "2018", "R", "Recorded Director"),
    Film("Inception", "2010", "PG-13", "Christopher Nolan"),
    Film("Kill Bill", "2003", "R", "Quentin Tarantino"),
    Film("Oppenheimer", "2023", "R", "Christopher Nolan"),
    Film("Pulp Fiction", "1994", "R", "Quentin Tarantino"),
    Film("Reservoir Dogs", "1992", "R", "Quentin Tarantino"),
    Film("Schindler's List", "1993", "R", "Steven Spielberg"),
    Film("The Dark Knight", "2008", "PG-13", "Christopher Nolan"),
    Film("The Godfather", "1972", "R", "Francis Ford Coppola"),
    Film("The Social Network", "2010", "PG-13", "David Fincher"),
)

POSTCODES: Mapping[str, str] = {
    "08540": "Princeton",
    "10001": "New York",
    "60601": "Chicago",
    "77002": "Houston",
    "90210": "Beverly Hills",
    "94102": "San Francisco",
}


class Product(NamedTuple):
    """Invented product with a real product number."""

    title: str
    price: str
    rating: str


PRODUCTS: Mapping[str, Product] = {
    "B08PPDJWC8": Product("Recorded telephone, small, black", "$221.00", "4.1"),
    "B07ZPKBL9V": Product("Recorded telephone, red", "$214.00", "4.3"),
    "B08BHXG144": Product("Recorded telephone, large, green", "$361.00", "4.4"),
    "B075H2B962": Product("Recorded gel, travel size", "$8.10", "4.5"),
}

_NEW_YEAR, _CHRISTMAS = (1, 1, "New Year's Day"), (12, 25, "Christmas Day")
_GOOD_FRIDAY, _EASTER_MONDAY = (-2, "Good Friday"), (1, "Easter Monday")
_ASCENSION, _WHIT_MONDAY = (39, "Ascension Day"), (50, "Whit Monday")
Fixed = tuple[int, int, str]
"""Month, day and name."""
Moving = tuple[int, str]
"""Number of days after Easter Sunday, and name of the holiday."""
HOLIDAYS: Mapping[str, tuple[Sequence[Fixed], Sequence[Moving]]] = {
    "CA": (
        [_NEW_YEAR, (7, 1, "Canada Day"), (11, 11, "Remembrance Day"), _CHRISTMAS],
        [_GOOD_FRIDAY, _EASTER_MONDAY],
    ),
    "DE": (
        [_NEW_YEAR, (5, 1, "Labour Day"), (10, 3, "German Unity Day"), _CHRISTMAS],
        [_GOOD_FRIDAY, _EASTER_MONDAY, _ASCENSION, _WHIT_MONDAY],
    ),
    "ES": (
        [_NEW_YEAR, (1, 6, "Epiphany"), (5, 1, "Labour Day"), (8, 15, "Assumption"), _CHRISTMAS],
        [_GOOD_FRIDAY],
    ),
    "FR": (
        [_NEW_YEAR, (5, 1, "Labour Day"), (7, 14, "National Day"), (11, 1, "All Saints"),
         _CHRISTMAS],
        [_EASTER_MONDAY, _ASCENSION, _WHIT_MONDAY],
    ),
    "GB": ([_NEW_YEAR, _CHRISTMAS, (12, 26, "Boxing Day")], [_GOOD_FRIDAY, _EASTER_MONDAY]),
    "JP": (
        [_NEW_YEAR, (2, 11, "Foundation Day"), (4, 29, "Showa Day"), (5, 3, "Constitution Day"),
         (5, 5, "Children's Day"), (8, 11, "Mountain Day"), (11, 3, "Culture Day")],
        [],
    ),
    "US": ([_NEW_YEAR, (6, 19, "Juneteenth"), (7, 4, "Independence Day"), _CHRISTMAS], []),
}  # fmt: skip
"""Some holidays of each country: fixed dates, and days after Easter Sunday."""


def holidays(year: int, country: str) -> list[tuple[date, str]]:
    """Return days and names of a country's holidays, earliest first."""
    fixed, moving = HOLIDAYS[country]
    easter = easter_of(year)
    days = [(date(year, month, day), name) for month, day, name in fixed]
    return sorted([*days, *((easter + timedelta(days=away), name) for away, name in moving)])


_WIDENED = {0: (2, 3, False), 1: (3, 4, True), 3: (0, 4, True), 4: (0, 3, False)}
"""Long weekend for each weekday of a holiday.

For example, a holiday on a Tuesday (1) gives 4 days from Saturday to Tuesday, with Monday off.
"""


def long_weekends(days: Sequence[date]) -> list[tuple[date, int, bool]]:
    """Return each long weekend: its first day, its length, and whether it needs a day off."""
    widening = [(day, *_WIDENED[day.weekday()]) for day in days if day.weekday() in _WIDENED]
    return [(day - timedelta(days=before), length, off) for day, before, length, off in widening]
