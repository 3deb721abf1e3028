"""The forms of files that commands read: good ones, to be changed, and the commands for each."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from checkers.profile import STRICT
from extensions.export.transcripts import export_bfcl
from extensions.judges.judged_episode import exhibits
from extensions.judges.label_rules import TurnObservation
from extensions.judges.scripted_judge import ScriptedJudge
from extensions.judges.votes import JUDGE_FILE, VOTES_FILE, JudgeDefinition, Vote, VoteStore
from runner.analysis.replayed_runs import replay_episodes
from runner.episodes.turn_loop import STEP_LIMIT
from runner.records.recorded_run import open_run, read_run
from runner.records.run_file_mask import SecretMask
from tests.conftest import bfcl_files
from trajectories import bfcl_reader
from trajectories.dataset import DATA, load_path
from trajectories.fingerprint import fingerprint
from trajectories.schema import Category

ROOT = Path(__file__).parents[2]
FORMAT_1 = ROOT / "tests/runner/records/format_1"

BACKENDS = (
    *("GorillaFileSystem", "MathAPI", "MessageAPI", "TwitterAPI", "TicketAPI", "TradingBot"),
    *("TravelAPI", "VehicleControlAPI"),
)

Files = Mapping[str, bytes]


class Form(NamedTuple):
    """What is changed, and what reads it."""

    files: Files
    """By path below a folder: all there must be for the commands to work."""
    changes: Sequence[str]
    """Those of them that are changed."""
    commands: Sequence[str]
    """``IN`` stands for the folder, ``OUT`` for a file or folder that is not there yet; ``< NAME``
    at the end is standard input."""


def forms(work: Path) -> dict[str, Form]:
    """Return all forms by name; ``work`` is a folder to make them in."""
    return {
        "trajectories": _trajectories(),
        "single turns": _single_turns(),
        "run folder": _run_folder(),
        "result file": _result_file(work),
        "verdicts": _verdicts(work),
        "votes": _votes(work),
        "judges": _judges(),
        "errata": _errata(),
        "readings": _readings(),
        "scenarios": _scenarios(),
        "settings": _settings(),
        "initial config": _config(),
        "scripts": _scripts(),
        "exceptions": _exceptions(),
        "bfcl": _bfcl(),
    }


_OF_TRAJECTORIES = (
    "eval --model oracle --dataset IN/data.jsonl -o OUT",
    "eval --model null --dataset IN/data.jsonl --category all",
    "eval --model gpt-x --base-url http://127.0.0.1:9 --dataset IN/data.jsonl --dry-run",
    "eval --model gpt-x --base-url http://127.0.0.1:9 --mode prompt --dataset IN/data.jsonl "
    "--dry-run",
    "dataset show IN/data.jsonl --warnings",
    "dataset show IN/data.jsonl --statistics --html OUT",
    "dataset validate IN/data.jsonl",
    "dataset validate IN/data.jsonl --json",
    "dataset validate IN/data.jsonl --mutations",
    "dataset graph --coverage --missing --dataset IN/data.jsonl",
    "dataset overlap IN/data.jsonl IN/data.jsonl",
    "replay ID --dataset IN/data.jsonl",
    "replay ID --dataset IN/data.jsonl --json",
    "search --model scripted:0.2 --dataset IN/data.jsonl --limit 1 --max-nodes 4 --max-calls 4",
)


def _lines(name: str, number: int) -> bytes:
    with (DATA / name).open("rb") as file:
        return b"".join(line for line, _ in zip(file, range(number), strict=False))


def _trajectories() -> Form:
    names = ("base.jsonl", "miss_func.jsonl", "long_context.jsonl")
    data = b"".join(_lines(name, 1) for name in names)
    files = {"data.jsonl": data, "id": _id_of(data)}
    serve = "env serve --trajectory ID --dataset IN/data.jsonl"
    return Form(files, ["data.jsonl"], (*_OF_TRAJECTORIES, serve))


def _single_turns() -> Form:
    names = (
        *("simple_python", "parallel", "irrelevance", "exec_simple", "rest", "simple_java"),
        *("sql", "chat", "live_relevance", "simple_javascript"),
    )
    data = b"".join(_lines(f"{name}.jsonl", 1) for name in names)
    health = "env health --dataset IN/data.jsonl"
    files = {"data.jsonl": data, "id": _id_of(data)}
    # A search is of several turns.
    commands = [each for each in _OF_TRAJECTORIES if not each.startswith("search")]
    return Form(files, ["data.jsonl"], (*commands, health))


def _id_of(data: bytes) -> bytes:
    return str(json.loads(data.split(b"\n")[0])["id"]).encode()


def _run_folder() -> Form:
    names = ("run.json", "episodes.jsonl", "tools.jsonl")
    files = {f"run/{name}": (FORMAT_1 / "run" / name).read_bytes() for name in names}
    files["data.jsonl"] = (FORMAT_1 / "data.jsonl").read_bytes()
    step = json.loads(files["run/episodes.jsonl"].split(b"\n")[0])
    spent = {"requests": 1, "tokens": 2, "cost": None}
    answered = {"id": step["id"], "trial": 5, "step": step["steps"][0], "spent": spent}
    answered["message"] = step["messages"][step["steps"][0]["request_messages"]]
    files["run/underway.jsonl"] = json.dumps(answered).encode() + b"\n"
    files["id"] = b"help_desk_0"
    data = "--dataset IN/data.jsonl"
    commands = (
        f"table IN/run {data} --allow-errors --csv OUT",
        f"table IN/run {data} --allow-errors --json --html OUT",
        f"report IN/run {data} -o OUT",
        f"verify IN/run {data}",
        f"compare IN/run RUN {data} --html OUT",
        f"compare RUN IN/run {data} --json",
        f"align ID --run IN/run --run RUN {data}",
        f"align ID --run IN/run {data} --json",
        f"replay ID --run IN/run {data}",
        f"replay ID --run IN/run {data} --json",
        "export IN/run --format bfcl -o OUT",
        "export IN/run --format openai-messages -o OUT",
        f"eval --model fake --base-url http://127.0.0.1:9 {data} --category all --trials 2 "
        "--seed 7 --resume IN/run --max-requests 1 --retries 0",
    )
    changes = [name for name in files if name.startswith("run/")]
    # Most of what is read is in the episodes.
    return Form(files, [*changes, *["run/episodes.jsonl"] * 4], commands)


def _result_file(work: Path) -> Form:
    paths = export_bfcl(read_run(FORMAT_1 / "run"), work / "results")
    files = {f"results/{path.name}": path.read_bytes() for path in paths}
    say = "[create_ticket(title='A'), close_ticket(ticket_id=1)]"
    texts = [{"id": "help_desk_0", "result": [[say, "Done."], ["Done."], [say]]}]
    files["prompt/multi_turn_miss_func_result.json"] = json.dumps(texts[0]).encode() + b"\n"
    changes = [*files]
    files |= {"data.jsonl": (FORMAT_1 / "data.jsonl").read_bytes(), "id": b"help_desk_0"}
    data = "--dataset IN/data.jsonl"
    commands = [
        command
        for folder in ("IN/results", "IN/prompt")
        for command in (
            f"score {folder} {data} -o OUT",
            f"score {folder} {data} --profile bfcl",
            f"table {folder} {data} --html OUT",
            f"report {folder} {data} -o OUT",
            f"replay ID --run {folder} {data}",
            f"align ID --run {folder} --run RUN {data}",
            f"compare {folder} RESULTS {data}",
            f"dataset audit {folder} RESULTS {data}",
            f"eval --model replay:{folder} {data}",
        )
    ]
    return Form(files, changes, commands)


def _votes(work: Path) -> Form:
    """Return the votes of a scripted judge and of one that observes, beside a run."""
    names = ("run.json", "episodes.jsonl", "tools.jsonl")
    files = {f"run/{name}": (FORMAT_1 / "run" / name).read_bytes() for name in names}
    files["data.jsonl"] = (FORMAT_1 / "data.jsonl").read_bytes()
    source = open_run(FORMAT_1 / "run")
    dataset = load_path(FORMAT_1 / "data.jsonl", [*Category])
    episodes = replay_episodes(source, source.episodes, dataset, STRICT, STEP_LIMIT)
    scripted = JudgeDefinition("scripted:0.8", {"seed": 0, "by_turn": False}, "", "steps")
    judge, found = ScriptedJudge(0.8), [*exhibits(episodes, "steps")]
    for definition in (scripted, scripted._replace(judge="j", settings=None)):
        folder = work / "votes" / definition.folder
        with VoteStore(folder, definition, Vote, {}, SecretMask([])) as store:
            for exhibit in found:
                vote = judge.vote(exhibit, 0)
                if definition is not scripted:
                    seen = [
                        TurnObservation(n, "yes", True, True, "partly", "so") for n in exhibit.asked
                    ]
                    vote = vote._replace(labels=None, turns=seen)
                store.append(vote)
        for name in (JUDGE_FILE, VOTES_FILE):
            files[f"run/judged/{definition.folder}/{name}"] = (folder / name).read_bytes()
    data = "--dataset IN/data.jsonl"
    commands = (
        f"judge IN/run {data} --judge scripted:0.8 --output OUT",
        f"judge IN/run {data} --judge scripted:0.8 --resume --json",
        f"judge IN/run {data} --judge j --base-url http://127.0.0.1:9 --dry-run",
        f"report IN/run {data} -o OUT",
    )
    return Form(files, [name for name in files if "judged" in name], commands)


def _judges() -> Form:
    """Return what else ``turnwise judge`` reads: its texts, labels of people, disagreements."""
    label = {"id": "help_desk_0", "trial": 0, "passed": True, "note": "x"}
    other = {**label, "label": "fail", "votes": [{"label": "fail", "why": "so"}]}
    files = {
        "judge.toml": (ROOT / "configs/prompts/judge.toml").read_bytes(),
        "labels.jsonl": json.dumps(label).encode() + b"\n",
        "other.jsonl": json.dumps(other).encode() + b"\n",
        "data.jsonl": (FORMAT_1 / "data.jsonl").read_bytes(),
    }
    judge = "judge RUN --dataset IN/data.jsonl --judge j --base-url http://127.0.0.1:9 --dry-run"
    commands = (
        f"{judge} --prompts IN/judge.toml",
        f"{judge} --prompts IN/judge.toml --mode prompt",
        "judge RUN --dataset IN/data.jsonl --labels IN/labels.jsonl",
        "dataset audit RESULTS --dataset IN/data.jsonl --disagreements IN/other.jsonl",
    )
    return Form(files, ["judge.toml", "labels.jsonl", "other.jsonl"], commands)


def _verdicts(work: Path) -> Form:
    path = work / "verdicts"
    files = {f"results/{p.name}": p.read_bytes() for p in (work / "results").rglob("*.json")}
    lines = [json.loads(x) for x in (FORMAT_1 / "run/episodes.jsonl").read_text().splitlines()]
    flat = [
        {"id": x["id"], "category": x["category"], **(x["verdict"] or {"valid": None}), "trial": 0}
        for x in lines
        if not x["trial"]
    ]
    files["verdicts.jsonl"] = b"".join(json.dumps(line).encode() + b"\n" for line in flat)
    files["multi_turn_base_score.json"] = (
        b'{"accuracy": 0.0, "correct_count": 0, "total_count": 1}\n'
        b'{"id": "multi_turn_base_0", "valid": false, "error": {"error_type": "x:y"}}\n'
    )
    files["bfcl/BFCL_v4_multi_turn_base_result.json"] = (
        b'{"id": "multi_turn_base_0", "result": [[["x"]]]}\n'.replace(b'[["x"]]', b'["x"]')
    )
    files["data.jsonl"] = (FORMAT_1 / "data.jsonl").read_bytes()
    path.mkdir(exist_ok=True)
    commands = (
        "table IN/verdicts.jsonl --dataset IN/data.jsonl --html OUT",
        "table IN/verdicts.jsonl --dataset IN/data.jsonl --json --allow-errors",
        "verify IN/results --verdicts IN/verdicts.jsonl --dataset IN/data.jsonl",
        "verify IN/bfcl --verdicts IN/multi_turn_base_score.json --dataset bfcl:BFCL",
    )
    return Form(files, ["verdicts.jsonl", "multi_turn_base_score.json"], commands)


def _errata() -> Form:
    entry = {
        "id": "help_desk_0",
        "judgement": "ambiguous",
        "reason": "Both.",
        "evidence": "Played.",
        "published": "0" * 16,
        "ground_truth": {"0": ["#0.0 ~ Dark ~ Bright"]},
        "alternatives": [{"0": ["create_ticket(title='x')"]}, {"2": ["close_ticket(ticket_id=1)"]}],
    }
    other = {**entry, "id": "folders_0", "judgement": "mended", "wording": {"0": "Go."}}
    other |= {"ground_truth": {"0": ["#0.0 ~ old ~ old"]}}
    other |= {"config": {"GorillaFileSystem": {}}, "alternatives": []}
    single = {**entry, "id": "simple_0", "ground_truth": {}, "alternatives": []}
    single |= {
        "judgement": "mended",
        "answers": [[{"clock.wait": {"n": "#n", "k": None}}]],
    }
    known = load_path(FORMAT_1 / "data.jsonl", [*Category]).trajectories
    for each in (entry, other, single):
        each["published"] = fingerprint(known[str(each["id"])])
    lines = [json.dumps(each).encode() + b"\n" for each in (entry, other, single)]
    files = {"errata.jsonl": b"".join(lines)}
    files["data.jsonl"] = (FORMAT_1 / "data.jsonl").read_bytes()
    end = "--dataset IN/data.jsonl --errata IN/errata.jsonl"
    commands = (
        f"eval --model oracle {end} --category all -o OUT",
        f"table RUN {end} --allow-errors",
        f"report RUN {end} -o OUT",
        f"compare RUN RUN {end}",
        f"score RESULTS {end}",
        f"dataset audit RESULTS {end}",
    )
    return Form(files, ["errata.jsonl"], commands)


def _readings() -> Form:
    return Form({"readings.jsonl": _lines("readings.jsonl", 8)}, ["readings.jsonl"], ("READINGS",))


def _scenarios() -> Form:
    path = min((DATA.parent / "scenarios").glob("*.json"), key=lambda path: path.stat().st_size)
    notes = {f"scenarios/{path.name}": path.read_bytes()}
    return Form(notes, [*notes], ("dataset build FOLDER --source IN/scenarios --chars 30000",))


def _settings() -> Form:
    prompts = (ROOT / "configs/prompts/default.toml").read_bytes()
    settings = (
        b'mode = "prompt"\ntemperature = 0.5\nmax_tokens = 100\nconcurrency = 4\nretries = 2\n'
        b'base_url = "http://127.0.0.1:9"\nprompts = "IN/p.toml"\n[extra_headers]\nX-A = "b"\n'
        b'[extra_body]\nk = 1\n[errors_as]\ntimeout = "failure"\n'
    )
    files = {"c.toml": settings, "p.toml": prompts}
    files["data.jsonl"] = (FORMAT_1 / "data.jsonl").read_bytes()
    eval = "eval --model gpt-x --dataset IN/data.jsonl --dry-run"
    commands = (
        f"{eval} --config IN/c.toml",
        f"{eval} --config IN/c.toml --mode fc",
        f"{eval} --base-url http://127.0.0.1:9 --mode prompt --prompts IN/p.toml",
    )
    return Form(files, ["c.toml", "p.toml"], commands)


def _config() -> Form:
    path = ROOT / "configs/initial/GorillaFileSystem.json"
    tickets = ROOT / "configs/initial/TicketAPI.json"
    files = {"files.json": path.read_bytes(), "tickets.json": tickets.read_bytes()}
    commands = (
        "env serve GorillaFileSystem --config IN/files.json",
        "env serve TicketAPI --config IN/tickets.json",
    )
    return Form(files, [*files], commands)


def _scripts() -> Form:
    script = {
        "id": 1,
        "involved_classes": ["TicketAPI", "MathAPI"],
        "initial_config": {"TicketAPI": {"current_user": "ada", "ticket_queue": []}},
        "long_context": False,
        "turns": [['create_ticket(title="No light")', "mean(numbers=[1, 2])"], ["get_ticket(1)"]],
    }
    return Form({"s.jsonl": json.dumps(script).encode() + b"\n"}, ["s.jsonl"], ("exec < s.jsonl",))


def _exceptions() -> Form:
    lines = _lines("allowed.jsonl", 4)
    files = {"allow.jsonl": lines, "data.jsonl": (FORMAT_1 / "data.jsonl").read_bytes()}
    return Form(files, ["allow.jsonl"], ("dataset validate IN/data.jsonl --allow IN/allow.jsonl",))


def bfcl_data() -> dict[str, bytes]:
    """Return BFCL's files, with a document of a function for each backend."""
    files = {name: text.encode() for name, text in bfcl_files().items()}
    document = {"name": "create_ticket", "description": "d", "parameters": {"type": "dict"}}
    for name in BACKENDS:
        files[f"data/{bfcl_reader.function_docs_file(name)}"] = json.dumps(document).encode()
    return files


def _bfcl() -> Form:
    files = bfcl_data()
    base = [n for n in files if "multi_turn_base" in n or "miss_func" in n or "func_doc/t" in n]
    single = [name for name in files if "simple_python" in name or "live_irrel" in name]
    module = [name for name in files if name.endswith(".py")]
    data = "--dataset bfcl:IN/data"
    commands = (
        f"eval --model oracle {data}",
        f"eval --model oracle {data} --category all -o OUT",
        f"eval --model oracle {data} --category long_context",
        "dataset show bfcl:IN/data --warnings",
        "dataset validate bfcl:IN/data",
        f"eval --model gpt-x --base-url http://127.0.0.1:9 {data} --dry-run --category base",
    )
    return Form(files, [*base, *single, *module], commands)
