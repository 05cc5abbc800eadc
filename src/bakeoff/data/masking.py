"""BERT's pre-training samples: pairs of sentences, and words of them masked; after google-research/bert."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

SHORT_SHARE = 0.1
"""So many pairs are shorter than they could be, by a length of their own: `create_pretraining_data.py`."""
OTHER_SHARE = 0.5
"""So often the second part is from another document: the same."""
MASKED_SHARE = 0.15
"""Of a pair's words: the same, `masked_lm_prob`."""
KEPT, REPLACED = 0.1, 0.1
"""Of masked words so many stay as they are, and so many become any other one; the rest become [MASK]: the same."""

Sentences = list[list[int]]
"""One document: its sentences, each the numbers of its words' parts."""


class SentencePair(NamedTuple):
    """Two parts of text; the second follows the first, unless it is from another document."""

    first: list[int]
    second: list[int]
    is_other: bool


class Marks(NamedTuple):
    """The numbers of the parts that stand between and in place of words, and of those that may replace one."""

    begin: int
    end: int
    mask: int
    words: NDArray[np.int64]


def pairs(documents: Sequence[Sentences], length: int, count: int, seed: int) -> list[SentencePair]:
    """Return up to `count` pairs from documents in an order from the seed; with their three marks they have `length`.

    The documents are gone through as often as needed, but at most ten times: `dupe_factor` of google-research/bert.
    """
    stream = np.random.RandomState(seed)
    usable = [sentences for sentences in documents if any(sentences)]
    found: list[SentencePair] = []
    for _ in range(10):
        for index in stream.permutation(len(usable)):
            found += _of_document(usable, int(index), length - 3, stream)
            if len(found) >= count:
                return found[:count]
    return found


def _of_document(
    documents: Sequence[Sentences], index: int, most: int, stream: np.random.RandomState
) -> list[SentencePair]:
    """Cut one document into pairs of at most `most` parts, each of whole sentences before it is cut to its length."""
    found: list[SentencePair] = []
    left = [sentence for sentence in documents[index] if sentence]
    while left:
        wanted = int(stream.randint(2, most + 1)) if stream.random_sample() < SHORT_SHARE else most
        taken = 0
        while taken < len(left) and sum(map(len, left[:taken])) < wanted:
            taken += 1
        cut = 1 if taken == 1 else int(stream.randint(1, taken))
        first, second = _joined(left[:cut]), _joined(left[cut:taken])
        is_other = len(documents) > 1 and (not second or stream.random_sample() < OTHER_SHARE)
        if is_other:
            second, taken = _elsewhere(documents, index, wanted - len(first), stream), cut
        left = left[taken:]
        if second:
            found.append(SentencePair(*_shortened(first, second, wanted, stream), is_other))
    return found


def _joined(sentences: Sentences) -> list[int]:
    """Return sentences as one list."""
    return [part for sentence in sentences for part in sentence]


def _elsewhere(documents: Sequence[Sentences], index: int, wanted: int, stream: np.random.RandomState) -> list[int]:
    """Return text from another document, from a sentence drawn on, of about as many parts as wanted, at least one."""
    other = documents[(index + int(stream.randint(1, len(documents)))) % len(documents)]
    found: list[int] = []
    for sentence in other[int(stream.randint(len(other))) :]:
        found += sentence
        if len(found) >= wanted:
            break
    return found


def _shortened(
    first: list[int], second: list[int], most: int, stream: np.random.RandomState
) -> tuple[list[int], list[int]]:
    """Drop parts of the longer of the two, from its beginning or its end, until both have `most` parts."""
    first, second = list(first), list(second)
    while len(first) + len(second) > most:
        longer = first if len(first) > len(second) else second
        longer.pop(0 if stream.random_sample() < 0.5 else -1)  # noqa: PLR2004 - either end
    return first, second


def laid_out(pair: SentencePair, marks: Marks) -> tuple[list[int], list[int]]:
    """Return a pair as [CLS] first [SEP] second [SEP], and for each of these 0 in the first part, 1 in the second."""
    ids = [marks.begin, *pair.first, marks.end, *pair.second, marks.end]
    return ids, [0] * (len(pair.first) + 2) + [1] * (len(pair.second) + 1)


def masked(
    ids: list[int], most: int, marks: Marks, stream: np.random.RandomState, *, exactly: bool = False
) -> tuple[list[int], list[int], list[int]]:
    """Return the parts with some of them masked, the positions of these in their order, and what stood there.

    15 % of the parts are masked, at least 1 and at most `most`; `exactly` masks `most` wherever there are so many.
    """
    candidates = [position for position, part in enumerate(ids) if part not in (marks.begin, marks.end)]
    wanted = most if exactly else min(most, max(1, round(len(ids) * MASKED_SHARE)))
    positions = sorted(int(position) for position in stream.permutation(candidates)[:wanted])
    given = list(ids)
    for position in positions:
        drawn = stream.random_sample()
        if drawn < REPLACED:
            given[position] = int(marks.words[stream.randint(len(marks.words))])
        elif drawn >= REPLACED + KEPT:
            given[position] = marks.mask
    return given, positions, [ids[position] for position in positions]
