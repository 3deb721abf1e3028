"""Run feature that streams answers and records the time to the first token."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from statistics import median
from typing import TYPE_CHECKING, Any, NamedTuple

from envs.errors import DataError, require_extra
from envs.lazy_modules import lazy_module
from extensions.streaming.answers import FIRST_TOKEN, StreamedAnswers
from runner.analysis.figure_table import FigureRow, FigureSection
from runner.analysis.figures import RunFigures
from runner.commands.options import switch
from runner.extension import JsonObject, RunFeature
from runner.live.live_run import RunInputs
from runner.models.model_types import Model, Reply, Request, RequestOptions
from runner.records.episode_record import EpisodeRecord, ExtensionData
from runner.records.json_codec import read

if TYPE_CHECKING:
    from runner.models import openai_model
else:
    # Its libraries are optional.
    openai_model = lazy_module("runner.models.openai_model")

Times = dict[tuple[str, int], list[float]]
"""Seconds to the first token of each streamed answer, by entry and trial."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class StreamOptions:
    """Streaming."""

    stream: bool = switch("stream the answers, and measure the time to the first token")


class _RecordedTimes(NamedTuple):
    seconds: tuple[float, ...]


@dataclass(frozen=True)
class FirstTokens(ExtensionData):
    """Times to the first token in an episode."""

    seconds: tuple[float, ...]

    @classmethod
    def of(cls, member: JsonObject, where: str) -> FirstTokens:
        """Return the times in an episode's record. Raises DataError for invalid data."""
        return cls(read(_RecordedTimes, member, where).seconds)

    def to_json(self) -> Mapping[str, Any]:
        """Return the times as a JSON object."""
        return {"seconds": [*self.seconds]}


@dataclass(frozen=True)
class StreamingFeature(RunFeature):
    """Streaming of a live model's answers."""

    extension = "streaming"
    flag = "--stream"
    times: Times = field(default_factory=dict, compare=False)

    def definition(self) -> JsonObject:
        """Return the setting that the run's definition stores for ``--stream``."""
        return {"stream": True}

    def request_options(self, options: RequestOptions) -> RequestOptions:
        """Return the options of streamed requests."""
        return replace(options, stream=StreamedAnswers())

    def wrapped(self, model: Model, plan: RunInputs) -> Model:
        """Return a model that also measures the time to the first token of each answer.

        Raises DataError if the model's client cannot stream.
        """
        with require_extra("models", self.flag):
            can_stream = isinstance(model, openai_model.OpenAIModel)
        if not can_stream:
            why = f"{plan.model} is called through a client that cannot stream; leave --stream out"
            raise DataError(self.flag, why)
        return _MeasuredModel(model, self.times)

    def kept(self, record: EpisodeRecord) -> ExtensionData | None:
        """Return the times of an episode, or None if no answer was streamed."""
        found = self.times.pop((record.id, record.trial), None)
        return FirstTokens(tuple(found)) if found else None


class _MeasuredModel:
    def __init__(self, model: Model, times: Times) -> None:
        self._model, self._times = model, times

    async def ask(self, request: Request) -> Reply:
        FIRST_TOKEN.set(None)
        reply = await self._model.ask(request)
        seconds = FIRST_TOKEN.get()
        if seconds is not None:
            self._times.setdefault((request.entry, request.trial), []).append(seconds)
        return reply

    async def close(self) -> None:
        await self._model.close()


def _list_times(figures: RunFigures) -> list[float]:
    found = [each.extensions.get(StreamingFeature.extension) for each in figures.outcomes]
    known = [each for each in found if isinstance(each, FirstTokens)]
    return [seconds for each in known for seconds in each.seconds]


def _median_time(figures: RunFigures) -> float | None:
    times = _list_times(figures)
    return median(times) if times else None


FIGURES = (
    FigureRow(
        name="first_token_p50",
        label="first token s",
        section=FigureSection(title="Streaming", of_usage=True),
        value=_median_time,
        form="seconds",
        optional=True,
        phrase="time to the first token: {value:.3f} s (median)",
        caption="Time to the first token, median",
    ),
)
