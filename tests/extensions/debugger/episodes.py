"""A hand-made episode that goes wrong, and what steps through it."""

from __future__ import annotations

from checkers.profile import BFCL, Profile
from extensions.debugger.stepper import Stepper
from runner.episodes.offline import examine_recorded, examine_truth
from runner.episodes.rejudged_episode import RejudgedMultiTurn
from runner.episodes.turn_loop import STEP_LIMIT
from tests.runner.records.made import answered
from trajectories.dataset import Dataset
from trajectories.prepared_trajectory import PreparedTrajectory, prepare
from trajectories.schema import Category, Message, Trajectory, Turn

HOSTILE = "[bold red]x[/] :smile: \x1b[31m\x07\u202e $text-error"

HOME = {
    "notes.txt": {"type": "file", "content": "one\ntwo"},
    "old": {"type": "directory", "contents": {}},
}
NOTES = Trajectory(
    id="notes_0",
    category=Category.BASE,
    environments=("GorillaFileSystem",),
    config={"GorillaFileSystem": {"root": {"home": {"type": "directory", "contents": HOME}}}},
    turns=(
        Turn(
            (Message("user", "Put the notes away."),),
            ("mv(source='notes.txt', destination='old')",),
        ),
        Turn((Message("user", "How long are they?"),), ("cd(folder='old')", "wc('notes.txt')")),
        Turn((Message("user", "Thanks."),), ()),
    ),
)
RECORDED = [
    ["[cat(file_name='note.txt')]", "[mv(source='notes.txt', destination='new')]", "Done."],
    ["[cd(folder='old'), ls()]", f"They are gone. {HOSTILE}"],
    ["You are welcome."],
]
"""In turn 0 the notes get another name instead of another place."""


def prepared(trajectory: Trajectory = NOTES, profile: Profile = BFCL) -> PreparedTrajectory:
    """Return a trajectory that is ready to be run."""
    dataset = Dataset("made-up", "1", "0" * 64, {trajectory.id: trajectory})
    return prepare(dataset, trajectory, profile)


def examined(turns=RECORDED, trajectory=NOTES, profile=BFCL) -> RejudgedMultiTurn:
    """Return a recorded episode, executed once more; where there are no turns, the truth."""
    ready = prepared(trajectory, profile)
    if turns is None:
        return examine_truth(ready, profile, STEP_LIMIT)
    return examine_recorded(ready, answered(trajectory.id, turns, "prompt"), profile, STEP_LIMIT)


def stepper(turns=RECORDED, trajectory=NOTES, profile=BFCL) -> Stepper:
    """Return what steps through an episode."""
    return Stepper(examined(turns, trajectory, profile))
