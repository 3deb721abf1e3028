"""Functions of public web services for BFCL's retired executable entries.

Each function sends one request and returns one value of the answer. Without a network sender, the
fixture answers. Every result then says that it comes from the fixture.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

from envs.backend import Backend, NoConfig, reads
from envs.errors import InvalidArgument, NotFound, Refused
from envs.state import cut_repr
from extensions.library.bounds import check_between, check_count, check_numbers
from extensions.retired.functions import public_answers
from extensions.retired.functions.web import Sender, WebRequest

_MAX_TEXT_CHARS = 200
_RAPID_API = "YOUR-RAPID-API-KEY"
"""Placeholder for the API key."""


def _of_product(
    what: str, member: str, asked: str, answer: str, shown: str
) -> Callable[..., dict[str, Any]]:
    """Return a function that requests a product from a shop and returns one field."""
    called = f"get_{what}_by_amazon_ASIN"

    def ask(self: PublicServices, ASIN: str) -> dict[str, Any]:
        _check_texts(ASIN=ASIN)
        url = _url("real-time-amazon-data.p.rapidapi.com/product-details", asin=ASIN)
        return self._asked(url, lambda body: body["data"][member])

    ask.__doc__ = f"""Return {asked}.

    Args:
        ASIN: ASIN of the product.

    Returns:
        answer: {answer}.
        answered_by: Host that answered, or fixture.

    Examples:
        >>> {called}(ASIN='B075H2B962')
        {{"answer": "{shown}", "answered_by": "fixture"}}
        >>> {called}(ASIN='B')
        {{"error": "real-time-amazon-data.p.rapidapi.com returned status 404: ...
    """
    return reads(ask)


class PublicServices(Backend):
    """Requests to public services: weather, places, markets, films and others."""

    Config = NoConfig

    _send: Sender | None = None

    def connect(self, send: Sender) -> None:
        """Use a sender for all requests; without a sender, the fixture answers."""
        self._send = send

    @reads
    def get_weather_data(self, coordinates: Sequence[float]) -> dict[str, Any]:
        """Return the temperature at a position.

        Args:
            coordinates: Latitude and longitude in degrees.

        Returns:
            answer: Degrees Celsius.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_weather_data(coordinates=[90, 0])
            {"answer": -15.0, "answered_by": "fixture"}
            >>> get_weather_data(coordinates=[90])
            {"error": "The length of coordinates must be 2, not 1."}
        """
        check_count("coordinates", coordinates, 2, 2)
        check_numbers("coordinates", coordinates)
        north, east = coordinates
        wanted = "temperature_2m"
        url = _url("api.open-meteo.com/v1/forecast", latitude=north, longitude=east, current=wanted)
        return self._asked(url, lambda body: body["current"]["temperature_2m"])

    @reads
    def get_coordinates_from_city(self, city_name: str) -> dict[str, Any]:
        """Return the coordinates of a city.

        Args:
            city_name: Name of the city.

        Returns:
            answer: Latitude and longitude in degrees, as strings.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_coordinates_from_city(city_name='Rome')
            {"answer": ["41.9028", "12.4964"], "answered_by": "fixture"}
            >>> get_coordinates_from_city(city_name='Nowhere')
            {"error": "geocode.maps.co returned no such data."}
        """
        _check_texts(city_name=city_name)
        key = "YOUR-GEOCODE-API-KEY"
        url = _url("geocode.maps.co/search", q=city_name, api_key=key)
        return self._asked(url, lambda body: [body[0]["lat"], body[0]["lon"]])

    @reads
    def get_time_zone_by_coord(self, long: str, lat: str) -> dict[str, Any]:
        """Return the time zone of a position.

        Args:
            long: Longitude in degrees.
            lat: Latitude in degrees.

        Returns:
            answer: Time zone, such as Europe/Rome.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_time_zone_by_coord(long='12.5', lat='41.9')
            {"answer": "Europe/Rome", "answered_by": "fixture"}
            >>> get_time_zone_by_coord(long='12.5', lat='north')
            {"error": "timezone-by-location.p.rapidapi.com returned status 400: ...
        """
        _check_texts(long=long, lat=lat)
        url = _url("timezone-by-location.p.rapidapi.com/timezone", lat=lat, lon=long, c=1)
        return self._asked(url, lambda body: body["Zones"][0]["TimezoneId"])

    @reads
    def get_coordinate_by_ip_address(self, ip_address: str) -> dict[str, Any]:
        """Return the coordinates of an IP address.

        Args:
            ip_address: IP address.

        Returns:
            answer: Latitude and longitude. If the address has no location, the reason as a string.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_coordinate_by_ip_address(ip_address='10.1.2.3')
            {"answer": "private range", "answered_by": "fixture"}
            >>> get_coordinate_by_ip_address(ip_address='')
            {"error": "The length of ip_address must be from 1 to 200, not 0."}
        """
        return self._of_internet_address(ip_address, lambda body: [body["lat"], body["lon"]])

    @reads
    def get_zipcode_by_ip_address(self, ip_address: str) -> dict[str, Any]:
        """Return the postal code of an IP address.

        Args:
            ip_address: IP address.

        Returns:
            answer: Postal code. If the address has no location, the reason.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_zipcode_by_ip_address(ip_address='10.1.2.3')
            {"answer": "private range", "answered_by": "fixture"}
            >>> get_zipcode_by_ip_address(ip_address='')
            {"error": "The length of ip_address must be from 1 to 200, not 0."}
        """
        return self._of_internet_address(ip_address, lambda body: body["zip"])

    @reads
    def retrieve_city_based_on_zipcode(self, zipcode: str) -> dict[str, Any]:
        """Return the city of a US zip code.

        Args:
            zipcode: Zip code.

        Returns:
            answer: Name of the city.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> retrieve_city_based_on_zipcode(zipcode='10001')
            {"answer": "New York", "answered_by": "fixture"}
            >>> retrieve_city_based_on_zipcode(zipcode='1')
            {"error": "api.zippopotam.us returned status 404: {}"}
        """
        _check_texts(zipcode=zipcode)
        url = _url(f"api.zippopotam.us/us/{quote(zipcode, safe='')}")
        return self._asked(url, lambda body: body["places"][0]["place name"])

    @reads
    def retrieve_holiday_by_year(self, year: str, country: str) -> dict[str, Any]:
        """List the public holidays of a country in a year.

        Args:
            year: Year.
            country: Two-letter code of the country, such as FR.

        Returns:
            answer: Holidays with date, name and other fields, earliest first.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> retrieve_holiday_by_year(year='2024', country='US')
            {"answer": [{"date": "2024-01-01", "localName": "New Year's Day", ...
            >>> retrieve_holiday_by_year(year='2024', country='Utopia')
            {"error": "date.nager.at returned status 404: ...
        """
        _check_texts(year=year, country=country)
        path = f"{quote(year, safe='')}/{quote(country, safe='')}"
        return self._asked(_url(f"date.nager.at/api/v3/PublicHolidays/{path}"), lambda body: body)

    @reads
    def convert_currency(
        self, amount: float, from_currency: str, to_currency: str
    ) -> dict[str, Any]:
        """Convert an amount to another currency.

        Args:
            amount: Amount in the source currency.
            from_currency: Code of the source currency, such as EUR.
            to_currency: Code of the target currency.

        Returns:
            answer: Amount in the target currency.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> convert_currency(amount=10, from_currency='USD', to_currency='EUR')
            {"answer": 9.2..., "answered_by": "fixture"}
            >>> convert_currency(amount=10, from_currency='USD', to_currency='XXX')
            {"error": "v6.exchangerate-api.com returned no such data."}
        """
        check_between("amount", amount, -1e12, 1e12)
        _check_texts(from_currency=from_currency)
        wanted = to_currency.upper()
        key = "YOUR-EXCHANGERATE-API-KEY"
        url = _url(f"v6.exchangerate-api.com/v6/{key}/latest/{quote(from_currency, safe='')}")
        return self._asked(url, lambda body: amount * body["conversion_rates"][wanted])

    @reads
    def get_stock_price_by_stock_name(self, stock_name: str) -> dict[str, Any]:
        """Return the price of a share.

        Args:
            stock_name: Symbol of the share, such as AAPL.

        Returns:
            answer: Price of the share.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_stock_price_by_stock_name(stock_name='AAPL')
            {"answer": 171.5, "answered_by": "fixture"}
            >>> get_stock_price_by_stock_name(stock_name='NONE')
            {"error": "yahoo-finance15.p.rapidapi.com returned no such data."}
        """
        _check_texts(stock_name=stock_name)
        url = _url(f"{_MARKETS}/stock/quotes", ticker=stock_name)
        return self._asked(url, lambda body: body["body"][0]["regularMarketPrice"])

    @reads
    def get_company_name_by_stock_name(self, stock_name: str) -> dict[str, Any]:
        """Return the company that issued a share.

        Args:
            stock_name: Symbol of the share, such as AAPL.

        Returns:
            answer: Name of the company.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_company_name_by_stock_name(stock_name='AAPL')
            {"answer": "Apple Inc.", "answered_by": "fixture"}
            >>> get_company_name_by_stock_name(stock_name='NONE')
            {"error": "yahoo-finance15.p.rapidapi.com returned no such data."}
        """
        _check_texts(stock_name=stock_name)
        symbol = stock_name.upper()
        return self._asked(
            _url(f"{_MARKETS}/search", search=symbol),
            lambda body: next(x["name"] for x in body["body"] if x["symbol"] == symbol),
        )

    @reads
    def get_stock_history(
        self, stock_name: str, interval: str, diffandsplits: str = "false"
    ) -> dict[str, Any]:
        """Return past prices of a share.

        Args:
            stock_name: Symbol of the share, such as AAPL.
            interval: Time between two prices: 5m, 15m, 30m, 1h, 1d, 1wk, 1mo or 3mo.
            diffandsplits: Whether to include splits: true or false.

        Returns:
            answer: Prices and volume by time in seconds since 1970.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_stock_history(stock_name='AAPL', interval='1mo')
            {"answer": {"1690000000": {"date_utc": 1690000000, "open": ...
            >>> get_stock_history(stock_name='AAPL', interval='1y')
            {"error": "yahoo-finance15.p.rapidapi.com returned status 400: ...
        """
        _check_texts(stock_name=stock_name, interval=interval, diffandsplits=diffandsplits)
        given = {"symbol": stock_name, "interval": interval, "diffandsplits": diffandsplits}
        return self._asked(_url(f"{_MARKETS}/stock/history", **given), lambda body: body["body"])

    @reads
    def get_covid_death_by_country(self, country: str) -> dict[str, Any]:
        """Return the number of COVID-19 deaths in a country.

        Args:
            country: English name of the country.

        Returns:
            answer: Number of deaths.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_covid_death_by_country(country='Italy')
            {"answer": 190000, "answered_by": "fixture"}
            >>> get_covid_death_by_country(country='Utopia')
            {"error": "covid-193.p.rapidapi.com returned no such data."}
        """
        return self._of_epidemic(country, lambda found: found["deaths"]["total"])

    @reads
    def get_active_covid_case_by_country(self, country: str) -> dict[str, Any]:
        """Return the number of active COVID-19 cases in a country.

        Args:
            country: English name of the country.

        Returns:
            answer: Number of active cases.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_active_covid_case_by_country(country='Italy')
            {"answer": 130000, "answered_by": "fixture"}
            >>> get_active_covid_case_by_country(country='Utopia')
            {"error": "covid-193.p.rapidapi.com returned no such data."}
        """
        return self._of_epidemic(country, lambda found: found["cases"]["active"])

    @reads
    def find_term_on_urban_dictionary(self, term: str) -> dict[str, Any]:
        """Look up a term in the Urban Dictionary.

        Args:
            term: Term to look up.

        Returns:
            answer: First definition.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> find_term_on_urban_dictionary(term='Moor')
            {"answer": "Meaning 1 of moor, as recorded.", "answered_by": "fixture"}
            >>> find_term_on_urban_dictionary(term='')
            {"error": "The length of term must be from 1 to 200, not 0."}
        """
        _check_texts(term=term)
        url = _url("mashape-community-urban-dictionary.p.rapidapi.com/define", term=term)
        return self._asked(url, lambda body: body["list"][0]["definition"])

    @reads
    def get_movie_director(self, movie_name: str) -> dict[str, Any]:
        """Return the director of a film.

        Args:
            movie_name: Title of the film.

        Returns:
            answer: Name of the director.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_movie_director(movie_name='Avatar')
            {"answer": "James Cameron", "answered_by": "fixture"}
            >>> get_movie_director(movie_name='No such film')
            {"error": "www.omdbapi.com returned no such data."}
        """
        return self._of_film(movie_name, "Director")

    @reads
    def get_movie_rating(self, movie_name: str) -> dict[str, Any]:
        """Return the age rating of a film.

        Args:
            movie_name: Title of the film.

        Returns:
            answer: Rating, such as PG-13.
            answered_by: Host that answered, or fixture.

        Examples:
            >>> get_movie_rating(movie_name='Avatar')
            {"answer": "PG-13", "answered_by": "fixture"}
            >>> get_movie_rating(movie_name='No such film')
            {"error": "www.omdbapi.com returned no such data."}
        """
        return self._of_film(movie_name, "Rated")

    get_product_name_by_amazon_ASIN = _of_product(
        "product_name",
        "product_title",
        "the name of a product",
        "Name of the product",
        "Recorded gel, travel size",
    )
    get_price_by_amazon_ASIN = _of_product(
        "price", "product_price", "the price of a product", "Price, such as $8.10", "$8.10"
    )
    get_rating_by_amazon_ASIN = _of_product(
        "rating",
        "product_star_rating",
        "the customer rating of a product",
        "Average number of stars, such as 4.5",
        "4.5",
    )

    def _of_internet_address(self, address: str, take: Callable[[Any], Any]) -> dict[str, Any]:
        _check_texts(ip_address=address)
        url = _url(f"ip-api.com/json/{quote(address, safe=':')}", scheme="http")
        return self._asked(
            url, lambda body: take(body) if body["status"] == "success" else body["message"]
        )

    def _of_epidemic(self, country: str, take: Callable[[Any], Any]) -> dict[str, Any]:
        _check_texts(country=country)
        url = _url("covid-193.p.rapidapi.com/statistics", country=country)
        return self._asked(url, lambda body: take(body["response"][0]))

    def _of_film(self, title: str, member: str) -> dict[str, Any]:
        _check_texts(movie_name=title)
        url = _url("www.omdbapi.com/", t=title, apikey="YOUR-OMDB-API-KEY", scheme="http")
        return self._asked(url, lambda body: body[member])

    def _asked(self, url: str, take: Callable[[Any], Any]) -> dict[str, Any]:
        """Return a value from a service's answer, and the source of the answer.

        Raises ToolError if the service does not answer, or if the answer lacks the value.
        """
        host = urlsplit(url).hostname or ""
        keyed = host.endswith(".p.rapidapi.com")
        headers = {"X-RapidAPI-Key": _RAPID_API, "X-RapidAPI-Host": host} if keyed else {}
        status, body, _, fixture = (self._send or public_answers.answer)(WebRequest(url, headers))
        if status != 200:
            raise Refused(f"{host} returned status {status}: {cut_repr(body, 300)}")
        try:
            found = take(body)
        except (LookupError, StopIteration, TypeError):
            raise NotFound(f"{host} returned no such data.") from None
        return {"answer": found, "answered_by": "fixture" if fixture else host}


_MARKETS = "yahoo-finance15.p.rapidapi.com/api/v1/markets"


def _url(place: str, *, scheme: str = "https", **query: str | float) -> str:
    given: Mapping[str, str | float] = query
    return f"{scheme}://{place}?{urlencode(given)}" if query else f"{scheme}://{place}"


def _check_texts(**texts: str) -> None:
    for name, value in texts.items():
        check_count(name, value, 1, _MAX_TEXT_CHARS)
        try:
            value.encode()
        except UnicodeEncodeError:
            message = f"{name} contains a lone surrogate; remove it."
            raise InvalidArgument(message) from None
