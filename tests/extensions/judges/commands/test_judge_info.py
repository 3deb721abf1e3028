"""The command ``turnwise judge-info``."""

from __future__ import annotations

import pytest

from runner.cli import main


def test_an_option_without_an_effect_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    # The judge model always reads one answer, so there is nothing to choose.
    with pytest.raises(SystemExit, match="2"):
        main(["judge-info", "runs/mine", "--judge", "m", "--show", "changes"])
    assert "unknown option --show" in capsys.readouterr().err
