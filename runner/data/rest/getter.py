"""HTTP GET for the REST client, from this machine only unless the user allows more.

The URL comes from a model. So nothing but loopback is reached by default, no proxy is used, no
redirect is followed, and how long is waited for more and how much is read is bounded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from envs.calls import check_bounds
from envs.errors import AccessDenied, MalformedCall, Refused
from envs.library.rest import Answer

_TIMEOUT = 10.0
"""Seconds to wait for a connection, or for more of an answer."""
_LARGEST = 1_000_000
"""Bytes of an answer that are read."""


class HttpGetter:
    """Asks web services.

    Args:
        ports: Port by host name, for services that were started here.
        allow_network: Whether others than this machine may be asked.
    """

    def __init__(self, ports: Mapping[str, int], *, allow_network: bool = False) -> None:
        self._ports = ports
        self._allow_network = allow_network

    def __call__(self, url: str, headers: Mapping[str, str]) -> Answer:
        """Ask for a URL.

        Raises:
            ToolError: It may not be asked, or there is no answer that can be read.
        """
        parts = urlsplit(url)
        host = parts.hostname or ""
        local = _is_local(host)
        if not local and not self._allow_network:
            raise AccessDenied(
                f"{host[:100]} is not this machine; other services are only asked with "
                "--allow-network."
            )
        place = "127.0.0.1" if local and not _is_address(host) else host
        port = parts.port or self._ports.get(host)
        kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
        connection = kind(place, port, timeout=_TIMEOUT)
        target = parts._replace(scheme="", netloc="").geturl() or "/"
        try:
            named = {name.lower(): value for name, value in headers.items()}
            connection.request("GET", target, headers={"host": parts.netloc, **named})
            response = connection.getresponse()
            content = response.read(_LARGEST + 1)
            if response.length and len(content) <= _LARGEST:
                raise HTTPException("the connection was closed too early")
        except (OSError, HTTPException) as error:
            reason = str(error) or type(error).__name__
            raise Refused(f"{parts.netloc[:100]} gives no answer: {reason[:200]}.") from None
        finally:
            connection.close()
        return Answer(response.status, _read(content))


def _is_local(host: str) -> bool:
    """Tell whether a host is this machine by its name; no other name is looked up to find out."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    return _is_address(host) and ip_address(host).is_loopback


def _is_address(host: str) -> bool:
    try:
        ip_address(host)
    except ValueError:
        return False
    return True


def _read(content: bytes) -> Any:
    """Return the JSON of an answer, or its text where it is none.

    Raises:
        Refused: It is too large, or nested too deep.
    """
    if len(content) > _LARGEST:
        raise Refused(f"The answer has more than {_LARGEST} bytes.")
    text = content.decode("utf-8", errors="replace")
    try:
        body = json.loads(text)
        check_bounds(body)
    except (MalformedCall, RecursionError):
        raise Refused("The answer is nested too deep, or has numbers that are too large.") from None
    except ValueError:
        return text
    return body
