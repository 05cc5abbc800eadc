"""WikiText-103, articles as they were written: for language models, and in masked pairs for BERT.

`wikitext` fetches it by name from Hugging Face (Salesforce/wikitext, wikitext-103-raw-v1); `wikitext:/path` takes a
folder with `wiki.train.raw`, or one of Parquet files with the column `text`. Its vocabulary is that of the folder's own
files (`bakeoff.data.tokens`), else one that is trained on it, which the source's name tells.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.masking import Marks, laid_out, masked, pairs
from bakeoff.data.reading import column_of, existing, is_data_set, split_of, splits_named, splits_of, text_of
from bakeoff.data.roles import DeclaredArrays, Roles, lengths_of, padded
from bakeoff.data.tokens import BERT_SPECIALS, TEXT_SPECIALS, vocabulary
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.data.tokens import SubwordVocabulary
    from bakeoff.spec.workload import Size

PLAIN: Roles = {"ids": ("tokens", "x"), "next_ids": ("targets", "labels", "y")}
"""For language models: each part and the part after it."""

MASKED: Roles = {
    "ids": ("tokens", "input_ids"),
    "segments": ("token_types", "token_type_ids", "segment_ids"),
    "mask": ("attention_mask", "padding_mask"),
    "length": ("lengths",),
    "masked_positions": ("positions", "masked_lm_positions"),
    "masked_ids": ("masked_labels", "masked_lm_ids"),
    "masked_weights": ("weights", "masked_lm_weights"),
    "next_sentence": ("is_random", "next_sentence_label", "next_sentence_labels"),
}
"""For BERT; `next_sentence` is 1 where the second part is from another document."""

_TITLE = re.compile(r"^ = [^=](?:.*[^=])? = ?$")
_SENTENCE = re.compile(r"(?<=[.!?]) +")
_FILE = "wiki.train.raw"
CONFIGURATION = "wikitext-103-raw-v1"
"""Of the data set at Hugging Face, which has another size, and both with rare words replaced, beside it."""


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return up to `count` samples from articles in an order from the seed; raise UsageError for what does not fit."""
    is_masked = bool(set(size.sample.arrays) & {"masked_positions", *MASKED["masked_positions"]})
    wanted = DeclaredArrays("wikitext", MASKED if is_masked else PLAIN, size)
    lines, source, folder = _lines(location)
    if is_masked:
        words = vocabulary("WordPiece", lines, BERT_SPECIALS, wanted.below("ids"), folder)
    else:
        words = vocabulary("byte-pair", lines, TEXT_SPECIALS, wanted.below("ids"), folder)
    documents = articles(lines)
    order = np.random.RandomState(seed).permutation(len(documents))
    shuffled = [documents[index] for index in order]
    found = (_masked if is_masked else _plain)(wanted, shuffled, words, count, seed)
    return DataSet(source=f"{source}, {words.name}", train=wanted.batch(found))


def _lines(location: str | None) -> tuple[list[str], str, Path | None]:
    """Return the text's lines, the source's name, and its folder where it has one."""
    if location is None:
        splits, name = splits_named("wikitext", "Salesforce/wikitext", CONFIGURATION)
        return _of_splits("wikitext", splits), f"wikitext {name}", None
    folder = existing("wikitext", location)
    source = f"wikitext:{location}"
    if (folder / _FILE).is_file():
        # Not splitlines(), which ends lines at other characters, too: the Parquet files have a row for each newline.
        return text_of(folder / _FILE).split("\n"), source, folder
    if is_data_set(folder):
        return _of_splits(source, splits_of("wikitext", folder, CONFIGURATION)), source, folder
    msg = f"{source} has neither {_FILE} nor Parquet files with a column 'text'"
    raise UsageError(msg)


def _of_splits(source: str, splits: Any) -> list[str]:
    """Return the lines of the split train."""
    return [line.rstrip("\n") for line in column_of(source, split_of(source, splits, "train"), "text")]


def articles(lines: list[str]) -> list[list[str]]:
    """Return the lines of each article, which begins with its title between single signs of equality."""
    found: list[list[str]] = []
    for line in lines:
        stripped = line.strip()
        if _TITLE.match(line.rstrip("\n")) or not found:
            found.append([])
        if stripped:
            found[-1].append(stripped)
    return [article for article in found if article]


def _plain(
    wanted: DeclaredArrays, documents: list[list[str]], words: SubwordVocabulary, count: int, seed: int
) -> dict[str, NDArray[Any]]:
    """Return windows of one stream of articles, one after another, without overlap, in an order from the seed."""
    length = wanted.entries("ids")
    end, needed = words.id(TEXT_SPECIALS[0]), count * length + 1
    stream: list[int] = []
    for document in documents:
        if len(stream) >= needed:
            break
        for ids in words.ids(["\n".join(document)]):
            stream += [*ids, end]
    windows = min(count, (len(stream) - 1) // length)
    if windows < 1:
        msg = f"wikitext has {len(stream)} parts of words, fewer than one sample of {length}"
        raise UsageError(msg)
    flat = np.array(stream[: windows * length + 1], np.int32)
    order = np.random.RandomState(seed).permutation(windows)
    given, following = (part.reshape(windows, length)[order] for part in (flat[:-1], flat[1:]))
    return {"ids": given, "next_ids": following}


def _masked(
    wanted: DeclaredArrays, documents: list[list[str]], words: SubwordVocabulary, count: int, seed: int
) -> dict[str, NDArray[Any]]:
    """Return masked pairs of sentences."""
    length, most = wanted.entries("ids"), wanted.entries("masked_positions")
    begin, end, mask = (words.id(part) for part in ("[CLS]", "[SEP]", "[MASK]"))
    specials = {words.tokenizer.token_to_id(part) for part in BERT_SPECIALS}
    every = np.array(sorted(set(words.tokenizer.get_vocab().values()) - specials))
    marks = Marks(begin, end, mask, every)
    exactly = "masked_weights" not in wanted  # then every masked slot is counted, and no sample may leave one empty
    least = most if exactly else 1
    sentences = [_sentences(document, words) for document in _enough(documents, count * length)]
    several = 2 if exactly else 1  # some of them are too short
    found = [pair for pair in pairs(sentences, length, several * count, seed) if len(pair.first + pair.second) >= least]
    if not found:
        msg = f"wikitext has no two sentences for a sample of {length} with {most} masked parts"
        raise UsageError(msg)
    found = found[:count]
    laid = [laid_out(pair, marks) for pair in found]
    stream = np.random.RandomState(seed)
    samples = [masked(ids, most, marks, stream, exactly=exactly) for ids, _ in laid]
    rows, positions, hidden = (list(part) for part in zip(*samples, strict=True))
    lengths = lengths_of(rows, length)
    return {
        "ids": padded(rows, length),
        "segments": padded([segments for _, segments in laid], length),
        "mask": np.arange(length) < lengths[:, np.newaxis],
        "length": lengths,
        "masked_positions": padded(positions, most),
        "masked_ids": padded(hidden, most),
        "masked_weights": padded([[1.0] * len(one) for one in positions], most, dtype="float32"),
        "next_sentence": np.array([pair.is_other for pair in found], np.int32),
    }


def _sentences(document: list[str], words: SubwordVocabulary) -> list[list[int]]:
    """Return an article's sentences as numbers; titles are left out."""
    paragraphs = [line for line in document if not line.startswith("=")]
    return words.ids([sentence for line in paragraphs for sentence in _SENTENCE.split(line) if sentence.strip()])


def _enough(documents: list[list[str]], parts: int) -> list[list[str]]:
    """Return the first documents that have so many words together, and so at least as many parts; at least two."""
    total = 0
    for index, document in enumerate(documents):
        total += sum(len(line.split()) for line in document)
        if total >= parts and index > 0:
            return documents[: index + 1]
    return documents
