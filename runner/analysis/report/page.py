"""The frame of every page that we write: one HTML file that needs and asks for nothing else.

Styles and scripts are put in line, and the page's policy allows them by their hash and nothing
besides. Data come as packs, JSON that is compressed and in base64, so no text in it can end the
element that holds it; the scripts show texts as texts and never as markup.
"""

from __future__ import annotations

import json
import zlib
from base64 import b64encode
from collections.abc import Iterable
from hashlib import sha256
from html import escape
from pathlib import Path
from string import Template
from typing import Any

_ASSETS = Path(__file__).parent / "assets"


def packed(value: Any) -> str:
    """Return a JSON value as a pack."""
    # ASCII, since a model's text may hold half of a surrogate pair, which UTF-8 has no bytes for.
    text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    compressor = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return b64encode(compressor.compress(text.encode()) + compressor.flush()).decode()


def page(title: str, packs: Iterable[str], assets: Iterable[str]) -> str:
    """Return a page.

    Args:
        title: What it is called.
        packs: What its scripts read, by number.
        assets: Names of files beside this module, styles and scripts, that come after the frame's.
    """
    names = ["frame.css", "frame.js", *assets]
    style = _joined(name for name in names if name.endswith(".css"))
    script = _joined(name for name in names if name.endswith(".js"))
    return Template(_asset("frame.html")).substitute(
        # A name that is half of a surrogate pair has no bytes in UTF-8.
        title=escape(title).encode("utf-8", "xmlcharrefreplace").decode(),
        style=style,
        style_hash=_hash(style),
        script=script,
        script_hash=_hash(script),
        packs="\n".join(
            f'<script type="text/plain" class="pack">{pack}</script>' for pack in packs
        ),
    )


def _joined(names: Iterable[str]) -> str:
    return "\n".join(map(_asset, names))


def _asset(name: str) -> str:
    return (_ASSETS / name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    return b64encode(sha256(text.encode()).digest()).decode()
