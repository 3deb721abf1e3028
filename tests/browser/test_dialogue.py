"""The page of a dialogue shows both sides and marks the calls of the user."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect

from tests.browser.conftest import check_with_axe
from tests.extensions.tau.conftest import checkout
from tests.extensions.tau.test_sides import ANSWER, replayed

__all__ = ["checkout"]


def test_both_sides_and_the_calls_of_the_user_are_shown(
    visit: Callable[..., Page], checkout: Path, tmp_path: Path
) -> None:
    page = visit(replayed(tmp_path))
    page.goto(f"{page.url.partition('#')[0]}#e/tau2_telecom_[roaming]/0")
    expect(page.locator("main")).to_contain_text("Please turn on roaming.")
    expect(page.locator("main")).to_contain_text(ANSWER)
    expect(page.locator("main")).to_contain_text("toggle_roaming()")
    expect(page.locator(".remark")).to_have_text(["user: the user made this call"])
    check_with_axe(page)
