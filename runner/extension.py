"""Interface of extensions, that is, packages that add commands, options, run features and pages.

Each folder of ``extensions/`` has a module ``extension`` with an ``EXTENSION``. Installed packages
register an extension in the entry-point group ``turnwise.extensions``. Extensions are imported on
first use.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from envs.errors import DataError, describe_exception, require_type
from envs.lazy_modules import lazy_module

if TYPE_CHECKING:
    import traceback
    from importlib import metadata
    from pathlib import Path

    from checkers.profile import Profile
    from checkers.replies.formats import ReplyFormat
    from envs.session import Session
    from runner.analysis.figure_table import FigureRow
    from runner.analysis.figures import RunFigures, StepUsage
    from runner.analysis.replayed_runs import ReplayedRun
    from runner.analysis.report.page_parts import PagePart
    from runner.commands.variant_types import VariantSet
    from runner.data.web_services import AllowedServices
    from runner.episodes.entry_kinds import EntryKind
    from runner.episodes.judging import TimeAndMemoryLimits
    from runner.episodes.rejudged_episode import RejudgedEpisode
    from runner.live.live_run import RunInputs
    from runner.live.run_settings import Settings
    from runner.live.workers import Workers
    from runner.models.calling_formats.format_types import CallingFormat
    from runner.models.conversation import ConversationSettings, Observe
    from runner.models.dialogue_user import User
    from runner.models.model_types import Model, RequestOptions
    from runner.models.toolbox import FunctionNotes, Toolbox
    from runner.records.episode_record import EpisodeRecord, ExtensionData
    from runner.records.recorded_run import Run
    from runner.records.run_definition import RunDefinition
    from runner.show.terminal import OutputLine
    from trajectories.bfcl_reader import EntryReader
    from trajectories.dataset import Dataset
    from trajectories.schema import Category, JudgingMethod, Trajectory
else:
    # Only needed for installed extensions.
    metadata = lazy_module("importlib.metadata")
    traceback = lazy_module("traceback")

ENTRY_POINT_GROUP = "turnwise.extensions"

_OWN = (__package__ or "").removesuffix("runner") + "extensions"
"""Package of the built-in extensions. In a wheel, this package is inside ``turnwise``."""

JsonObject = Mapping[str, Any]


class Command(NamedTuple):
    """Command with its text in the help."""

    group: str
    text: str
    module: str = ""
    """Dotted name of the module; empty for a core command."""


class RunFeature:
    """Effect of an extension on a run; a subclass overrides the methods that it needs."""

    extension: ClassVar[str]
    """Name of the extension; the feature's field in the run definition has the same name."""
    flag: ClassVar[str]
    is_offline: ClassVar[bool] = False
    """Whether the feature also works in runs of ``oracle`` and ``null``."""
    protocol: CallingFormat | None = None
    """Calling format, if it differs from the default."""
    has_siblings: bool = False
    """Whether one command makes several runs in one folder."""

    @property
    def repeats_entries(self) -> bool:
        """Whether each entry is repeated until an episode passes; all its episodes count as one."""
        return False

    def definition(self) -> JsonObject:
        """Return the settings that determine a run's result."""
        raise NotImplementedError

    def request_options(self, options: RequestOptions) -> RequestOptions:
        """Return the options of requests to the model."""
        return options

    def request_key(self) -> JsonObject:
        """Return additional settings for the key of the reply cache."""
        return {}

    def narrowed(
        self, dataset: Dataset, ids: Sequence[str], folder: Path | None
    ) -> tuple[Dataset, RunFeature]:
        """Change the offered functions of entries; return the new data set and the adapted feature.

        Args:
            ids: Ids of the entries in the run.
            folder: BFCL's data folder if the model sees BFCL's function documents, otherwise None.

        Raises:
            DataError: The feature cannot be used because a file or a library is missing.
        """
        return dataset, self

    def toolbox(
        self, trajectory: Trajectory, folder: Path | None, notes: FunctionNotes, trial: int
    ) -> Toolbox | None:
        """Return the functions that the model sees; None means the default functions."""
        return None

    def style(self, style: ConversationSettings, settings: Settings) -> ConversationSettings:
        """Return the style of the conversation with the model."""
        return style

    def observe(self, observe: Observe | None) -> Observe | None:
        """Return a function that formats a call's result for the model."""
        return observe

    def user(self, trajectory: Trajectory, trial: int) -> User | None:
        """Return the simulated user of an episode; None means the entry's own user."""
        return None

    def wrapped(self, model: Model, plan: RunInputs) -> Model:
        """Return ``model``, or another model that answers the run's requests in its place."""
        return model

    def kept(self, record: EpisodeRecord) -> ExtensionData | None:
        """Return the extension's data for a finished episode's record, or None."""
        return None

    def model(self, plan: RunInputs) -> Model | None:
        """Return a model that replaces the run's model and needs no server, or None."""
        return None

    def lines(
        self, dataset: Dataset, ids: Sequence[str], records: Sequence[EpisodeRecord]
    ) -> Iterator[str]:
        """Yield the lines that ``eval`` prints below the score."""
        yield from ()

    def reader(self, where: str) -> ReplyFormat | None:
        """Return the reader of the model's text; None means the default reader.

        Raises DataError if the format no longer exists.
        """
        return None

    def restored(self, dataset: Dataset, ids: Collection[str]) -> Dataset:
        """Return the data set with the changes that this feature made in a recorded run.

        The result contains at least the entries in ``ids``.

        Raises DataError if the feature needs a file or a library that is missing.
        """
        return dataset

    def restored_offers(
        self, run: Run, dataset: Dataset, notify: Callable[[str], object]
    ) -> Dataset:
        """Return a data set that offers the functions of a recorded run.

        Raises DataError if the feature needs a file or a library that is missing.
        """
        return dataset


class Extension:
    """An extension; a subclass overrides the methods that it needs."""

    name: ClassVar[str]
    """Name of the extension. Its folder and its fields in run files have the same name."""
    commands: ClassVar[Mapping[str, Command]] = {}
    page_assets: ClassVar[Sequence[Path]] = ()
    """Styles and scripts of the extension's parts on the page of a run."""

    def options(self, command: str) -> type | None:
        """Return the record of options for a core command such as ``eval``."""
        return None

    def features(self, options: Any, own: Any, settings: Settings) -> Sequence[RunFeature]:
        """Return the extension's features in a run.

        Args:
            own: The extension's options, a record of the type that ``options`` returns.

        Raises:
            DataError: The options contradict each other or name something that does not exist.
        """
        return ()

    def judging(self, checks: Sequence[Any], policy: str | None) -> RunFeature | None:
        """Return the feature that adds checks and a policy to a run of ``evaluate``.

        Raises DataError if a check cannot be used.
        """
        return None

    def reported(self, own: Any, figures: RunFigures, entries: Dataset) -> None:
        """Write the extension's reports after a run.

        Raises DataError if a file cannot be written.
        """

    def makes_variants(self, own: Any) -> bool:
        """Tell whether the extension's options make several runs."""
        return False

    def variants(
        self, options: Any, own: Any, plan: RunInputs, trajectories: Sequence[Trajectory]
    ) -> VariantSet | None:
        """Return the variants that the extension's options select; None for a single run.

        Raises:
            DataError: The options contradict each other or name something that does not exist.
        """
        return None

    def recorded(self, definition: JsonObject, where: str) -> RunFeature:
        """Return the run feature of a recorded run; ``definition`` describes the feature.

        Raises DataError for invalid data.
        """
        why = f"$.definition.extensions.{self.name}: this extension adds nothing to runs"
        raise DataError(where, why)

    def episode(self, member: JsonObject, where: str) -> ExtensionData:
        """Parse the extension's data in an episode's record. Raises DataError for invalid data."""
        why = f"$.extensions.{self.name}: this extension stores nothing in episodes"
        raise DataError(where, why)

    def replayed(self, template: Session, record: EpisodeRecord) -> Session:
        """Return the session for the replay of an episode that has data of this extension."""
        return template

    def undone(self, member: JsonObject) -> Sequence[StepUsage]:
        """Return the usage of the steps that the episode has undone."""
        return ()

    def episode_lines(self, record: EpisodeRecord, turn: int | None) -> Iterator[OutputLine]:
        """Yield the lines that ``replay`` adds for an episode or one of its turns."""
        yield from ()

    def episode_json(self, record: EpisodeRecord) -> JsonObject:
        """Return the fields that ``replay --json`` adds for an episode."""
        return {}

    def page_part(self, run: ReplayedRun) -> PagePart | None:
        """Return the extension's part of a run's page, or None.

        Raises DataError if a file beside the run cannot be read.
        """
        return None

    def figures(self) -> Sequence[FigureRow]:
        """Return the metrics that the extension adds to tables."""
        return ()

    def dataset(self, name: str, categories: Sequence[Category]) -> Dataset | None:
        """Load categories of the data set ``name``; return None if the extension lacks it.

        Raises DataError if the data set cannot be read.
        """
        return None

    def entries(self, dataset: Dataset, own: Any) -> Dataset:
        """Apply the extension's options to the entries of a data set, and return the new data set.

        Raises DataError for an unknown value of an option.
        """
        return dataset

    def fetch(self, name: str, source: Path | None, notify: Callable[[str], object]) -> Path | None:
        """Store a data set in the cache and return its folder; None if the name is unknown.

        If ``source`` is given, this folder or archive replaces the download.

        Raises DataError if the data cannot be downloaded or read.
        """
        return None

    def reviews(self, dataset: Dataset) -> str | None:
        """Return the review status of the built-in entries in one line, or None."""
        return None

    def check_export(self, options: Any, own: Any) -> None:
        """Check that the extension's options of ``export`` do not contradict other options.

        Raises DataError for a contradiction.
        """

    def export(self, options: Any, own: Any, found: Sequence[Any]) -> bool:
        """If the extension's options of ``export`` select transcripts, write the transcripts.

        Return whether the options select transcripts.

        Raises DataError if the options contradict each other, or a file cannot be written.
        """
        return False

    def debug(self, options: Any, own: Any, found: RejudgedEpisode) -> bool:
        """Stop ``replay`` at breakpoints in an episode, if the options select breakpoints.

        Return whether the episode was stopped.

        Raises DataError if an option is invalid.
        """
        return False

    def entry_kind(self, trajectory: Trajectory) -> EntryKind | None:
        """Return the extension's entry kind for an entry, or None."""
        return None

    def read_run(self, paths: Sequence[Path]) -> Run | None:
        """Read another tool's files as a recorded run; None for unknown files.

        Raises DataError if a file cannot be read.
        """
        return None

    def bfcl_readers(self) -> Mapping[JudgingMethod, EntryReader]:
        """Return readers of BFCL entries that the core cannot read."""
        return {}

    def connect(self, session: Session, reach: AllowedServices) -> None:
        """Connect the extension's backends in a session to their web services."""

    def require_up(self, entries: Sequence[Trajectory], reach: AllowedServices) -> None:
        """Check that the web services of entries are up. Raises DataError if a service is down."""

    def notes(
        self, entries: Sequence[Trajectory], profile: Profile, reach: AllowedServices
    ) -> Iterator[str]:
        """Yield messages that ``eval`` prints about entries before the run."""
        yield from ()

    def engine(
        self, address: str | None, workers: int | None, allowance: TimeAndMemoryLimits
    ) -> Workers:
        """Return the extension's workers for ``--engine``.

        Raises DataError if the extension has no workers, or if they cannot start.
        """
        raise DataError("--engine", f"{self.name} cannot run episodes; use `local` or `ray`")


def load_extensions() -> Mapping[str, Extension]:
    """Return all extensions by name, built-in extensions first.

    Raises DataError if an installed extension cannot be imported, or two have the same name.
    """
    return {name: load_extension(name) for name in (*own_names(), *_installed())}


def load_extension(name: str) -> Extension:
    """Return the extension of this name.

    Raises DataError if the extension is missing or cannot be imported.
    """
    if name in own_names():
        return _load_own(name)
    if name not in _installed():
        raise DataError("extension", f"{name!r:.80} is not installed; install its package")
    return _loaded(name)


def describe_bug(error: Exception) -> str | None:
    """Return one line about an exception in a hook of an installed extension, or None."""
    packages = {point.module.partition(".")[0]: name for name, point in _installed().items()}
    for frame, line in traceback.walk_tb(error.__traceback__):
        name = packages.get(frame.f_globals.get("__name__", "").partition(".")[0])
        if name is not None:
            said = describe_exception(error)
            hook = frame.f_code
            place = f"{hook.co_filename}:{line}"
            return f"extension {name}: {hook.co_name}() raised {said:.300} ({place})"
    return None


def judging_features(checks: Sequence[Any], policy: str | None) -> list[RunFeature]:
    """Return the features that add checks and a policy. Raises DataError for an unusable check."""
    if not checks and policy is None:
        return []
    return [each for own in load_extensions().values() if (each := own.judging(checks, policy))]


def report_run(theirs: Mapping[str, Any], figures: RunFigures, entries: Dataset) -> None:
    """Let extensions write their reports on a run.

    Raises the exceptions of ``Extension.reported``.
    """
    for name, own in theirs.items():
        load_extension(name).reported(own, figures, entries)


def recorded_features(definition: RunDefinition | None, where: str) -> list[RunFeature]:
    """Return the features of a recorded run.

    Raises DataError if an extension is not installed, or if its data are invalid.
    """
    return make_features(definition.extensions if definition else {}, where)


def make_features(settings: Mapping[str, Any], where: str) -> list[RunFeature]:
    """Return the run features; ``settings`` maps extensions to their recorded settings."""
    described = "a dict of settings by extension"
    require_type("extensions", settings, Mapping, described=described)
    for name, value in settings.items():
        require_type("extensions", name, str, described=described)
        require_type("extensions", value, Mapping, described=described)
    return [load_extension(name).recorded(each, where) for name, each in settings.items()]


def add_members(record: EpisodeRecord, features: Sequence[RunFeature]) -> EpisodeRecord:
    """Add the data of extensions to the record of a finished episode."""
    found = {each.extension: member for each in features if (member := each.kept(record))}
    return record._replace(extensions={**record.extensions, **found}) if found else record


def replay_session(template: Session, record: EpisodeRecord) -> Session:
    """Return the session for a new execution of a recorded episode."""
    for name in record.extensions:
        template = load_extension(name).replayed(template, record)
    return template


def figures(records: Iterable[EpisodeRecord]) -> list[FigureRow]:
    """Return the metric rows of the extensions that stored data in these records."""
    names: set[str] = set()
    for record in records:
        measures = record.verdict.measures if record.verdict else ()
        if measures or record.extensions:
            names.update(record.extensions, (each.partition(".")[0] for each in measures))
    # A measure may have no extension.
    known = sorted(name for name in names if name in {*own_names(), *_installed()})
    return [row for name in known for row in load_extension(name).figures()]


def entry_kind(trajectory: Trajectory) -> EntryKind:
    """Return the entry kind with which an extension judges this entry.

    Raises DataError if no extension can judge the entry.
    """
    named = [load_extension(name) for name in trajectory.extensions]
    for each in named or load_extensions().values():
        kind = each.entry_kind(trajectory)
        if kind is not None:
            return kind
    message = f"no installed extension can judge entries of the kind {trajectory.judged_by}"
    raise DataError(f"entry {trajectory.id}", message)


def read_run(paths: Sequence[Path]) -> Run | None:
    """Read another tool's files as a recorded run; None if no extension recognizes the files.

    Raises DataError if an extension recognizes the files, but no extension can read them.
    """
    problems = []
    for each in load_extensions().values():
        try:
            run = each.read_run(paths)
        except DataError as error:
            # The reader for one tool may regard another tool's file as damaged.
            problems.append(error)
        else:
            if run is not None:
                return run
    if problems:
        raise problems[-1]
    return None


def bfcl_readers() -> Mapping[JudgingMethod, EntryReader]:
    """Return readers of BFCL entries that the core cannot read."""
    found = [each.bfcl_readers() for each in load_extensions().values()]
    return {judged_by: reader for readers in found for judged_by, reader in readers.items()}


@cache
def own_names() -> tuple[str, ...]:
    """Return the names of the built-in extensions."""
    names: tuple[str, ...] = import_module(_OWN).NAMES
    return names


@cache
def _load_own(name: str) -> Extension:
    extension: Extension = import_module(f"{_OWN}.{name}.extension").EXTENSION
    return extension


@cache
def _installed() -> Mapping[str, metadata.EntryPoint]:
    points = {point.name: point for point in metadata.entry_points(group=ENTRY_POINT_GROUP)}
    for name in own_names():
        if name in points:
            why = f"{points[name].value} has the name of the built-in extension {name}; rename it"
            raise DataError("extension", why)
    return dict(sorted(points.items()))


@cache
def _loaded(name: str) -> Extension:
    point = _installed()[name]
    try:
        found = point.load()
    except (Exception, SystemExit) as error:
        why = f"{point.value} cannot be imported: {describe_exception(error):.300}"
        raise DataError(f"extension {name}", why) from error
    if not isinstance(found, Extension) or found.name != name:
        why = f"{point.value} is not an Extension with this name"
        raise DataError(f"extension {name}", why)
    return found
