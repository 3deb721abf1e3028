"""Recorded runs of AgentDojo: folders of run files, or packed files with one run per line."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from checkers.replies.decoding import Step
from checkers.verdict import Verdict
from envs.errors import DataError
from extensions.injection.dojo import agentdojo_package, entries, verdicts, version_detection
from extensions.injection.dojo.verdicts import DojoTaskPair, DojoVerdict
from extensions.injection.dojo.version_detection import DataVersionClues
from extensions.traces.packed_files import open_packed
from runner.models.model_types import ToolCall, Usage
from runner.records import json_codec
from runner.records.episode_record import (
    EpisodeRecord,
    ExtensionData,
    RecordedEpisode,
    ReplyRecord,
    StepRecord,
)
from runner.records.recorded_run import Run
from runner.show.terminal import OutputLine
from trajectories.schema import Category, Trajectory

JsonObject = Mapping[str, Any]

_PACKED = (".jsonl", ".jsonl.gz")
_MAX_BYTES = 64_000_000
"""Maximum bytes of a line or file."""
_MAX_BEGIN_BYTES = 4096
"""Bytes at the start of a file that identify its format."""
_NO_MESSAGES = "the file has no messages, so its episode cannot be judged"


class DojoAnswer(NamedTuple):
    """One recorded answer of the model."""

    said: str | None
    calls: Sequence[JsonObject]
    """Calls with ``function`` and ``args``; executed calls also have ``result`` or ``error``."""


class DojoRecording(NamedTuple):
    """One recorded episode, in one of the two file formats."""

    where: str
    texts: DataVersionClues
    version: str | None
    answers: Sequence[DojoAnswer]
    ends_with_answer: bool
    system: str | None
    error: str | None
    utility: bool | None
    security: bool | None


class DojoEpisodeFields(NamedTuple):
    """The extension's data of a recorded episode of AgentDojo."""

    version: str
    is_named: bool
    """Whether the file names the version. If not, the version is derived from the texts."""
    utility: bool | None
    """Recorded verdict on the user's task; the name is AgentDojo's."""
    security: bool | None
    """Recorded verdict on the attack: true if the attack succeeded. It is also true if the episode
    had no attack."""
    is_attacked: bool
    given_up: bool = False
    unexecuted: tuple[tuple[str, JsonObject], ...] = ()
    """Calls of the last answer that were never executed; AgentDojo's judges see these calls."""


class DojoEpisodeData(DojoEpisodeFields, ExtensionData):
    """AgentDojo's data as part of an episode record."""

    def verdict_members(self, verdict: Verdict | None) -> JsonObject:
        """Return AgentDojo's new verdict, and whether the recorded verdict is the same."""
        found = self._replayed(verdict)
        security = found.attack_succeeded or not self.is_attacked
        agrees = (found.utility, security) == (self.utility, self.security)
        own = {
            "version": self.version,
            "version_is_named": self.is_named,
            "utility": found.utility,
            "security": security,
            "recorded_utility": self.utility,
            "recorded_security": self.security,
            "agrees": agrees if self.utility is not None else None,
        }
        absent = {} if verdict else {"utility": None, "attack_succeeded": None}
        return {**absent, "agentdojo": own}

    def lines(self) -> Iterator[OutputLine]:
        """Yield the line that shows the verdict recorded by AgentDojo."""
        security = {True: "attack succeeded", False: "attack failed", None: "no verdict"}
        attack = f", {security[self.security]}" if self.is_attacked else ""
        yield OutputLine(f"recorded by AgentDojo {self.version}: utility {self.utility}{attack}")

    def _replayed(self, verdict: Verdict | None) -> DojoVerdict:
        if verdict is not None:
            measures = verdict.measures
            reached = measures["attack_succeeded"]
            return DojoVerdict(
                bool(measures["utility"]), None if reached is None else bool(reached)
            )
        return verdicts.GIVEN_UP if self.given_up else DojoVerdict(False, False)


def read_run(paths: Sequence[Path]) -> Run | None:
    """Return the run in a pipeline's folder or packed file; None for other paths.

    Raises DataError if a file cannot be read, or the package is missing.
    """
    path, *others = paths
    found = _find(path)
    if found is None:
        return None
    if others:
        raise DataError(str(others[0]), "runs of AgentDojo are opened one by one; give one path")
    name, files = found
    episodes = [*files]
    if not episodes:
        raise DataError(str(path), "contains no run of AgentDojo")
    with _FieldErrorContext(str(path)):
        known = version_detection.find_versions([each.texts for each in episodes])
    made = []
    for each, version in zip(episodes, known, strict=True):
        with _FieldErrorContext(each.where):
            is_named = each.version is not None
            made.append(_episode(each, each.version or version, is_named=is_named))
    recorded: dict[tuple[str, int], RecordedEpisode] = {}
    for _, record in made:
        if record.record.key in recorded:
            raise DataError(
                record.where, f"{record.id} is also in {recorded[record.record.key].where}"
            )
        recorded[record.record.key] = record
    used = {entry.provenance["version"] for entry, _ in made}
    version = ", ".join(each for each in agentdojo_package.VERSIONS if each in used)
    dataset = entries.make_dataset(entries.NAME, version, [entry for entry, _ in made])
    return Run(name, path, recorded, dataset=dataset)


def read_member(member: JsonObject, where: str) -> DojoEpisodeData:
    """Return the data of an episode. Raises DataError if the data are invalid."""
    calls = [tuple(call) for call in member.get("unexecuted", ())]
    read = json_codec.read(DojoEpisodeFields, {**member, "unexecuted": calls}, where)
    return DojoEpisodeData(*read)


def is_packed(header: JsonObject) -> bool:
    """Tell whether a file begins with the first line of a packed run."""
    return isinstance(header.get("pipeline"), str) and isinstance(header.get("texts"), list)


def _find(path: Path) -> tuple[str, Iterator[DojoRecording]] | None:
    """Return the pipeline's name and its recordings; None if the path contains no pipeline."""
    if path.is_file() and path.name.endswith(_PACKED):
        lines = _lines(path)
        try:
            header = next(lines, ("", {}))[1]
        except DataError:
            return None
        return (str(header["pipeline"]), _unpacked(header, lines)) if is_packed(header) else None
    if path.is_file():
        if not _is_episode(path):
            return None
        return path.parent.name, iter([_of_file(path, _document(path))])
    if not path.is_dir():
        return None
    suites = [path / suite for suite in agentdojo_package.SUITES if (path / suite).is_dir()]
    if not suites and path.name in agentdojo_package.SUITES:
        suites = [path]
    found = [file for suite in suites for file in sorted(suite.glob("*_task_*/*/*.json"))]
    name = path.resolve().name
    return (name, (_of_file(file, _document(file)) for file in found)) if found else None


def _is_episode(path: Path) -> bool:
    try:
        with open_packed(path) as file:
            begin = file.read(_MAX_BEGIN_BYTES)
    except DataError:
        return False
    return all(name in begin for name in (b'"suite_name"', b'"user_task_id"'))


def _lines(path: Path) -> Iterator[tuple[str, JsonObject]]:
    """Yield the objects of a packed file. Raises DataError if the file cannot be read."""
    number = 0
    with open_packed(path) as file:
        while text := file.readline(_MAX_BYTES).decode():
            number += 1
            if text.strip():
                yield f"{path}:{number}", _parsed(text, f"{path}:{number}")


def _document(path: Path) -> JsonObject:
    with open_packed(path) as file:
        return _parsed(file.read(_MAX_BYTES).decode(), str(path))


def _parsed(text: str, where: str) -> JsonObject:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DataError(where, f"is not JSON: {error}") from None
    if not isinstance(found, dict):
        raise DataError(where, "must be a JSON object")
    return found


def _unpacked(
    header: JsonObject, lines: Iterable[tuple[str, JsonObject]]
) -> Iterator[DojoRecording]:
    texts, systems = header["texts"], header.get("system")
    system = systems[0] if isinstance(systems, list) and systems else None

    def whole(value: Any) -> Any:
        return (
            texts[value["text"]] if isinstance(value, dict) and value.keys() == {"text"} else value
        )

    for where, line in lines:
        with _FieldErrorContext(where):
            answers = [
                DojoAnswer(
                    whole(step["say"]),
                    [
                        {**call, "result": whole(call["result"])} if "result" in call else call
                        for call in step.get("calls", ())
                    ],
                )
                for step in line["steps"]
                if "say" in step
            ]
            injections = {vector: whole(text) for vector, text in line["injections"].items()}
            yield DojoRecording(
                where=where,
                texts=_texts(
                    line, "user_task", "injection_task", "attack", whole(line["prompt"]), injections
                ),
                version=line["version"],
                answers=answers,
                ends_with_answer="ends_with" not in line,
                system=system if isinstance(system, str) else None,
                error=line.get("error"),
                utility=line["utility"],
                security=line["security"],
            )


def _of_file(path: Path, line: JsonObject) -> DojoRecording:
    where = str(path)
    with _FieldErrorContext(where):
        messages = line["messages"] or []
        users = [_content(each) for each in messages if each["role"] == "user"]
        systems = [_content(each) for each in messages if each["role"] == "system"]
        error = line.get("error")
        return DojoRecording(
            where=where,
            texts=_texts(
                line,
                "user_task_id",
                "injection_task_id",
                "attack_type",
                users[0] if users else None,
                line.get("injections") or {},
                suite="suite_name",
            ),
            version=line.get("benchmark_version"),
            answers=_answers(messages),
            ends_with_answer=bool(messages) and messages[-1]["role"] == "assistant",
            system=next(iter(systems), None),
            error=None if error is None else str(error),
            utility=line.get("utility"),
            security=line.get("security"),
        )
    raise AssertionError


class _FieldErrorContext:
    """Context manager that raises DataError for a missing or mistyped field."""

    def __init__(self, where: str) -> None:
        self._where = where

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, (KeyError, TypeError, AttributeError, IndexError)):
            said = f"{type(error).__name__}: {error}"
            raise DataError(self._where, f"is not a run of AgentDojo: {said:.200}") from None


def _texts(
    line: JsonObject,
    user: str,
    goal: str,
    attack: str,
    prompt: str | None,
    injections: Mapping[str, str],
    suite: str = "suite",
) -> DataVersionClues:
    name = line[suite]
    if name not in agentdojo_package.SUITES:
        raise TypeError(f"{name!r} is not one of {', '.join(agentdojo_package.SUITES)}")
    for member in (user, goal, attack):
        is_left_out = line[member] is None and member != user
        if not (is_left_out or isinstance(line[member], str)):
            raise TypeError(f"{member} must be a string")
    return DataVersionClues(name, line[user], line[goal], line[attack], prompt, dict(injections))


def _content(message: JsonObject) -> str:
    content = message.get("content")
    if isinstance(content, list):
        return "\n".join(str(block.get("content") or "") for block in content)
    return content or ""


def _answers(messages: Sequence[JsonObject]) -> list[DojoAnswer]:
    found: list[DojoAnswer] = []
    waiting: list[dict[str, Any]] = []
    for message in messages:
        if message["role"] == "assistant":
            waiting = [
                {"function": call["function"], "args": call["args"]}
                for call in message.get("tool_calls") or ()
            ]
            found.append(DojoAnswer(_content(message) or None, waiting))
        elif message["role"] == "tool":
            made = message["tool_call"]
            call = next((each for each in waiting if "result" not in each), None)
            if call is None:
                raise TypeError("a tool message without a call")
            # The message repeats the call as it was executed.
            call |= {
                "function": made["function"],
                "args": made["args"],
                "result": _content(message),
            }
            if message.get("error") is not None:
                call["error"] = message["error"]
    return found


def _episode(
    file: DojoRecording, version: str | None, *, is_named: bool
) -> tuple[Trajectory, RecordedEpisode]:
    texts = file.texts
    if version not in agentdojo_package.VERSIONS:
        fits = (
            f"version {version!r} is unknown"
            if version
            else "no version has this prompt and this goal"
        )
        raise DataError(
            file.where, f"{fits}; the known versions are {', '.join(agentdojo_package.VERSIONS)}"
        )
    task = DojoTaskPair(texts.suite, version, texts.user_task, texts.injection_task, texts.attack)
    try:
        entry = entries.make_entry(task, texts.injections, texts.prompt)
    except DataError as unfit:
        raise DataError(file.where, str(unfit)) from None
    executed, left = _executed(file.answers)
    error = file.error or (None if file.answers else _NO_MESSAGES)
    member = DojoEpisodeData(
        version=version,
        is_named=is_named,
        utility=file.utility,
        security=file.security,
        is_attacked=texts.injection_task is not None,
        given_up=file.error is not None,
        unexecuted=left,
    )
    steps: list[Step] = [_step(answer) for answer in executed]
    if not file.ends_with_answer:
        steps.append(None)
    record = EpisodeRecord(
        entry.id,
        0,
        Category.AGENTDOJO.value,
        None if error is None else "error",
        None,
        error if file.error is None else f"gave up: {' '.join(file.error.split())}",
        messages=tuple(_messages(file)),
        steps=tuple(_records(executed)),
        result=[steps],
        extensions={"injection": member},
    )
    return entry, RecordedEpisode(record, "fc", file.where)


def _executed(
    answers: Sequence[DojoAnswer],
) -> tuple[Sequence[DojoAnswer], tuple[tuple[str, JsonObject], ...]]:
    """Split off the calls that were never executed; return the answers, then these calls."""
    kept, left = [], []
    for answer in answers:
        done = [call for call in answer.calls if "result" in call or "error" in call]
        left += [(call["function"], call["args"]) for call in answer.calls if call not in done]
        kept.append(answer._replace(calls=done))
    return kept, tuple(left)


def _step(answer: DojoAnswer) -> Step:
    calls = [{call["function"]: call["args"]} for call in answer.calls]
    return calls or answer.said


def _shown(call: JsonObject) -> str:
    return str(call["error"] if call.get("error") is not None else call.get("result", ""))


def _messages(file: DojoRecording) -> Iterator[dict[str, Any]]:
    if file.system is not None:
        yield {"role": "system", "content": file.system}
    if file.texts.prompt is not None:
        yield {"role": "user", "content": file.texts.prompt}
    for number, answer in enumerate(file.answers):
        calls = [
            {
                "id": f"call_{number}_{place}",
                "type": "function",
                "function": {"name": call["function"], "arguments": json.dumps(call["args"])},
            }
            for place, call in enumerate(answer.calls)
        ]
        made = {"tool_calls": calls} if calls else {}
        yield {"role": "assistant", "content": answer.said, **made}
        for call, sent in zip(answer.calls, calls, strict=True):
            yield {"role": "tool", "tool_call_id": sent["id"], "content": _shown(call)}


def _records(answers: Sequence[DojoAnswer]) -> Iterator[StepRecord]:
    sent = 2
    for answer in answers:
        calls = [
            ToolCall(f"call_{place}", call["function"], json.dumps(call["args"]))
            for place, call in enumerate(answer.calls)
        ]
        yield StepRecord(
            turn=0,
            request_messages=sent,
            tools=None,
            reply=ReplyRecord(answer.said, calls, None, None),
            calls=[f"{call['function']}({json.dumps(call['args'])})" for call in answer.calls],
            results=[_shown(call) for call in answer.calls],
            changes=(),
            usage=Usage(),
            latency=0.0,
            cost=None,
            attempts=1,
        )
        sent += 1 + len(calls)
