"""The commands ``turnwise retrieve ...`` without the libraries that they need."""

from __future__ import annotations

import sys

import pytest

from envs.errors import DataError
from tests.runner.commands.running import run

SAID = r"bm25s is missing: pip install 'turnwise\[lexical\]'"


@pytest.mark.parametrize(
    "words", [("retrieve query", "x"), ("retrieve evaluate", "--queries", "exec")]
)
def test_a_missing_extra_is_one_line(monkeypatch, words):
    for name in ("lexical", "texts", "measures"):
        monkeypatch.delitem(sys.modules, f"extensions.retrieval.{name}", raising=False)
    monkeypatch.setitem(sys.modules, "bm25s", None)
    monkeypatch.setitem(sys.modules, "bm25s.stopwords", None)
    with pytest.raises(DataError, match=SAID.replace("bm25s", r"bm25s(\.stopwords)?")):
        run(*words)
