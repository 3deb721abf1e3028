"""Self-contained HTML pages.

Styles and scripts are inline. The content security policy allows only scripts and styles with known
hashes. Data is compressed JSON in base64, so the data cannot contain HTML tags. Scripts
never insert strings as markup.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

from checkers.profile import BFCL
from runner.analysis.bfcl_table import CLASSIC, GroupScore, classic
from runner.analysis.comparison import RunComparison
from runner.analysis.comparison_lines import conclusion
from runner.analysis.figure_lines import headline, notes, progress_text, worth_showing
from runner.analysis.figure_table import beside_scores, cards
from runner.analysis.figures import RunFigures
from runner.analysis.run_scores import RunScores
from runner.show.terminal import escape_unprintable

_ASSETS = Path(__file__).parent / "assets"
_SERVED = ("served.css", "served.js")


COMPARISON_ASSETS = ("report.css", "compare.css", "several.js", "compare.js")


def packed(value: Any) -> str:
    """Compress a JSON value, and return the bytes as base64 text."""
    # ASCII, because a model's text may contain a lone surrogate, which UTF-8 cannot encode.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def page(
    title: str, packs: Iterable[str], assets: Iterable[str | Path], *, served: bool = False
) -> str:
    """Return an HTML page whose scripts read the data in ``packs``; see ``page_chunks``."""
    return "".join(page_chunks(title, packs, assets, served=served))


def page_chunks(
    title: str, packs: Iterable[str], assets: Iterable[str | Path], *, served: bool = False
) -> Iterator[str]:
    """Yield the parts of a page.

    An asset is a file name in ``assets``, or a path. With ``served``, the page loads further data
    from the viewer and has links to other pages.
    """
    names = ["frame.css", "frame.js", *(_SERVED if served else ()), *assets]
    style = _joined(name for name in names if str(name).endswith(".css"))
    script = _joined(name for name in names if str(name).endswith(".js"))
    before, after = _asset("frame.html").split("$packs")
    yield Template(before).substitute(
        title=_escaped(title),
        style=style,
        style_hash=_hash(style),
        script_hash=_hash(script),
        connect="connect-src 'self'; " if served else "",
    )
    parts = (f'<script type="text/plain" class="pack">{pack}</script>' for pack in packs)
    yield next(parts, "")
    yield from (f"\n{part}" for part in parts)
    yield Template(after).substitute(script=script)


def still_page(title: str, heading: str, body: str, assets: Iterable[str | Path]) -> str:
    """Return a page without scripts; ``body`` is markup with escaped strings."""
    style = _joined(["frame.css", *assets])
    return Template(_asset("still.html")).substitute(
        title=_escaped(title),
        heading=_escaped(heading),
        style=style,
        style_hash=_hash(style),
        body=body.encode("utf-8", "xmlcharrefreplace").decode(),
    )


def comparison_page(comparison: RunComparison) -> str:
    """Return the page that compares two runs."""
    names = " and ".join(run.name for run in comparison.runs)
    return page(f"Turnwise: {names}", [packed(comparison_json(comparison))], COMPARISON_ASSETS)


def comparison_json(comparison: RunComparison) -> dict[str, Any]:
    """Return the data of the comparison page."""
    sides = dict(zip("AB", comparison.figures, strict=True))
    return {
        **comparison.to_json(),
        "conclusion": [
            line.text.replace(" -", " \N{MINUS SIGN}") for line in conclusion(comparison)
        ],
        "unfinished": [progress_text(run.progress) for run in comparison.runs],
        "cards": cards(sides, beside_scores(comparison.figures)),
    }


def scores_page(runs: Sequence[RunScores]) -> str:
    """Return the page with the scores of runs. The page's chart shows the first five runs."""
    names = ", ".join(run.name for run in runs)
    assets = ("report.css", "scores.css", "radar.js", "groups.js", "scores.js")
    fields = [run.profile == BFCL.name for run in runs]
    shown = {
        "runs": [_about(run) for run in runs],
        "groups": groups([run.figures for run in runs], fields),
        "cards": cards({str(n): run.figures for n, run in enumerate(runs, start=1)}),
    }
    return page(f"Turnwise: {names}", [packed(shown)], assets)


def groups(runs: Sequence[RunFigures], fields: Sequence[bool]) -> dict[str, Any]:
    """Return the scores of runs and BFCL's table.

    ``fields`` tells for each run whether the page also shows BFCL's scores.
    """
    tables = [each.rows for each in runs]
    charts = [classic(each.rates) for each in runs]
    return {
        "fields": list(fields),
        "rows": [
            {
                "name": rows[0].label,
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
        "headline": headline(run.figures),
    }


def _rate(rate: GroupScore | None) -> dict[str, Any] | None:
    return rate and {"value": rate.value, "interval": rate.interval, "entries": rate.entries}


def _escaped(text: str) -> str:
    # Unprintable characters hide or reorder text; UTF-8 cannot encode a lone surrogate.
    return escape(escape_unprintable(text))


def _joined(names: Iterable[str | Path]) -> str:
    return "\n".join(map(_asset, names))


def _asset(name: str | Path) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
