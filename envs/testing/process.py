"""What another process does for ``envs.testing.sessions``: play scripts and say what came out."""

from __future__ import annotations

import json
import sys

from envs.calls import Call
from envs.session import Session
from envs.testing.subject import Subject


def main() -> None:
    """Read an environment and its scripts on standard input, write texts and state hashes."""
    name, scripts = json.load(sys.stdin)
    subject = Subject(name)
    outcomes = []
    for world, calls in scripts:
        session: Session = subject.session(subject.worlds[world], tolerant=True)
        texts = [session.call(Call(name, (), kwargs)).text for name, kwargs in calls]
        outcomes.append([*texts, session.snapshot().digest()])
    json.dump(outcomes, sys.stdout)


if __name__ == "__main__":
    main()
