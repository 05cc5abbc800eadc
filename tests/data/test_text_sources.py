from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bakeoff.data import reading
from bakeoff.data.sources import imdb, wikitext, wmt16
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.errors import UsageError
from bakeoff.spec.workload import Size

NEEDS = "the extra 'data' is not installed: pip install 'bakeoff[data]'"


def integers(*shape: int, high: int) -> ArraySpec:
    """Give an array of integers."""
    return ArraySpec(shape=shape, dtype="int32", high=high)


REVIEWS = Size(batch_size=2, inputs={"tokens": integers(6, high=9), "length": integers(high=7)}, classes=2)


def reviews_of(folder: Path) -> Path:
    """Write a folder as aclImdb is: the words a to e fall in frequency."""
    texts = {"train/pos/1_9.txt": "a a a a<br />B b b c c d", "train/neg/1_1.txt": "A e", "test/pos/2_8.txt": "b zzz"}
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def by_label(batch: Any) -> dict[int, list[int]]:
    """Give each review's numbers by its label."""
    return {int(label): ids.tolist() for ids, label in zip(batch.inputs["tokens"], batch.targets["y"], strict=True)}


def test_imdb_as_files(tmp_path: Path) -> None:
    """Words are numbered by their frequency from 4 on, 1 begins, 2 is rare, 0 pads; a long review keeps its end."""
    found = imdb.load(REVIEWS, 10, 0, str(reviews_of(tmp_path)))
    assert by_label(found.train) == {1: [5, 5, 5, 6, 6, 7], 0: [1, 4, 8, 0, 0, 0]}
    assert sorted(found.train.inputs["length"].tolist()) == [3, 6]
    assert found.test is not None
    assert by_label(found.test) == {1: [1, 5, 2, 0, 0, 0]}
    assert found.source == f"imdb:{tmp_path}"


def test_imdb_as_keras_has_it(tmp_path: Path) -> None:
    """The file of ranks gives the same numbers as the text does."""
    ragged = np.empty(2, object)
    ragged[:] = [[1, 1, 1, 1, 2, 2, 2, 3, 3, 4], [1, 5]]
    one = np.empty(1, object)
    one[:] = [[2, 6]]
    np.savez(tmp_path / "imdb.npz", x_train=ragged, y_train=[1, 0], x_test=one, y_test=[1])
    found = imdb.load(REVIEWS, 10, 0, str(tmp_path / "imdb.npz"))
    assert by_label(found.train) == {1: [5, 5, 5, 6, 6, 7], 0: [1, 4, 8, 0, 0, 0]}
    assert by_label(found.test) == {1: [1, 5, 2, 0, 0, 0]}


def test_a_file_of_pickles_runs_nothing(tmp_path: Path) -> None:
    """Of what a pickle can do, only arrays of numbers are made: anything else is refused by its name."""

    class Planted:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "planted",)

    array = np.empty(1, object)
    array[:] = [Planted()]
    np.savez(tmp_path / "imdb.npz", x_train=array, y_train=[1], x_test=array, y_test=[1])
    assert pickle.dumps(Planted())
    with pytest.raises(UsageError, match=r"imdb\.npz.*which is no array of numbers"):
        imdb.load(REVIEWS, 10, 0, str(tmp_path / "imdb.npz"))
    assert not (tmp_path / "planted").exists()


def test_imdb_as_parquet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of Parquet files, as the data set is published, is the same as its files of text."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    rows = {"text": ["A e", "a a a a<br />B b b c c d"], "label": [0, 1]}
    (tmp_path / "files").mkdir()
    datasets.Dataset.from_dict(rows).to_parquet(tmp_path / "files" / "train.parquet")
    found = imdb.load(REVIEWS, 10, 0, str(tmp_path / "files"))
    assert by_label(found.train) == {1: [5, 5, 5, 6, 6, 7], 0: [1, 4, 8, 0, 0, 0]}
    assert found.test is None


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (Size(batch_size=2, inputs={"tokens": integers(6, high=4)}, classes=2), "numbers its words from 4 on"),
        (Size(batch_size=2, inputs={"tokens": ArraySpec(shape=(6,))}, classes=2), "int32 with a `high`"),
        (Size(batch_size=2, inputs={"tokens": integers(high=9)}, classes=2), "has to be a sequence"),
        (Size(batch_size=2, inputs={"tokens": integers(6, high=9), "extra": integers(high=2)}, classes=2), "extra is"),
        (Size(batch_size=2, inputs={"tokens": integers(6, high=9)}, classes=1), "has 1 among its integers"),
        (Size(batch_size=2, input_shape=(28, 28, 1), classes=10), "int32 with a `high`"),
    ],
)
def test_workloads_that_do_not_fit(tmp_path: Path, size: Size, told: str) -> None:
    """A workload of other arrays is refused with what the source gives and what the workload takes."""
    with pytest.raises(UsageError, match=told):
        imdb.load(size, 10, 0, str(reviews_of(tmp_path)))


ARTICLES = "".join(
    f" = Article {number} = \n\n"
    + "".join(f" The number {number} and {sentence} . It is more than {sentence - 1} . \n" for sentence in range(1, 30))
    + " = = A part = = \n Another word of it . \n"
    for number in range(8)
)
PLAIN = Size(batch_size=2, inputs={"ids": integers(16, high=400)}, targets={"next_ids": integers(16, high=400)})
BERT = Size(
    batch_size=2,
    inputs={
        "ids": integers(24, high=200),
        "segments": integers(24, high=2),
        "mask": ArraySpec(shape=(24,), dtype="bool"),
        "masked_positions": integers(4, high=24),
    },
    targets={
        "masked_ids": integers(4, high=200),
        "masked_weights": ArraySpec(shape=(4,)),
        "next_sentence": integers(high=2),
    },
)


@pytest.fixture
def text(tmp_path: Path) -> str:
    """Give a folder as wikitext-103-raw-v1.zip has it."""
    pytest.importorskip("tokenizers", reason=NEEDS)
    (tmp_path / "wiki.train.raw").write_text(ARTICLES)
    return str(tmp_path)


def test_articles_begin_with_their_titles() -> None:
    """A title has one sign of equality on each side; titles of parts have more."""
    found = wikitext.articles(ARTICLES.splitlines(keepends=True))
    assert [article[0] for article in found] == [f"= Article {number} =" for number in range(8)]


def test_a_line_ends_at_its_newline_alone(tmp_path: Path) -> None:
    """As in the Parquet files: a separator of lines within an article is a part of its text; Windows has two."""
    for ends in ("\n", "\r\n"):
        text = f" = A = {ends} one\u2028two\x85three\rfour {ends}"
        (tmp_path / "wiki.train.raw").write_bytes(text.encode())
        lines, _, _ = wikitext._lines(str(tmp_path))
        assert wikitext.articles(lines) == [["= A =", "one\u2028two\x85three\rfour"]]


def test_a_title_may_be_one_letter() -> None:
    """It begins an article of its own, as any title does; one of a part does not."""
    lines = [" = Article = ", " a word . ", " = Q = ", " another . ", " = = P = = ", " a third . "]
    assert [article[0] for article in wikitext.articles(lines)] == ["= Article =", "= Q ="]


def test_language_models_predict_the_next_part(text: str) -> None:
    """Each sample's targets are its parts one later, and the source names its vocabulary."""
    found = wikitext.load(PLAIN, 20, 0, text)
    ids, following = found.train.inputs["ids"], found.train.targets["next_ids"]
    assert ids.shape == following.shape == (20, 16)
    np.testing.assert_array_equal(ids[:, 1:], following[:, :-1])
    starts = {tuple(row[:3]) for row in ids.tolist()}
    assert len(starts) > 5
    assert found.source.startswith(f"wikitext:{text}, byte-pair vocabulary of ")
    again, other = wikitext.load(PLAIN, 20, 0, text), wikitext.load(PLAIN, 20, 1, text)
    np.testing.assert_array_equal(ids, again.train.inputs["ids"])
    assert (ids != other.train.inputs["ids"]).any()


def test_masked_pairs(text: str) -> None:
    """What BERT takes: marks in their places, segments, hidden parts' positions, weights for real ones."""
    found = wikitext.load(BERT, 40, 0, text)
    inputs, targets = found.train.inputs, found.train.targets
    assert len(found.train) == 40
    lengths = inputs["mask"].sum(axis=1)
    for row in range(40):
        ids, segments = inputs["ids"][row], inputs["segments"][row]
        assert ids[0] == 2
        assert ids[lengths[row] - 1] == 3
        assert not ids[lengths[row] :].any()
        assert segments[: lengths[row]].tolist() == sorted(segments[: lengths[row]].tolist())
        assert segments[0] == 0
        assert segments[lengths[row] - 1] == 1
        real = targets["masked_weights"][row] == 1.0
        assert real.sum() == min(4, max(1, round(lengths[row] * 0.15)))
        assert not inputs["masked_positions"][row][~real].any()
        assert (targets["masked_ids"][row][real] > 4).all()
    assert (inputs["ids"] == 4).sum() > 40, "[MASK]"
    assert set(targets["next_sentence"]) == {0, 1}
    assert "WordPiece vocabulary of " in found.source


def test_without_weights_every_slot_is_masked(text: str) -> None:
    """A workload that counts every slot gets samples that fill all of them."""
    targets = {name: spec for name, spec in BERT.targets.items() if name != "masked_weights"}
    size = Size(batch_size=2, inputs=BERT.inputs, targets=targets)
    found = wikitext.load(size, 20, 0, text)
    positions = found.train.inputs["masked_positions"]
    assert len(found.train) == 20
    assert (np.diff(positions, axis=1) > 0).all()
    assert (positions > 0).all()


TRANSLATION = Size(
    batch_size=2,
    inputs={
        "source": integers(20, high=330),
        "source_length": integers(high=21),
        "target_in": integers(19, high=330),
    },
    targets={"target_out": integers(19, high=330), "target_length": integers(high=20)},
)
PAIRS = [(f"the {word} house", f"das {word} Haus") for word in ("old", "new", "red", "small", "")]


def parallel(folder: Path) -> str:
    """Write two files of one sentence a line; the last pair is too long."""
    pytest.importorskip("tokenizers", reason=NEEDS)
    pairs = [*PAIRS, ("x " * 40, "y")]
    for side, language in enumerate(("en", "de")):
        (folder / f"train.{language}").write_text("".join(f"{pair[side]}\n" for pair in pairs))
    return str(folder)


def test_translation(tmp_path: Path) -> None:
    """Pairs stay pairs; the decoder is given what it has to say, one later; what is too long is left out."""
    found = wmt16.load(TRANSLATION, 10, 0, parallel(tmp_path))
    inputs, targets = found.train.inputs, found.train.targets
    assert len(found.train) == 5
    for row in range(5):
        source_length, length = inputs["source_length"][row], targets["target_length"][row]
        source, given, wanted = inputs["source"][row], inputs["target_in"][row], targets["target_out"][row]
        assert (source[0], source[source_length - 1]) == (2, 3)
        assert not source[source_length:].any()
        assert given[0] == 2
        assert wanted[length - 1] == 3
        np.testing.assert_array_equal(given[1:length], wanted[: length - 1])
    assert len({tuple(row) for row in inputs["source"].tolist()}) == 5
    assert "byte-pair vocabulary of " in found.source


def test_pairs_stay_pairs_behind_a_carriage_return(tmp_path: Path) -> None:
    """Real corpora have some within sentences of one language; and files whose last line ends without a newline."""
    (tmp_path / "train.en").write_bytes(b"one\r and more\ntwo\nthree\n")
    (tmp_path / "train.de").write_bytes(b"eins\r\nzwei\r\ndrei")
    english, german = wmt16._of_files("wmt16", tmp_path)
    assert (english, german) == (["one\r and more", "two", "three"], ["eins", "zwei", "drei"])


def test_parallel_text_that_is_not(tmp_path: Path) -> None:
    """Files of different lengths are refused with both, and a folder without any with what was looked for."""
    folder = parallel(tmp_path)
    (tmp_path / "train.de").write_text("ein Satz\n")
    with pytest.raises(UsageError, match=r"train\.en has 6 lines and train\.de has 1"):
        wmt16.load(TRANSLATION, 10, 0, folder)
    (tmp_path / "train.de").unlink()
    with pytest.raises(UsageError, match=r"no two files of one name"):
        wmt16.load(TRANSLATION, 10, 0, folder)


def test_parquet_of_text_and_translations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Folders of Parquet files, as these data sets are published, give what their plain files give."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)
    pytest.importorskip("tokenizers", reason=NEEDS)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for name in ("wiki", "wmt", "plain", "pairs"):
        (tmp_path / name).mkdir()
    lines = {"text": ARTICLES.splitlines(keepends=True)}
    datasets.Dataset.from_dict(lines).to_parquet(tmp_path / "wiki" / "train-00000-of-00001.parquet")
    rows = {"translation": [{"de": german, "en": english} for english, german in PAIRS]}
    datasets.Dataset.from_dict(rows).to_parquet(tmp_path / "wmt" / "train.parquet")
    (tmp_path / "plain" / "wiki.train.raw").write_text(ARTICLES)
    for side, language in enumerate(("en", "de")):
        (tmp_path / "pairs" / f"train.{language}").write_text("\n".join(pair[side] for pair in PAIRS))
    for module, size, one, other in ((wikitext, PLAIN, "wiki", "plain"), (wmt16, TRANSLATION, "wmt", "pairs")):
        found, wanted = (module.load(size, 4, 0, str(tmp_path / folder)).train for folder in (one, other))
        for name, array in wanted.arrays.items():
            np.testing.assert_array_equal(found.arrays[name], array)


def test_one_configuration_of_several_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a published folder with all configurations the source's own is read; without it, one is asked for."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    for name in ("wikitext-103-raw-v1", "wikitext-103-v1", "wikitext-2-raw-v1"):
        (tmp_path / "wiki" / name).mkdir(parents=True)
        for split in ("train", "test"):
            rows = {"text": [f" = {name} = \n", f" {split} \n"]}
            datasets.Dataset.from_dict(rows).to_parquet(tmp_path / "wiki" / name / f"{split}-00000-of-00001.parquet")
    for pair in ("cs-en", "de-en"):
        (tmp_path / "wmt" / pair).mkdir(parents=True)
        sentences = {"translation": [{pair[:2]: pair, "en": "one"}]}
        datasets.Dataset.from_dict(sentences).to_parquet(tmp_path / "wmt" / pair / "train-00000-of-00001.parquet")
    assert wikitext._lines(str(tmp_path / "wiki"))[0] == [" = wikitext-103-raw-v1 = ", " train "]
    assert wmt16._texts(str(tmp_path / "wmt"))[0] == (["one"], ["de-en"])
    (tmp_path / "wiki" / "wikitext-103-raw-v1").rename(tmp_path / "raw")
    with pytest.raises(UsageError, match=r"holds wikitext-103-v1, wikitext-2-raw-v1, and no wikitext-103-raw-v1; name"):
        wikitext._lines(str(tmp_path / "wiki"))


def test_one_split_that_was_saved_alone(tmp_path: Path) -> None:
    """What `save_to_disk` writes of one split is read as the whole data set is, and a split to test on is told."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)
    rows = {"text": ["A e", "a a a a<br />B b b c c d"], "label": [0, 1]}
    for split in ("train", "test"):
        datasets.Dataset.from_dict(rows, split=split).save_to_disk(tmp_path / split)
    found = imdb.load(REVIEWS, 10, 0, str(tmp_path / "train"))
    assert by_label(found.train) == {1: [5, 5, 5, 6, 6, 7], 0: [1, 4, 8, 0, 0, 0]}
    with pytest.raises(UsageError, match=r"no split 'train'; it has test"):
        imdb.load(REVIEWS, 10, 0, str(tmp_path / "test"))


@pytest.mark.parametrize(
    ("module", "size", "name"),
    [
        (imdb, REVIEWS, "stanfordnlp/imdb"),
        (wikitext, PLAIN, r"Salesforce/wikitext \(wikitext-103-raw-v1\)"),
        (wmt16, TRANSLATION, r"wmt/wmt16 \(de-en\)"),
    ],
)
def test_by_name_without_a_network(module: Any, size: Size, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be fetched is told by its name, with the reason and the folder that helps."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)

    def refuse(name: str, configuration: str) -> Any:
        msg = "no route to host"
        raise ConnectionError(msg)

    monkeypatch.setattr(datasets, "load_dataset", refuse)
    with pytest.raises(UsageError, match=rf"cannot fetch {name}.*no route to host.*:/path/to/folder"):
        module.load(size, 4, 0, None)


@pytest.mark.parametrize("module", [imdb, wikitext, wmt16])
def test_folders_that_hold_nothing_or_are_not_there(module: Any, tmp_path: Path) -> None:
    """An empty folder is refused with what was looked for; a missing one by its path."""
    size = {imdb: REVIEWS, wikitext: PLAIN, wmt16: TRANSLATION}[module]
    with pytest.raises(UsageError, match=r"Parquet"):
        module.load(size, 4, 0, str(tmp_path))
    with pytest.raises(UsageError, match=r"nowhere: there is no such folder"):
        module.load(size, 4, 0, str(tmp_path / "nowhere"))


def test_a_folder_that_is_no_data_set_is_not_walked_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder of more folders than a data set has is refused with what was expected; deep ones are not entered."""
    deep = tmp_path / "one" / "two" / "three"
    deep.mkdir(parents=True)
    (deep / "x.parquet").touch()
    assert not reading.is_data_set(tmp_path)
    assert reading.is_data_set(tmp_path / "one")
    for number in range(12):
        (tmp_path / f"folder{number}").mkdir()
    monkeypatch.setattr(reading, "MOST_FOLDERS", 10)
    with pytest.raises(UsageError, match=r"has more than 10 folders.*name the folder that\s*holds the data itself"):
        reading.is_data_set(tmp_path)
