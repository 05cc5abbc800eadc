"""IMDb's 50,000 film reviews, as words by their frequency, with a label of 0 or 1.

`imdb` fetches them by name from Hugging Face (stanfordnlp/imdb); `imdb:/path` takes the folder `aclImdb` with its files
of text, `imdb.npz` as Keras has it, or a folder of Parquet files with the columns `text` and `label`.

Numbers are those of `keras.datasets.imdb`: 0 pads, 1 begins a review, 2 is a word that is too rare, and the most
frequent word is 4 (Keras adds 3 to ranks that count from 1). A review that is too long loses its beginning, as
`pad_sequences` has it; one that is too short is filled up at its end.
"""

from __future__ import annotations

import io
import pickle
import re
import zipfile
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np

from bakeoff.data.dataset import DataSet
from bakeoff.data.reading import column_of, existing, is_data_set, split_of, splits_named, splits_of, text_of
from bakeoff.data.roles import DeclaredArrays, Roles, lengths_of, padded
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size

ROLES: Roles = {
    "ids": ("tokens", "words", "x"),
    "length": ("lengths", "ids_length"),
    "mask": ("padding_mask",),
    "label": ("labels", "y"),
}

CONFIGURATION = "plain_text"
"""Of the data set at Hugging Face."""
BEGIN, RARE, FIRST = 1, 2, 4
_OFFSET = 3  # of Keras: what it adds to a rank
_TEST_SAMPLES = 2000  # an accuracy of 0.88 is then known to about 0.007 (one standard error)
_WORD = re.compile(r"[a-z0-9']+")

Reviews = tuple[list[Any], list[int]]
"""Texts or lists of ranks, and labels."""


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return up to `count` reviews in an order from the seed, and some held-out ones; raise UsageError for misfits."""
    wanted = DeclaredArrays("imdb", ROLES, size)
    below = wanted.below("ids")
    if below <= FIRST:
        msg = f"imdb numbers its words from {FIRST} on; this workload takes numbers below {below}"
        raise UsageError(msg)
    if location is not None and (path := existing("imdb", location)).suffix == ".npz":
        train, test = _npz(path)
        source = f"imdb:{location} (Keras's ranks)"
        drawn = [_drawn(train, count, seed), _drawn(test, _TEST_SAMPLES, seed)]
    else:
        train, test, source = _texts(location)
        ranks = _ranks(train[0])
        drawn = [
            _ranked(_drawn(reviews, most, seed), ranks) for reviews, most in ((train, count), (test, _TEST_SAMPLES))
        ]
    batches = [_batch(wanted, reviews, below) for reviews in drawn]
    return DataSet(source=source, train=batches[0], test=batches[1] if len(batches[1]) else None)


def _batch(wanted: DeclaredArrays, reviews: Reviews, below: int) -> Any:
    """Return reviews of ranks as the workload's arrays."""
    length = wanted.entries("ids")
    rows = [[BEGIN, *(_number(rank, below) for rank in ranks)][-length:] for ranks in reviews[0]]
    lengths = lengths_of(rows, length)
    found = {
        "ids": padded(rows, length),
        "length": lengths,
        "mask": np.arange(length) < lengths[:, np.newaxis],
        "label": np.array(reviews[1], np.int32),
    }
    return wanted.batch(found)


def _number(rank: int, below: int) -> int:
    """Return a word's number by its rank, which counts from 1."""
    return rank + _OFFSET if rank + _OFFSET < below else RARE


def _drawn(reviews: Reviews, most: int, seed: int) -> Reviews:
    """Return up to `most` reviews in an order from the seed."""
    order = np.random.RandomState(seed).permutation(len(reviews[0]))[:most]
    return [reviews[0][index] for index in order], [int(reviews[1][index]) for index in order]


def words_of(text: str) -> list[str]:
    """Return the words of a review: letters, digits and apostrophes, without capitals and marks of HTML."""
    return _WORD.findall(text.replace("<br />", " ").lower())


def _ranks(texts: Iterable[str]) -> dict[str, int]:
    """Return the rank of each word by its frequency, from 1; words of one frequency are in the order of letters."""
    counts = Counter(word for text in texts for word in words_of(text))
    ordered = sorted(counts, key=lambda word: (-counts[word], word))
    return {word: rank for rank, word in enumerate(ordered, start=1)}


def _ranked(reviews: Reviews, ranks: dict[str, int]) -> Reviews:
    """Return texts as ranks; a word that was not counted has the rank after all."""
    unseen = len(ranks) + 1
    return [[ranks.get(word, unseen) for word in words_of(text)] for text in reviews[0]], reviews[1]


def _texts(location: str | None) -> tuple[Reviews, Reviews, str]:
    """Return texts to train on, held-out texts and the source's name."""
    if location is None:
        splits, name = splits_named("imdb", "stanfordnlp/imdb", CONFIGURATION)
        return *_of_splits(splits), f"imdb {name}"
    folder = existing("imdb", location)
    source = f"imdb:{location}"
    if is_data_set(folder):
        return *_of_splits(splits_of("imdb", folder, CONFIGURATION)), source
    root = folder / "aclImdb" if (folder / "aclImdb").is_dir() else folder
    train, test = _of_files(root / "train"), _of_files(root / "test")
    if not train[0]:
        msg = (
            f"{source} has no reviews; valid: aclImdb with train/pos/*.txt and train/neg/*.txt, imdb.npz, "
            "or a folder of Parquet files"
        )
        raise UsageError(msg)
    return train, test, source


def _of_splits(splits: Any) -> tuple[Reviews, Reviews]:
    """Return the reviews of the splits train and test; the second may be missing."""
    found: list[Reviews] = []
    for name in ("train", "test"):
        if name == "test" and name not in splits:
            found.append(([], []))
            continue
        split = split_of("imdb", splits, name)
        found.append((column_of("imdb", split, "text"), column_of("imdb", split, "label")))
    return found[0], found[1]


def _of_files(folder: Path) -> Reviews:
    """Return the reviews of a folder's subfolders `neg` and `pos`, in the order of their names."""
    texts: list[Any] = []
    labels: list[int] = []
    for label, name in enumerate(("neg", "pos")):
        files = sorted((folder / name).glob("*.txt"))
        texts += [text_of(file) for file in files]
        labels += [label] * len(files)
    return texts, labels


class _Lists(pickle.Unpickler):
    """Reads NumPy's arrays of lists, which are pickles, and refuses whatever else a pickle can do."""

    _KNOWN = frozenset({"_reconstruct", "ndarray", "dtype", "scalar"})

    def find_class(self, module: str, name: str) -> Any:
        """Return NumPy's own classes of arrays; raise UnpicklingError for any other name."""
        if module.split(".", maxsplit=1)[0] == "numpy" and name in self._KNOWN:
            return super().find_class(module.replace("numpy.core", "numpy._core"), name)
        msg = f"it names {module}.{name}, which is no array of numbers"
        raise pickle.UnpicklingError(msg)


def _npz(path: Path) -> tuple[Reviews, Reviews]:
    """Return the ranks and labels of Keras's file, which are stored with Keras's 1 at their most frequent word."""
    try:
        with zipfile.ZipFile(path) as archive:
            x_train, y_train, x_test, y_test = (
                _array(archive.read(f"{name}.npy")) for name in ("x_train", "y_train", "x_test", "y_test")
            )
        return (_ranks_of(x_train), y_train.tolist()), (_ranks_of(x_test), y_test.tolist())
    except (OSError, ValueError, KeyError, TypeError, EOFError, zipfile.BadZipFile, pickle.UnpicklingError) as error:
        msg = f"{path} cannot be read as Keras's imdb.npz (x_train, y_train, x_test, y_test): {error}"
        raise UsageError(msg) from error


def _array(content: bytes) -> NDArray[Any]:
    """Return one array of a file, of numbers or of lists."""
    file = io.BytesIO(content)
    version = np.lib.format.read_magic(file)
    header = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    _, _, dtype = header(file)
    if dtype.hasobject:
        array: NDArray[Any] = _Lists(file).load()
        return array
    return np.load(io.BytesIO(content), allow_pickle=False)  # type: ignore[no-any-return]


def _ranks_of(rows: Iterable[Any]) -> list[list[int]]:
    """Return lists of ranks; raise TypeError or ValueError for what is none."""
    return [[int(rank) for rank in row] for row in rows]
