"""Install each extra alone from the built wheel, and use its feature.

``python -m tools.try_extras [EXTRA ...]`` prints two lines for each extra: the result with the
newest allowed versions, and the result with the lowest allowed versions. The script needs network
access for pip. ``core`` is the wheel without an extra.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
import venv
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.servers.answers import of_dataset
from tests.servers.serving import FakeServer

ROOT = Path(__file__).parents[1]
TIMEOUT_SECONDS = 900

FILES = {
    "api.yaml": """
openapi: 3.0.0
info: {title: Library, version: "1"}
paths:
  /books/{id}:
    get:
      operationId: get_book
      summary: Return a book.
      parameters: [{name: id, in: path, required: true, schema: {type: integer}}]
      responses: {"200": {description: A book.}}
""",
    "gymnasium_use.py": """
import gymnasium
from gymnasium.utils.env_checker import check_env
env = gymnasium.make("turnwise.extensions.adapters.gymnasium_env:Turnwise-v0", category="base")
check_env(env.unwrapped)
env.reset(seed=0)
while True:
    *_, terminated, truncated, info = env.step("I cannot.")
    if terminated or truncated:
        break
assert not info["verdict"]["valid"]
""",
    "langchain_use.py": """
import turnwise
from turnwise.extensions.adapters.langchain_tools import tools
session = turnwise.Session.load(["TicketAPI"], {"TicketAPI": {"current_user": "ada"}})
found = {tool.name: tool for tool in tools(session)}
found["create_ticket"].invoke({"title": "No light"})
assert session.snapshot().states["TicketAPI"]["ticket_queue"][0]["title"] == "No light"
""",
    "a_run.py": """
import turnwise
turnwise.evaluate(lambda messages, tools: "No.", categories="base", limit=3, run_dir="runs/seen")
""",
    "frames_use.py": """
import pandas, turnwise
assert pandas.DataFrame(turnwise.load_runs("runs").episodes).groupby("passed").size()[False] == 3
""",
    "view_use.py": """
import re, subprocess, urllib.request
server = subprocess.Popen(["turnwise", "view", "runs"], stdout=subprocess.PIPE, text=True)
try:
    url = re.search(r"http://\\S+", server.stdout.readline())[0].rstrip(".,")
    assert b"seen" in urllib.request.urlopen(url).read()
    assert b"<html" in urllib.request.urlopen(url.rstrip("/") + "/run/seen").read()
finally:
    server.terminate()
""",
    "serve_use.py": """
import re, subprocess, sys
command = ["turnwise", "env", "serve", "--category", "base", "--limit", "1", "--http", "0"]
server = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
try:
    url = re.search(r"http://\\S+/mcp", server.stderr.readline())[0]
    agent = [sys.executable, "play_episodes.py", url]
    played = subprocess.run(agent, capture_output=True, text=True)
    assert played.stdout.split()[1] == "False", played.stderr
finally:
    server.terminate()
""",
    "inspect_use.py": """
from inspect_ai import eval
from inspect_ai.model import ModelOutput, ModelUsage, get_model
said = ModelOutput.from_content("model", "I cannot.")
said.usage = ModelUsage(input_tokens=1, output_tokens=1, total_tokens=2)  # needs no tokenizer
model = get_model("mockllm/model", custom_outputs=[said] * 100)
[log] = eval("turnwise/turnwise", model=model, limit=2, task_args={"category": "base"})
assert log.status == "success" and len(log.samples) == 2, log
""",
    "debug_use.py": """
import os, pty, select
process, terminal = pty.fork()
if not process:
    os.environ["TERM"] = "xterm-256color"
    os.execlp("turnwise", "turnwise", "debug", "base_files_band_setlist")
shown = b""
while b"turn" not in shown.lower():
    assert select.select([terminal], [], [], 120)[0], shown
    shown += os.read(terminal, 65536)
os.write(terminal, b"q")
try:
    while os.read(terminal, 65536):
        pass
except OSError:
    pass
assert os.waitpid(process, 0)[1] == 0
""",
}

_FC = "turnwise eval --model fake --base-url $FAKE --category base --limit 2 --fail-under 100%"
USES = {
    "core": "turnwise eval --model oracle --category base --limit 20 --fail-under 100%",
    "yaml": "turnwise env new Library --path library --from-openapi api.yaml",
    "gymnasium": "python gymnasium_use.py",
    "langchain": "python langchain_use.py",
    "frames": "python a_run.py && python frames_use.py"
    " && turnwise export runs/seen --format parquet -o tables"
    " && python -c \"import pandas; pandas.read_parquet('tables/episodes.parquet')['cause']\"",
    "serve": "python serve_use.py",
    "view": "python a_run.py && python view_use.py",
    "debug": "python debug_use.py",
    "inspect": "python inspect_use.py",
    "languages": "turnwise eval --model oracle --category simple_java,simple_javascript"
    " --limit 4 --fail-under 100%",
    "dev": "turnwise env check TicketAPI",
    "loggers": "export MLFLOW_ALLOW_FILE_STORE=true MLFLOW_TRACKING_URI=file:mlruns"
    " WANDB_MODE=offline; python a_run.py && turnwise log runs/seen --to mlflow"
    " && turnwise log runs/seen --to wandb && ls mlruns wandb",
    "models": f"{_FC} && turnwise eval --model hosted_vllm/fake --base-url $FAKE --category base"
    " --limit 2 --fail-under 100%",
    "lexical": "for by in default bm25 chars lsa; do turnwise retrieve query 'book a flight'"
    " --corpus own --by $by | grep book_flight || exit 1; done",
    "ray": "turnwise eval --model oracle --category base --limit 4 --engine ray --fail-under 100%",
    "verifiers": "vf-eval turnwise-env --model fake --client.base-url $FAKE"
    " --client.api-key-var OPENAI_API_KEY --env.agent.runtime.type subprocess --select.limit 2"
    " --env.taskset.category base --no-push --output-dir traces"
    ' && grep -rq \'"passed": *{"score": *1.0\' traces',
}
"""Maps each extra to a shell command that uses it."""

FILES["turnwise_env.py"] = """
from turnwise.extensions.adapters.verifiers_env import TrajectoryTaskset, TurnHarness
__all__ = ["TrajectoryTaskset", "TurnHarness"]
"""


def lowest(requirements: Sequence[str]) -> list[str]:
    """Pin each requirement to its lower bound."""
    return [re.sub(r">=([^,]+).*", r"==\1", each) for each in requirements]


def try_extra(wheel: Path, extra: str, pins: Sequence[str], folder: Path, server: str) -> str:
    """Install an extra in a new environment and use it; return "ok" or the error."""
    venv.create(folder, with_pip=True)
    for name, text in FILES.items():
        (folder / name).write_text(text, encoding="utf-8")
    (folder / "play_episodes.py").write_bytes((ROOT / "examples/play_episodes.py").read_bytes())
    name = f"{wheel}[{extra}]" if extra != "core" else str(wheel)
    path = os.pathsep.join([str(folder / "bin"), os.environ["PATH"]])
    env = {**os.environ, "PATH": path, "PYTHONPATH": str(folder), "FAKE": server}
    env |= {"OPENAI_API_KEY": "k" * 20, "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0"}
    env |= {"TURNWISE_CACHE": str(folder / "cache")}
    install = [str(folder / "bin" / "pip"), "install", "-q", name, *pins]
    for command in (install, ["bash", "-c", USES[extra]]):
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=env,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return f"{Path(command[0]).name} timed out"
        if done.returncode:
            lines = done.stdout.strip().splitlines()
            return f"{Path(command[0]).name} failed: {' / '.join(lines[-3:])[:600]}"
    return "ok"


def main(arguments: Sequence[str]) -> str | None:
    """Try the extras, and return an error message if one of them failed."""
    if unknown := set(arguments) - set(USES):
        return f"{', '.join(sorted(unknown))}: choose from {', '.join(USES)}"
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    bounds = {"core": project["dependencies"], **project["optional-dependencies"]}
    failed = []
    with TemporaryDirectory() as name, FakeServer(of_dataset("turnwise", "base")) as server:
        folder = Path(name)
        build = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "-w", name, str(ROOT)]
        subprocess.run(build, check=True)
        [wheel] = folder.glob("*.whl")
        for extra in arguments or USES:
            for label, pins in (("newest", []), ("lowest", lowest(bounds[extra]))):
                place = folder / f"{extra}-{label}"
                outcome = try_extra(wheel, extra, pins, place, server.base_url)
                print(f"{extra} {label}: {outcome}", flush=True)
                failed += [f"{extra} {label}"] * (outcome != "ok")
                subprocess.run(["rm", "-rf", str(place)], check=True)
    return f"failed: {', '.join(failed)}" if failed else None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
