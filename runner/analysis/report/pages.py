"""The pages that we write, each one HTML file that needs and asks for nothing else.

Styles and scripts are put in line, and the page's policy allows them by their hash and nothing
besides. Data come as packs, JSON that is compressed and in base64, so no text in it can end the
element that holds it; the scripts show texts as texts and never as markup.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from checkers.profile import BFCL
from runner.analysis.comparison import RunComparison
from runner.analysis.comparison_lines import conclusion
from runner.analysis.figure_lines import notes, worth_showing
from runner.analysis.figure_table import beside_scores, cards
from runner.analysis.groups import CLASSIC, Rate, classic, table
from runner.analysis.run_scores import RunScores

_ASSETS = Path(__file__).parent / "assets"
_SERVED = ("served.css", "served.js")


COMPARISON_ASSETS = ("report.css", "compare.css", "several.js", "compare.js")


def packed(value: Any) -> str:
    """Return a JSON value as a pack."""
    # ASCII, since a model's text may hold half of a surrogate pair, which UTF-8 has no bytes for.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def page(title: str, packs: Iterable[str], assets: Iterable[str], *, served: bool = False) -> str:
    """Return a page.

    Args:
        title: What it is called.
        packs: What its scripts read, by number.
        assets: Names of files beside this module, styles and scripts, that come after the frame's.
        served: Whether it asks for its packs where it is from, and leads to other pages there.
    """
    names = ["frame.css", "frame.js", *(_SERVED if served else ()), *assets]
    style = _joined(name for name in names if name.endswith(".css"))
    script = _joined(name for name in names if name.endswith(".js"))
    return Template(_asset("frame.html")).substitute(
        title=_escaped(title),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        connect="connect-src 'self'; " if served else "",
        packs="\n".join(
            f'<script type="text/plain" class="pack">{pack}</script>' for pack in packs
        ),
    )


def still_page(title: str, heading: str, body: str, assets: Iterable[str]) -> str:
    """Return a page without a script.

    Args:
        title: What it is called.
        heading: What stands at its top.
        body: Its markup, in which texts are escaped.
        assets: Names of styles beside this module that come after the frame's.
    """
    style = _joined(["frame.css", *assets])
    return Template(_asset("still.html")).substitute(
        title=_escaped(title),
        heading=_escaped(heading),
        style=style,
        style_hash=_hash(style),
        body=body.encode("utf-8", "xmlcharrefreplace").decode(),
    )


def comparison_page(comparison: RunComparison) -> str:
    """Return the page on two runs of the same entries."""
    names = " and ".join(run.name for run in comparison.runs)
    return page(f"Turnwise: {names}", [packed(comparison_json(comparison))], COMPARISON_ASSETS)


def comparison_json(comparison: RunComparison) -> dict[str, Any]:
    """Return what the page on two runs shows."""
    sides = dict(zip("AB", comparison.figures, strict=True))
    return {
        **comparison.to_json(),
        "conclusion": [line.text for line in conclusion(comparison)],
        "cards": cards(sides, beside_scores(comparison.figures)),
    }


def scores_page(runs: Sequence[RunScores]) -> str:
    """Return the page on runs; its chart overlays the first five."""
    names = ", ".join(run.name for run in runs)
    assets = ("report.css", "scores.css", "radar.js", "groups.js", "scores.js")
    fields = [run.profile == BFCL.name for run in runs]
    shown = {
        "runs": [_about(run) for run in runs],
        "groups": groups([run.figures.rates for run in runs], fields),
        "cards": cards({str(n): run.figures for n, run in enumerate(runs, start=1)}),
    }
    return page(f"Turnwise: {names}", [packed(shown)], assets)


def groups(rates: Sequence[Mapping[str, Rate]], fields: Sequence[bool]) -> dict[str, Any]:
    """Return what a page shows of BFCL's table of runs, from their scores by category.

    ``fields`` says of which runs BFCL's figures are shown too.
    """
    tables = [table(each) for each in rates]
    charts = [classic(each) for each in rates]
    return {
        "fields": list(fields),
        "rows": [
            {
                "name": rows[0].name,
                "depth": len(rows[0].path) - 1,
                "rates": [_rate(row.rate) for row in rows],
                "field": [row.field for row in rows],
            }
            for rows in worth_showing(tables)
        ],
        "notes": list(notes(tables, fields)),
        "classic": [
            {"name": name, "rates": [_rate(chart[name]) for chart in charts]} for name in CLASSIC
        ],
    }


def _about(run: RunScores) -> dict[str, Any]:
    return {
        "name": run.name,
        "profile": run.profile,
        "episodes": len(run.figures.outcomes),
        "errors": run.figures.errors,
    }


def _rate(rate: Rate | None) -> dict[str, Any] | None:
    return rate and rate._asdict()


def _escaped(text: str) -> str:
    # A name that is half of a surrogate pair has no bytes in UTF-8.
    return escape(text).encode("utf-8", "xmlcharrefreplace").decode()


def _joined(names: Iterable[str]) -> str:
    return "\n".join(map(_asset, names))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
