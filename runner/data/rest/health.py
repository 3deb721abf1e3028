"""Whether the web services that entries ask are up, found out before a run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from envs.binding import bind
from envs.calls import Call, parse_call
from envs.errors import ToolError
from envs.library.rest import Getter, RestClient
from runner.data.rest.connect import getter
from trajectories.errors import DataError
from trajectories.schema import Trajectory

_TOOL = RestClient.TOOLS["http_get"]


class Endpoint(NamedTuple):
    """One request of a ground truth, and what became of it."""

    trajectory: str
    call: Call
    problem: str | None
    """Why there is no answer; None where there is one."""

    @property
    def url(self) -> str:
        """The URL without query parameters."""
        return str(_arguments(self.call)["url"])


def ask_all(trajectories: Iterable[Trajectory], get: Getter) -> list[Endpoint]:
    """Make every request of the ground truths of REST entries, and return what became of each.

    Args:
        trajectories: Any; those without a REST client are passed over.
        get: What asks.
    """
    client = RestClient.load({})
    client.connect(get)
    return [
        Endpoint(trajectory.id, call, _problem(client, call))
        for trajectory in trajectories
        for call in _requests(trajectory)
    ]


def require_up(trajectories: Sequence[Trajectory], *, allow_network: bool) -> None:
    """Make sure, before a run, that all services that its REST entries ask are up.

    Args:
        trajectories: What is to be run; nothing is asked where none has a REST client.
        allow_network: Whether others than this machine may be asked.

    Raises:
        DataError: Some are down; names them.
    """
    if not any(map(_requests, trajectories)):
        return
    endpoints = ask_all(trajectories, getter(allow_network))
    down = sorted({f"{e.url} ({e.problem})" for e in endpoints if e.problem})
    if down:
        raise DataError("rest", f"{len(down)} endpoints are down: {'; '.join(down)}")


def _requests(trajectory: Trajectory) -> list[Call]:
    if RestClient.__name__ not in trajectory.environments:
        return []
    calls = [parse_call(text) for turn in trajectory.turns for text in turn.ground_truth]
    return [call for call in calls if call.name == _TOOL.name]


def _problem(client: RestClient, call: Call) -> str | None:
    try:
        client.http_get(**_arguments(call))
    except ToolError as error:
        return error.message
    return None


def _arguments(call: Call) -> Mapping[str, Any]:
    return bind(_TOOL, call.args, call.kwargs)
