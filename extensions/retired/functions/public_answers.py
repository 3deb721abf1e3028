"""Fixture with answers of the public web services that BFCL's retired entries use.

The addresses, parameters and answer formats are the same as in the real services. The values are
invented or computed, and never change. ``answer`` uses all parameters of a request, so a wrong
argument changes the answer.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from datetime import date, timedelta
from ipaddress import ip_address
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

from extensions.retired.functions import public_tables as tables
from extensions.retired.functions.web import WebAnswer, WebRequest

_KEY = "x-rapidapi-key"
_FIRST_DAY = date(2024, 3, 1)
_FIRST_SECOND = 1_690_000_000
_INTERVALS = {
    "5m": 300, "15m": 900, "30m": 1800, "1h": 3600,
    "1d": 86_400, "1wk": 604_800, "1mo": 2_592_000, "3mo": 7_776_000,
}  # fmt: skip
_MAX_DAYS = 16
_MAX_PLACES = 10
_MAX_VARIABLES = 60

Parameters = Mapping[str, str]
"""Query of a request; repeated values are joined by commas."""


def is_known(host: str) -> bool:
    """Tell whether the fixture has answers for a host."""
    return host in _SERVICES


def answer(request: WebRequest) -> WebAnswer:
    """Return the recorded answer to a request."""
    parts = urlsplit(request.url)
    host = parts.hostname or ""
    query = parse_qs(parts.query, keep_blank_values=True)
    given = {name: ",".join(values) for name, values in query.items()}
    path = [unquote(part) for part in parts.path.strip("/").split("/")]
    if request.method not in ("GET", "HEAD", "OPTIONS"):
        status, body = 405, {"message": f"{request.method} is not allowed here"}
    elif host.endswith(".p.rapidapi.com") and (refusal := _unknown_reader(host, request)):
        status, body = refusal
    else:
        status, body = _SERVICES[host](path, given)
    headers = {"content-type": "application/json", "allow": "GET, HEAD, OPTIONS"}
    return WebAnswer(status, None if request.method == "HEAD" else body, headers, fixture=True)


Reply = tuple[int, Any]
"""Status and body."""


def _unknown_reader(host: str, request: WebRequest) -> Reply | None:
    headers = {name.lower(): value for name, value in request.headers.items()}
    if not headers.get(_KEY):
        return 401, {"message": "the header X-RapidAPI-Key is missing"}
    if headers.get("x-rapidapi-host", host) != host:
        return 403, {"message": "X-RapidAPI-Host must be the host of the request"}
    return None


def _not_there() -> Reply:
    return 404, {"message": "there is nothing at this path"}


def _coordinates(given: Parameters, north: str, east: str) -> tuple[float, float] | None:
    """Return latitude and longitude of a request, or None if they are invalid."""
    try:
        latitude, longitude = float(given[north]), float(given[east])
    except (KeyError, ValueError):
        return None
    return (latitude, longitude) if abs(latitude) <= 90 and abs(longitude) <= 180 else None


def _time_zone(path: Sequence[str], given: Parameters) -> Reply:
    if path != ["timezone"]:
        return _not_there()
    there = _coordinates(given, "lat", "lon")
    if there is None:
        return 400, {"message": "lat and lon are degrees"}
    place = tables.nearest(*there)
    zone = {
        "CountryAlpha2": place.country_code,
        "CountryName": place.country,
        "Result": "In zone",
        "TimezoneId": place.time_zone,
    }
    notice = {} if given.get("c") == "1" else {"Notice": "Recorded; of nobody's map."}
    return 200, {**notice, "Safezone": 0.5, "Zones": [zone]}


def _epidemic(path: Sequence[str], given: Parameters) -> Reply:
    if path != ["statistics"]:
        return _not_there()
    wanted = given.get("country")
    key = tables.EPIDEMIC_NAMES.get(wanted or "", wanted or "").lower()
    found = [each for each in tables.EPIDEMIC if wanted is None or each.country.lower() == key]
    response = [
        {
            "continent": each.continent,
            "country": each.country,
            "population": each.population,
            "cases": {
                "new": None,
                "active": each.active,
                "critical": None,
                "recovered": each.active * 30,
                "1M_pop": str(each.active * 31_000_000 // each.population),
                "total": each.active * 31,
            },
            "deaths": {
                "new": None,
                "1M_pop": str(each.deaths * 1_000_000 // each.population),
                "total": each.deaths,
            },
            "tests": {"1M_pop": "1000000", "total": each.population},
            "day": _FIRST_DAY.isoformat(),
            "time": f"{_FIRST_DAY.isoformat()}T12:00:00+00:00",
        }
        for each in found
    ]
    parameters = {"country": wanted} if wanted is not None else {}
    return 200, {
        "get": "statistics",
        "parameters": parameters,
        "errors": [],
        "results": len(response),
        "response": response,
    }


def _exchange(path: Sequence[str], _: Parameters) -> Reply:
    match path:
        case ["v6", key, "latest", code] if key:
            base = code.upper()
        case _:
            return 404, {"result": "error", "error-type": "malformed-request"}
    if base not in tables.PER_DOLLAR:
        return 404, {"result": "error", "error-type": "unsupported-code"}
    worth = tables.PER_DOLLAR[base]
    rates = {code: round(rate / worth, 6) for code, rate in tables.PER_DOLLAR.items()}
    return 200, {
        "result": "success",
        "documentation": "recorded",
        "terms_of_use": "recorded",
        "time_last_update_unix": _FIRST_SECOND,
        "time_last_update_utc": "recorded",
        "time_next_update_unix": _FIRST_SECOND + 86_400,
        "time_next_update_utc": "recorded",
        "base_code": base,
        "conversion_rates": {**rates, base: 1},
    }


def _markets(path: Sequence[str], given: Parameters) -> Reply:
    match path:
        case ["api", "v1", "markets", "search"]:
            named = given.get("search", "").lower()
            body: Any = [
                _listing(symbol)
                for symbol, share in tables.SHARES.items()
                if named and (named == symbol.lower() or named in share.name.lower())
            ]
        case ["api", "v1", "markets", "stock", "quotes"]:
            symbols = given.get("ticker", "").upper().split(",")
            body = [
                {"symbol": symbol, "regularMarketPrice": tables.SHARES[symbol].price}
                for symbol in symbols
                if symbol in tables.SHARES
            ]
        case ["api", "v1", "markets", "stock", "history"]:
            symbol, interval = given.get("symbol", "").upper(), given.get("interval", "")
            if symbol not in tables.SHARES or interval not in _INTERVALS:
                return 400, {"message": "symbol or interval is not known"}
            body = _history(symbol, interval, events=given.get("diffandsplits") == "true")
        case _:
            return _not_there()
    meta = {"version": "v1", "status": 200, "copywrite": "recorded", "processedTime": "recorded"}
    return 200, {"meta": meta | {"symbol": given.get("search", "")}, "body": body}


def _listing(symbol: str) -> dict[str, str]:
    share = tables.SHARES[symbol]
    kinds = {"type": "S", "exchDisp": "Recorded", "typeDisp": "Equity"}
    return {"symbol": symbol, "name": share.name, "exch": "REC", **kinds}


def _history(symbol: str, interval: str, *, events: bool) -> dict[str, Any]:
    price, seconds = tables.SHARES[symbol].price, _INTERVALS[interval]
    rows: dict[str, Any] = {}
    for number in range(12):
        moment = _FIRST_SECOND + number * seconds
        close = round(price * (0.9 + number / 100), 2)
        rows[str(moment)] = {
            "date_utc": moment,
            "open": close,
            "high": round(close * 1.02, 2),
            "low": round(close * 0.98, 2),
            "close": close,
            "volume": 1000 * (number + 1),
        }
    return {**rows, "events": {"splits": []}} if events else rows


def _internet_address(path: Sequence[str], given: Parameters) -> Reply:
    if not path or path[0] != "json" or len(path) > 2:
        return _not_there()
    query = path[1] if len(path) == 2 else "198.51.100.7"
    refusal = _unplaced(query)
    if refusal:
        found: dict[str, Any] = {"status": "fail", "message": refusal, "query": query}
    else:
        place = tables.PLACES[int(ip_address(query)) % len(tables.PLACES)]
        found = {
            "status": "success",
            "country": place.country,
            "countryCode": place.country_code,
            "region": "R",
            "regionName": "Region",
            "city": place.name,
            "zip": place.postcode,
            "lat": place.latitude,
            "lon": place.longitude,
            "timezone": place.time_zone,
            "isp": "Recorded Net",
            "org": "Recorded Org",
            "as": "AS64496 Recorded",
            "query": query,
        }
    fields = given.get("fields")
    if fields is None:
        return 200, found
    wanted = [field.strip() for field in fields.split(",")]
    return 200, {name: value for name, value in found.items() if name in wanted}


def _unplaced(query: str) -> str | None:
    """Return the reason why an IP address has no location, or None if it has one."""
    if query == "198.51.100.7":  # the client's address in the fixture
        return None
    try:
        address = ip_address(query)
    except ValueError:
        return "invalid query"
    if address.is_loopback or address.is_link_local or address.is_multicast:
        return "reserved range"
    return "private range" if address.is_private else None


def _geocode(path: Sequence[str], given: Parameters) -> Reply:
    if not given.get("api_key"):
        return 401, {"message": "api_key is missing"}
    form = given.get("format", "json")
    if form not in ("json", "jsonv2", "geojson", "geocodejson"):
        return 400, {"message": "no answer in this format is recorded"}
    if path == ["search"]:
        found = [tables.place_in(given.get("q", ""))]
        rows = [_address(place, with_parts=False) for place in found if place]
        return 200, _features(rows) if form.startswith("geo") else rows
    there = _coordinates(given, "lat", "lon")
    if path != ["reverse"]:
        return _not_there()
    if there is None:
        return 400, {"message": "lat and lon are degrees"}
    row = _address(tables.nearest(*there), with_parts=True)
    return 200, _features([row]) if form.startswith("geo") else row


def _address(place: tables.MapPlace, *, with_parts: bool) -> dict[str, Any]:
    north, east = place.latitude, place.longitude
    row: dict[str, Any] = {
        "place_id": 1 + tables.PLACES.index(place),
        "licence": "recorded",
        "osm_type": "way",
        "osm_id": 1001 + tables.PLACES.index(place),
        "boundingbox": [str(each) for each in (north - 0.1, north + 0.1, east - 0.1, east + 0.1)],
        "lat": str(north),
        "lon": str(east),
        "display_name": f"{place.name}, {place.country}",
    }
    if not with_parts:
        return {**row, "class": "place", "type": "city", "importance": 0.5}
    parts = {"city": place.name, "postcode": place.postcode, "country": place.country}
    return {**row, "address": parts | {"country_code": place.country_code.lower()}}


def _features(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    outside = ("lat", "lon", "boundingbox", "licence")
    features = [
        {
            "type": "Feature",
            "properties": {name: value for name, value in row.items() if name not in outside},
            "bbox": [float(each) for each in row["boundingbox"]],
            "geometry": {"type": "Point", "coordinates": [float(row["lon"]), float(row["lat"])]},
        }
        for row in rows
    ]
    return {"type": "FeatureCollection", "licence": "recorded", "features": features}


def _weather(path: Sequence[str], given: Parameters) -> Reply:
    if path != ["v1", "forecast"]:
        return _not_there()
    norths, easts = (given.get(name, "").split(",") for name in ("latitude", "longitude"))
    pairs = [
        _coordinates({"n": north, "e": east}, "n", "e")
        for north, east in zip(norths, easts, strict=False)
    ]
    days = given.get("forecast_days", "7")
    if None in pairs or len(norths) != len(easts) or len(pairs) > _MAX_PLACES:
        return 400, {
            "error": True,
            "reason": "latitude and longitude must be equally long lists of degrees",
        }
    if not days.isdecimal() or not 1 <= int(days) <= _MAX_DAYS:
        return 400, {"error": True, "reason": f"forecast_days must be from 1 to {_MAX_DAYS}"}
    try:
        elevation = float(given.get("elevation", "38").split(",")[0])
    except ValueError:
        return 400, {"error": True, "reason": "elevation must be a number of metres"}
    wanted = {span: [n for n in given.get(span, "").split(",") if n] for span in _SPANS}
    if sum(map(len, wanted.values())) > _MAX_VARIABLES:
        return 400, {"error": True, "reason": f"request at most {_MAX_VARIABLES} variables"}
    zone = given.get("timezone", "GMT")
    forecasts = [
        {
            "latitude": pair[0],
            "longitude": pair[1],
            "generationtime_ms": 0.1,
            "utc_offset_seconds": 0,
            "timezone": tables.nearest(*pair).time_zone if zone == "auto" else zone,
            "timezone_abbreviation": "GMT",
            "elevation": 0.0 if math.isnan(elevation) else elevation,
            **_forecast(*pair, wanted, int(days)),
        }
        for pair in pairs
        if pair
    ]
    return 200, forecasts[0] if len(forecasts) == 1 else forecasts


_SPANS = ("current", "hourly", "daily")


def _forecast(
    north: float, east: float, wanted: Mapping[str, Sequence[str]], days: int
) -> dict[str, Any]:
    counts = {"current": 1, "hourly": days * 24, "daily": days}
    found: dict[str, Any] = {}
    for span, names in wanted.items():
        if not names:
            continue
        found[f"{span}_units"] = {"time": "iso8601", **dict.fromkeys(names, "unit")}
        count = counts[span]
        rows: dict[str, Sequence[Any]] = {"time": [_time(span, i) for i in range(count)]}
        rows |= {name: [_measured(north, east, i) for i in range(count)] for name in names}
        is_one = span == "current"
        found[span] = {name: each[0] for name, each in rows.items()} if is_one else rows
    return found


def _time(span: str, number: int) -> str:
    if span == "daily":
        return (_FIRST_DAY + timedelta(days=number)).isoformat()
    day = _FIRST_DAY + timedelta(days=number // 24)
    return f"{day.isoformat()}T{number % 24:02}:00"


def _measured(north: float, east: float, number: int) -> float:
    return round(30 - abs(north) / 2 + 5 * math.sin(east + number), 1)


def _dictionary(path: Sequence[str], given: Parameters) -> Reply:
    term = given.get("term", "").strip()
    if path != ["define"] or not term:
        return 400, {"message": "term is missing"}
    return 200, {
        "list": [
            {
                "definition": f"Meaning {number} of {term.lower()}, as recorded.",
                "permalink": "recorded",
                "thumbs_up": 100 - number,
                "author": "recorded",
                "word": term,
                "defid": number,
                "current_vote": "",
                "written_on": f"{_FIRST_DAY.isoformat()}T00:00:00.000Z",
                "example": f"An example of {term.lower()}.",
                "thumbs_down": number,
            }
            for number in range(1, 11)
        ]
    }


_FILM_MEMBERS = (
    "Released", "Runtime", "Genre", "Writer", "Actors", "Language", "Country", "Awards", "Poster",
    "Metascore", "imdbRating", "imdbVotes", "imdbID", "DVD", "BoxOffice", "Production", "Website",
)  # fmt: skip


def _films(path: Sequence[str], given: Parameters) -> Reply:
    if path not in ([""], []):
        return _not_there()
    if not given.get("apikey"):
        return 401, {"Response": "False", "Error": "No API key provided."}
    title, year = given.get("t", "").strip().lower(), given.get("y")
    film = next((each for each in tables.FILMS if each.title.lower() == title), None)
    if film is None or year not in (None, "", film.year):
        return 200, {"Response": "False", "Error": "Movie not found!"}
    plot = "A recorded plot, told in full." if given.get("plot") == "full" else "A recorded plot."
    rated = {"Rated": film.rated, "Director": film.director, "Plot": plot, "Type": "movie"}
    ratings = [{"Source": source, "Value": "80%"} for source in ("One", "Two", "Three")]
    found = {"Title": film.title, "Year": film.year, **dict.fromkeys(_FILM_MEMBERS, "recorded")}
    return 200, {**found, **rated, "Ratings": ratings, "Response": "True"}


def _holidays(path: Sequence[str], _: Parameters) -> Reply:
    match path:
        case ["api", "v3", ("PublicHolidays" | "LongWeekend") as what, year, code]:
            country = code.upper()
        case _:
            return _not_there()
    if not (year.isascii() and year.isdecimal() and 1975 <= int(year) <= 2075):
        return 400, {"title": "year must be from 1975 to 2075"}
    if country not in tables.HOLIDAYS:
        return 404, {"title": "country is not known"}
    days = tables.holidays(int(year), country)
    if what == "PublicHolidays":
        return 200, [
            {
                "date": day.isoformat(),
                "localName": name,
                "name": name,
                "countryCode": country,
                "fixed": False,
                "global": True,
                "counties": None,
                "launchYear": None,
                "types": ["Public"],
            }
            for day, name in days
        ]
    return 200, [
        {
            "startDate": start.isoformat(),
            "endDate": (start + timedelta(days=count - 1)).isoformat(),
            "dayCount": count,
            "needBridgeDay": bridge,
            "bridgeDays": [],
        }
        for start, count, bridge in tables.long_weekends([day for day, _ in days])
    ]


def _postcodes(path: Sequence[str], _: Parameters) -> Reply:
    match path:
        case ["us", postcode] if postcode in tables.POSTCODES:
            place = {"place name": tables.POSTCODES[postcode]}
            return 200, {"post code": postcode, "country": "United States", "places": [place]}
    return 404, {}


def _products(path: Sequence[str], given: Parameters) -> Reply:
    found = tables.PRODUCTS.get(given.get("asin", "").upper())
    if path != ["product-details"] or found is None:
        return 404, {"status": "ERROR", "error": {"message": "there is no such product"}}
    data = {
        "asin": given["asin"].upper(),
        "product_title": found.title,
        "product_price": found.price,
        "product_star_rating": found.rating,
    }
    return 200, {"status": "OK", "request_id": "recorded", "data": data}


_SERVICES: Mapping[str, Callable[[Sequence[str], Parameters], Reply]] = {
    "timezone-by-location.p.rapidapi.com": _time_zone,
    "covid-193.p.rapidapi.com": _epidemic,
    "v6.exchangerate-api.com": _exchange,
    "yahoo-finance15.p.rapidapi.com": _markets,
    "ip-api.com": _internet_address,
    "geocode.maps.co": _geocode,
    "api.open-meteo.com": _weather,
    "mashape-community-urban-dictionary.p.rapidapi.com": _dictionary,
    "www.omdbapi.com": _films,
    "date.nager.at": _holidays,
    "api.zippopotam.us": _postcodes,
    "real-time-amazon-data.p.rapidapi.com": _products,
}
"""Maps a host to its handler."""
