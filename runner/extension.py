"""The hook by which a feature outside the core takes part in commands, runs and pages.

Our own extensions are the folders of ``extensions/``, each with a module ``extension`` that has one
``EXTENSION``; an installed package offers its own by the entry-point group named ``GROUP``. Nothing
of an extension is imported before a command, an option, a run or an entry needs it.

This module names types of every room in its annotations and imports none of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from envs.lazy import lazily
from trajectories.errors import DataError, did_you_mean

if TYPE_CHECKING:
    from importlib import metadata
    from pathlib import Path

    from checkers.profile import Profile
    from checkers.replies.formats import ReplyFormat
    from envs.session import Session
    from runner.analysis.figure_table import FigureRow
    from runner.analysis.figures import StepTook
    from runner.analysis.report.parts import PagePart
    from runner.analysis.runs import ViewedRun
    from runner.commands.export import TranscriptsOfRun
    from runner.commands.variants import Variants
    from runner.data.services import Reach
    from runner.episodes.allowance import Allowance
    from runner.episodes.kinds import EntryKind
    from runner.live.campaign import Plan
    from runner.live.settings import Settings
    from runner.live.workers import Workers
    from runner.models.base import Model, RequestOptions
    from runner.models.conversation import Observe, Style
    from runner.models.protocols.base import Protocol
    from runner.models.tools import Footnotes, Toolbox
    from runner.records.record import EpisodeMember, EpisodeRecord, RunDefinition
    from runner.records.run import Run
    from runner.show.terminal import Line
    from trajectories.bfcl import EntryReader
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, JudgedBy, Trajectory
else:
    # Only asked for a name that is none of ours.
    metadata = lazily("importlib.metadata")

GROUP = "turnwise.extensions"
"""Entry-point group of extensions of other packages."""

_OWN = (__package__ or "").removesuffix("runner") + "extensions"
"""In a wheel, all packages are within ``turnwise``."""

JsonObject = Mapping[str, Any]


class Command(NamedTuple):
    """One command, as the help shows it."""

    group: str
    """Heading under which the help lists it."""
    text: str
    """What it does, in one sentence."""
    module: str = ""
    """Dotted name of its module; a core command's follows from its name."""


class RunFeature:
    """What an extension changes in a run. Subclasses override what they change."""

    extension: ClassVar[str]
    """Name of the extension; the run definition has the feature under it."""

    flag: ClassVar[str]
    """The option that asks for it."""
    is_offline: ClassVar[bool] = False
    """Whether it changes runs of ``oracle`` and ``null``, too."""
    protocol: Protocol | None = None
    """The calling format, where it is not the usual one."""
    has_siblings: bool = False
    """Whether one command made the run beside others, in folders of one folder."""

    @property
    def repeats_entries(self) -> bool:
        """Whether an entry is run until it passes, so that its episodes count as one."""
        return False

    def definition(self) -> JsonObject:
        """Return what of it determines a run's result."""
        raise NotImplementedError

    def request_options(self, options: RequestOptions) -> RequestOptions:
        """Return how the model is reached and asked."""
        return options

    def request_key(self) -> JsonObject:
        """Return what decides an answer besides the request, for the reply cache."""
        return {}

    def narrowed(
        self, dataset: Dataset, ids: Sequence[str], folder: Path | None
    ) -> tuple[Dataset, RunFeature]:
        """Return a data set with the functions that its entries offer, and the feature for it.

        Args:
            dataset: The data.
            ids: The entries that are run.
            folder: BFCL's data folder, where the model is shown its documents; None for ours.

        Raises:
            DataError: What it needs is missing.
        """
        return dataset, self

    def toolbox(
        self, trajectory: Trajectory, folder: Path | None, notes: Footnotes, trial: int
    ) -> Toolbox | None:
        """Return the functions that the model is shown; None where they are as usual."""
        return None

    def style(self, style: Style, settings: Settings) -> Style:
        """Return how the model is talked to."""
        return style

    def observe(self, observe: Observe | None) -> Observe | None:
        """Return what the model reads of a call, given what it would read."""
        return observe

    def kept(self, record: EpisodeRecord) -> EpisodeMember | None:
        """Return what it keeps of an episode that is over; None for nothing."""
        return None

    def model(self, plan: Plan) -> Model | None:
        """Return the model, where a plan's is asked no server; None for one that it cannot play."""
        return None

    def lines(
        self, dataset: Dataset, ids: Sequence[str], records: Sequence[EpisodeRecord]
    ) -> Iterator[str]:
        """Yield what ``eval`` prints of it below the score."""
        yield from ()

    def reader(self, where: str) -> ReplyFormat | None:
        """Return how the model's text is read; None where it is read as usual.

        Raises:
            DataError: The format is not known any more.
        """
        return None

    def restored(self, dataset: Dataset) -> Dataset:
        """Return a data set with its entries as a recorded run had them.

        Raises:
            DataError: What it needs is missing.
        """
        return dataset

    def restored_offers(
        self, run: Run, dataset: Dataset, notify: Callable[[str], object]
    ) -> Dataset:
        """Return a data set whose entries offer what they offered in a recorded run.

        Raises:
            DataError: What it needs is missing.
        """
        return dataset


class Extension:
    """A feature outside the core. Subclasses override what they take part in."""

    name: ClassVar[str]
    """The name of its folder; run definitions and records have its members under it."""
    commands: ClassVar[Mapping[str, Command]] = {}
    """Its commands, by what the user types."""

    def options(self, command: str) -> type | None:
        """Return the record of options that it adds to a core command, such as ``eval``."""
        return None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return what it changes in a run.

        Args:
            options: The options of the command.
            own: Its own options, a record of the type that ``options`` returns.
            settings: How the model is reached and asked.

        Raises:
            DataError: The options contradict each other, or name something that does not exist.
        """
        return ()

    def makes_variants(self, own: Any) -> bool:
        """Tell whether its own options ask for several runs."""
        return False

    def variants(
        self, options: Any, own: Any, plan: Plan, trajectories: Sequence[Trajectory]
    ) -> Variants | None:
        """Return the runs that its own options ask for instead of one; None where it is one.

        Raises:
            DataError: The options contradict each other, or name something that does not exist.
        """
        return None

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return what it changed in a run, given its member of the run's definition.

        Raises:
            DataError: It is not what it wrote.
        """
        raise DataError(where, f"$.definition.extensions.{self.name}: it changes no run")

    def episode(self, member: JsonObject, where: str) -> EpisodeMember:
        """Return what it keeps of an episode, given its member of the record as JSON.

        Raises:
            DataError: It is not what it wrote.
        """
        raise DataError(where, f"$.extensions.{self.name}: it keeps nothing of episodes")

    def undone(self, member: JsonObject) -> Sequence[StepTook]:
        """Return what the undone steps of an episode took, given its member of the record."""
        return ()

    def episode_lines(self, record: EpisodeRecord, turn: int | None) -> Iterator[Line]:
        """Yield the lines that ``replay`` shows of what it keeps, or of one turn of it."""
        yield from ()

    def episode_json(self, record: EpisodeRecord) -> JsonObject:
        """Return the members that ``replay --json`` has of what it keeps."""
        return {}

    def page_part(self, run: ViewedRun) -> PagePart | None:
        """Return what it adds to the page on a run; None where it adds nothing.

        Raises:
            DataError: Something beside the run cannot be read.
        """
        return None

    def figures(self) -> Sequence[FigureRow]:
        """Return the figures of runs in whose records it has a member."""
        return ()

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load the data set of a name, of which some categories are wanted; None if unknown.

        Raises:
            DataError: It cannot be read.
        """
        return None

    def reviews(self, dataset: Dataset) -> str | None:
        """Return how the built-in entries were reviewed, in one line; None if it does not know."""
        return None

    def check_export(self, options: Any, own: Any) -> None:
        """Refuse its own options of ``export`` where they contradict others.

        Raises:
            DataError: They do.
        """

    def export(self, options: Any, own: Any, found: Sequence[TranscriptsOfRun]) -> bool:
        """Write transcripts as its own options of ``export`` say; tell whether it wrote any.

        Raises:
            DataError: The options contradict each other, or a file cannot be written.
        """
        return False

    def entry_kind(self, judged_by: JudgedBy) -> EntryKind | None:
        """Return how entries are judged whose verdicts depend on something that only it knows."""
        return None

    def bfcl_readers(self) -> Mapping[JudgedBy, EntryReader]:
        """Return what reads those entries of BFCL's data that the core cannot read."""
        return {}

    def connect(self, session: Session, reach: Reach) -> None:
        """Connect those backends of a session that it knows to the web services that they ask."""

    def require_up(self, entries: Sequence[Trajectory], reach: Reach) -> None:
        """Make sure that the web services are up that entries of its backends ask.

        Raises:
            DataError: Some are down; names them.
        """

    def notes(self, entries: Sequence[Trajectory], profile: Profile, reach: Reach) -> Iterator[str]:
        """Yield what the user should know of entries before they are run."""
        yield from ()

    def engine(self, address: str | None, workers: int | None, allowance: Allowance) -> Workers:
        """Return the workers that run and judge episodes where ``--engine`` has its name.

        Raises:
            DataError: It has none, or they cannot be had.
        """
        raise DataError("--engine", f"{self.name} runs no episodes")


def extensions() -> Mapping[str, Extension]:
    """Return all extensions by name, ours first.

    Raises:
        DataError: An installed one cannot be imported, or has the name of another.
    """
    return {name: named(name) for name in (*own_names(), *_installed())}


def named(name: str) -> Extension:
    """Return the extension of a name.

    Raises:
        DataError: There is none, or it cannot be imported.
    """
    if name in own_names():
        return _own(name)
    if name not in _installed():
        known = [*own_names(), *_installed()]
        raise DataError("extension", f"{name!r:.80} is not installed{did_you_mean(name, known)}")
    return _loaded(name)


def recorded_features(definition: RunDefinition | None, where: str) -> list[RunFeature]:
    """Return what extensions changed in a run.

    Raises:
        DataError: An extension is not installed, or its member is not what it wrote.
    """
    members = definition.extensions if definition else {}
    return [named(name).recorded(member, where) for name, member in members.items()]


def with_kept(record: EpisodeRecord, features: Sequence[RunFeature]) -> EpisodeRecord:
    """Return the record of an episode that is over with what extensions keep of it."""
    found = {each.extension: member for each in features if (member := each.kept(record))}
    return record._replace(extensions={**record.extensions, **found}) if found else record


def figures(records: Iterable[EpisodeRecord]) -> list[FigureRow]:
    """Return the figures of extensions that keep something of episodes."""
    names = sorted({name for record in records for name in record.extensions})
    return [row for name in names for row in named(name).figures()]


def entry_kind(judged_by: JudgedBy) -> EntryKind:
    """Return how entries are judged that the core cannot judge.

    Raises:
        DataError: No extension can either.
    """
    for each in extensions().values():
        kind = each.entry_kind(judged_by)
        if kind is not None:
            return kind
    raise DataError("entry", f"no installed extension judges entries by {judged_by}")


def bfcl_readers() -> Mapping[JudgedBy, EntryReader]:
    """Return what reads those entries of BFCL's data that the core cannot read."""
    found = [each.bfcl_readers() for each in extensions().values()]
    return {judged_by: reader for readers in found for judged_by, reader in readers.items()}


@cache
def own_names() -> tuple[str, ...]:
    """Return the names of our own extensions."""
    names: tuple[str, ...] = import_module(_OWN).NAMES
    return names


@cache
def _own(name: str) -> Extension:
    extension: Extension = import_module(f"{_OWN}.{name}.extension").EXTENSION
    return extension


@cache
def _installed() -> Mapping[str, metadata.EntryPoint]:
    points = {point.name: point for point in metadata.entry_points(group=GROUP)}
    for name in own_names():
        if name in points:
            raise DataError("extension", f"{points[name].value} has the name of our own {name}")
    return dict(sorted(points.items()))


@cache
def _loaded(name: str) -> Extension:
    point = _installed()[name]
    try:
        found = point.load()
    except Exception as error:
        said = " ".join(f"{type(error).__name__}: {error}".split())
        raise DataError(
            f"extension {name}", f"{point.value} cannot be imported: {said:.300}"
        ) from error
    if not isinstance(found, Extension):
        raise DataError(f"extension {name}", f"{point.value} is not an Extension")
    return found
