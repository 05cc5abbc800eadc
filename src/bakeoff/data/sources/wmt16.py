"""Pairs of sentences in English and German of WMT 2016: for translation.

`wmt16` fetches them by name from Hugging Face (wmt/wmt16, de-en); `wmt16:/path` takes a folder with two files of one
sentence a line, `train.en` and `train.de` (or any two files of one name that end in .en and .de), or one of Parquet
files with the column `translation`. Both languages share one vocabulary: that of the folder's own files
(`bakeoff.data.tokens`), else one that is trained on them, which the source's name tells.

Sentences begin with <s> and end with </s>, in both languages; pairs of which one is too long are left out, as in
NVIDIA's GNMT, `seq2seq/data/dataset.py`. English is translated into German.
"""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.reading import column_of, existing, is_data_set, split_of, splits_named, splits_of, text_of
from bakeoff.data.roles import DeclaredArrays, Roles, lengths_of, padded
from bakeoff.data.tokens import TRANSLATION_SPECIALS, vocabulary
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.workload import Size

ROLES: Roles = {
    "source": ("source_ids", "src"),
    "source_length": ("source_lengths", "src_length"),
    "target_in": ("target_inputs", "target"),
    "target_out": ("target_outputs", "target_next", "y"),
    "target_length": ("target_lengths",),
}

FROM, INTO = "en", "de"
CONFIGURATION = f"{INTO}-{FROM}"
"""Of the data set at Hugging Face, which has a folder for each pair of languages."""
_SURPLUS = 4  # so many pairs are looked at for each that is wanted, before all are: few are longer than 50 parts


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return up to `count` pairs in an order from the seed; raise UsageError for what does not fit."""
    wanted = DeclaredArrays("wmt16", ROLES, size)
    most, most_out = wanted.entries("source"), wanted.entries("target_in")
    below = min(wanted.below("source"), wanted.below("target_in"))
    texts, source, folder = _texts(location)
    words = vocabulary("byte-pair", chain.from_iterable(zip(*texts, strict=True)), TRANSLATION_SPECIALS, below, folder)
    begin, end = words.id("<s>"), words.id("</s>")
    order = np.random.RandomState(seed).permutation(len(texts[0]))
    sources: list[list[int]] = []
    targets: list[list[int]] = []
    step = max(1, _SURPLUS * count)
    for start in range(0, len(order), step):
        chosen = order[start : start + step]
        pairs = zip(*(words.ids([side[index] for index in chosen]) for side in texts), strict=True)
        fitting = [(a, b) for a, b in pairs if a and b and len(a) + 2 <= most and len(b) + 1 <= most_out]
        sources += [[begin, *a, end] for a, _ in fitting]
        targets += [[begin, *b, end] for _, b in fitting]
        if len(sources) >= count:
            break
    if not sources:
        msg = f"{source} has no pair of at most {most} and {most_out} parts of words with their marks"
        raise UsageError(msg)
    sources, targets = sources[:count], targets[:count]
    given, following = [row[:-1] for row in targets], [row[1:] for row in targets]
    found = {
        "source": padded(sources, most),
        "source_length": lengths_of(sources, most),
        "target_in": padded(given, most_out),
        "target_out": padded(following, most_out),
        "target_length": lengths_of(given, most_out),
    }
    return DataSet(source=f"{source}, {words.name}", train=wanted.batch(found))


def _texts(location: str | None) -> tuple[tuple[list[str], list[str]], str, Path | None]:
    """Return the sentences of both languages, the source's name, and its folder where it has one."""
    if location is None:
        splits, name = splits_named("wmt16", "wmt/wmt16", CONFIGURATION)
        return _of_splits("wmt16", splits), f"wmt16 {name}", None
    folder = existing("wmt16", location)
    source = f"wmt16:{location}"
    if is_data_set(folder):
        return _of_splits(source, splits_of("wmt16", folder, CONFIGURATION)), source, folder
    return _of_files(source, folder), source, folder


def _of_splits(source: str, splits: Any) -> tuple[list[str], list[str]]:
    """Return the sentences of the split train."""
    rows = column_of(source, split_of(source, splits, "train"), "translation")
    return [row[FROM] for row in rows], [row[INTO] for row in rows]


def _of_files(source: str, folder: Path) -> tuple[list[str], list[str]]:
    """Return the sentences of all pairs of files, `train` alone where it is among them, in the order of their names."""
    names = sorted(file.stem for file in folder.glob(f"*.{FROM}") if (folder / f"{file.stem}.{INTO}").is_file())
    names = ["train"] if "train" in names else names
    if not names:
        msg = f"{source} has no two files of one name that end in .{FROM} and .{INTO}, nor Parquet files"
        raise UsageError(msg)
    sides: tuple[list[str], list[str]] = ([], [])
    for name in names:
        # The last line may end with a newline or without, in either file.
        texts = [text_of(folder / f"{name}.{language}") for language in (FROM, INTO)]
        pair = [text.removesuffix("\n").split("\n") for text in texts]
        if len(pair[0]) != len(pair[1]):
            msg = f"{source}: {name}.{FROM} has {len(pair[0])} lines and {name}.{INTO} has {len(pair[1])}"
            raise UsageError(msg)
        for side, lines in zip(sides, pair, strict=True):
            side.extend(line.strip() for line in lines)
    return sides
