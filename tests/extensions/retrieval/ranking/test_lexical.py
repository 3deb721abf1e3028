"""Rankings of words and of pieces of words: their scores, their order, equals, nothing at all."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest

from envs.errors import DataError
from extensions.retrieval import lexical
from extensions.retrieval.corpus import Corpus, load_full_corpus, own_corpus
from extensions.retrieval.function_texts import make_own_texts, make_texts, split_names, words
from extensions.retrieval.rankings import LEXICAL, Ranking
from tests.extensions.retrieval.ranking.conftest import described


def lucene(query: list[str], documents: list[list[str]]) -> list[float]:
    """Return BM25 as Lucene's formula has it, without the factor that all scores share."""
    mean = sum(map(len, documents)) / len(documents)
    scores = []
    for document in documents:
        count, score = Counter(document), 0.0
        for word in query:
            having = sum(word in other for other in documents)
            idf = math.log(1 + (len(documents) - having + 0.5) / (having + 0.5))
            norm = lexical.K1 * (1 - lexical.B + lexical.B * len(document) / mean)
            score += idf * count[word] / (count[word] + norm)
        scores.append(score)
    return scores


def test_bm25_is_lucenes() -> None:
    texts = make_texts(load_full_corpus().functions)
    queries = ["Cancel my flight and tell Ada.", "How many lines has notes.txt?", "Lock the doors"]
    expected = [lucene(words(query), [words(text) for text in texts]) for query in queries]
    assert np.allclose(lexical.WordRanker(texts).scores(queries), expected, atol=1e-5)


def test_names_are_in_parts_and_words_are_stems() -> None:
    assert split_names("bookFlight get_HTTPCode").split() == [
        "book",
        "Flight",
        "get",
        "HTTP",
        "Code",
    ]
    assert words("The flights were booked") == words("flight book")
    assert words("of the") == []


@pytest.mark.parametrize("by", LEXICAL)
def test_what_is_asked_for_comes_first(shop: Corpus, by: str) -> None:
    ranking = Ranking(shop, by)
    firsts = [found[0].function.name for found in ranking.find_all(["book flights", "messages"])]
    assert firsts[0] == "bookFlight"
    assert firsts[1] in ("send_message", "read_messages")


@pytest.mark.parametrize("by", LEXICAL)
@pytest.mark.parametrize("query", ["", "   ", "\ud800", "ßßß", "7" * 5000])
def test_a_query_that_says_nothing_leaves_the_order_of_the_corpus(
    shop: Corpus, by: str, query: str
) -> None:
    found = Ranking(shop, by).find(query)
    assert [each.place for each in found] == [0, 1, 2, 3]


def test_equals_stand_in_the_order_of_the_corpus() -> None:
    twins = tuple(described("pay", "Pay a bill.", **{f"n{i}": ""}) for i in range(20))
    for by in ("bm25", "chars", "default"):
        found = Ranking(Corpus("twins", twins), by).find("pay the bill")
        ties = [each.place for each in found if each.score == found[0].score]
        assert ties == sorted(ties)
    scores = np.array([[0.0, 1.0, 1.0, 0.0]])
    assert lexical.order(scores).tolist() == [[1, 2, 0, 3]]
    assert lexical.rank_documents(scores).tolist() == [[3, 1, 2, 4]]


def test_fusion_adds_inverted_ranks() -> None:
    one, other = np.array([[3.0, 2.0, 1.0]]), np.array([[1.0, 3.0, 2.0]])
    expected = [[1 / 21 + 1 / 23, 1 / 22 + 1 / 21, 1 / 23 + 1 / 22]]
    assert np.allclose(lexical.fuse_ranks([one, other]), expected)


def test_a_sentence_of_many_functions_is_left_out() -> None:
    same = "This belongs to the shop."
    functions = [described(f"f{i}", f"{same} Does {i}.") for i in range(5)]
    assert not any(same in text for text in make_own_texts(functions))
    assert all(same in text for text in make_own_texts(functions[:4]))


def test_a_corpus_without_words_is_refused() -> None:
    nothing = Corpus("void", (described("the", "of the"),))
    with pytest.raises(DataError, match="contain no words to search"):
        Ranking(nothing, "lsa")


def test_rankings_are_the_same_again() -> None:
    corpus = own_corpus(["TicketAPI", "TravelAPI"])
    one, other = Ranking(corpus).scores(["close it"]), Ranking(corpus).scores(["close it"])
    assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("by", ["bm24", "embed:", "embed:http://x", "local:", "nothing:x", ""])
def test_an_unknown_ranking_is_refused(shop: Corpus, by: str) -> None:
    with pytest.raises(DataError):
        Ranking(shop, by)
