from __future__ import annotations

import numpy as np
import pytest

from bakeoff.data.masking import Marks, laid_out, masked, pairs

MARKS = Marks(begin=2, end=3, mask=4, words=np.arange(5, 105))
# Document d holds the numbers from 1000 d on, in sentences of 3 to 8: where a word is from shows in it.
DOCUMENTS = [
    [list(range(1000 * d + 10 * s, 1000 * d + 10 * s + 3 + (s + d) % 6)) for s in range(30)] for d in range(1, 21)
]


def test_pairs_follow_each_other_or_are_of_two_documents() -> None:
    """About half of the pairs are of one document, in its order; the others' second part is from another one."""
    found = pairs(DOCUMENTS, 32, 400, seed=0)
    assert len(found) == 400
    for pair in found:
        assert pair.first
        assert pair.second
        assert len(pair.first) + len(pair.second) <= 29
        first, second = ({part // 1000 for part in half} for half in (pair.first, pair.second))
        assert len(first) == len(second) == 1
        assert (first != second) == pair.is_other
        if not pair.is_other:
            assert max(pair.first) < min(pair.second)
    assert 0.35 < np.mean([pair.is_other for pair in found]) < 0.65


def test_most_pairs_fill_their_length() -> None:
    """Nine pairs in ten are as long as they can be, but for the ends of documents."""
    lengths = np.array([len(pair.first) + len(pair.second) for pair in pairs(DOCUMENTS, 32, 400, seed=0)])
    assert 0.6 < (lengths == 29).mean() < 0.95


def test_seed_decides_the_pairs() -> None:
    """The same seed gives the same pairs, another one others."""
    assert pairs(DOCUMENTS, 32, 50, 1) == pairs(DOCUMENTS, 32, 50, 1) != pairs(DOCUMENTS, 32, 50, 2)


def test_few_documents_are_gone_through_again_but_not_for_ever() -> None:
    """Ten times at most: what asks for more gets what there is, and of nothing nothing is made."""
    assert 0 < len(pairs(DOCUMENTS[:2], 32, 10_000, 0)) < 10_000
    assert pairs([], 32, 10, 0) == pairs([[[]]], 32, 10, 0) == []
    assert pairs([[[5, 6]]], 32, 10, 0) == [], "one sentence has no second part"


def test_layout() -> None:
    """[CLS] first [SEP] second [SEP]; the marks belong to the part before them."""
    from bakeoff.data.masking import SentencePair

    ids, segments = laid_out(SentencePair([10, 11], [20], is_other=False), MARKS)
    assert ids == [2, 10, 11, 3, 20, 3]
    assert segments == [0, 0, 0, 0, 1, 1]


def test_masking_is_80_10_10() -> None:
    """Of 15 % of the words, 80 % become [MASK], 10 % another word, and 10 % stay; marks are never masked."""
    stream = np.random.RandomState(0)
    ids = [2, *range(1000, 1060), 3, *range(2000, 2037), 3]
    kinds = {"mask": 0, "kept": 0, "other": 0}
    for _ in range(500):
        given, positions, hidden = masked(ids, 20, MARKS, stream)
        assert len(positions) == 15
        assert positions == sorted(set(positions))
        assert hidden == [ids[position] for position in positions]
        assert all(ids[position] not in (2, 3) for position in positions)
        assert [part for at, part in enumerate(given) if at not in positions] == [
            part for at, part in enumerate(ids) if at not in positions
        ]
        for position in positions:
            part = given[position]
            kinds["mask" if part == 4 else "kept" if part == ids[position] else "other"] += 1
    total = sum(kinds.values())
    assert kinds["mask"] / total == pytest.approx(0.8, abs=0.02)
    assert kinds["kept"] / total == pytest.approx(0.1, abs=0.02)


def test_how_many_are_masked() -> None:
    """At least one and at most the slots; `exactly` fills all slots."""
    stream = np.random.RandomState(0)
    assert len(masked([2, 10, 3, 11, 3], 4, MARKS, stream)[1]) == 1
    assert len(masked([2, *range(10, 300), 3], 20, MARKS, stream)[1]) == 20
    assert len(masked([2, *range(10, 20), 3, 30, 3], 6, MARKS, stream, exactly=True)[1]) == 6
