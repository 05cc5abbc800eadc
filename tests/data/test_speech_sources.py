from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from bakeoff.data import audio
from bakeoff.data.sources import librispeech, ljspeech
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.errors import UsageError
from bakeoff.spec.workload import Size
from bakeoff.workloads.load import load

NEEDS = "the extra 'data' is not installed: pip install 'bakeoff[data]'"
SAID = {"1-2-0000": "IT'S ON", "1-2-0001": "A", "1-2-0002": "TOO LONG FOR IT ALL"}


@pytest.fixture
def soundfile() -> Any:
    """Give the library that writes and reads sound."""
    return pytest.importorskip("soundfile", reason=NEEDS)


def recognition(*shape: int, labels: int = 8) -> Size:
    """Give the size of a workload that takes spectrograms of this shape."""
    integer = ArraySpec(dtype="int32", high=99)
    return Size(
        batch_size=2,
        inputs={"spectrogram": ArraySpec(shape=shape), "length": integer},
        targets={"labels": ArraySpec(shape=(labels,), dtype="int32", high=29), "label_length": integer},
    )


def tone(seconds: float, rate_hz: int, frequency_hz: float = 440.0) -> np.ndarray:
    """Give a sine."""
    return (0.5 * np.sin(2 * np.pi * frequency_hz * np.arange(round(seconds * rate_hz)) / rate_hz)).astype(np.float32)


def chapter(soundfile: Any, root: Path, part: str = "train-clean-100", rate_hz: int = 16_000) -> Path:
    """Write a chapter as LibriSpeech has it."""
    folder = root / part / "1" / "2"
    folder.mkdir(parents=True)
    for number, name in enumerate(SAID):
        soundfile.write(folder / f"{name}.flac", tone(0.2 + 0.1 * number, rate_hz), rate_hz)
    (folder / "1-2.trans.txt").write_text("".join(f"{name} {text}\n" for name, text in SAID.items()))
    return root


def test_librispeech_as_files(soundfile: Any, tmp_path: Path) -> None:
    """Each file's spectrogram stands with its own letters; padding is 0; what is too long is left out."""
    found = librispeech.load(recognition(40, 161), 10, 0, str(chapter(soundfile, tmp_path)))
    inputs, targets = found.train.inputs, found.train.targets
    assert inputs["spectrogram"].shape == (2, 40, 161)
    order = np.argsort(inputs["length"])
    assert inputs["length"][order].tolist() == [21, 31]
    assert targets["label_length"][order].tolist() == [7, 1]
    assert "".join(librispeech.LETTERS[n] for n in targets["labels"][order[0]][:7]) == "IT'S ON"
    assert targets["labels"][order[1]].tolist() == [2, 0, 0, 0, 0, 0, 0, 0]
    sound, _ = soundfile.read(tmp_path / "train-clean-100/1/2/1-2-0000.flac", dtype="float32")
    np.testing.assert_array_equal(inputs["spectrogram"][order[0], :21], audio.spectrogram(sound))
    assert not inputs["spectrogram"][order[0], 21:].any()
    assert found.source == f"librispeech:{tmp_path}"


@pytest.mark.parametrize("shape", [(161, 40), (161, 40, 1), (40, 161, 1)])
def test_bins_stand_on_the_axis_that_the_workload_has_them_on(soundfile: Any, tmp_path: Path, shape: Any) -> None:
    """Time and bins may be declared in either order, and with a channel."""
    root = str(chapter(soundfile, tmp_path))
    plain = librispeech.load(recognition(40, 161), 10, 0, root).train.inputs["spectrogram"]
    found = librispeech.load(recognition(*shape), 10, 0, root).train.inputs["spectrogram"]
    wanted = plain if shape[0] == 40 else plain.swapaxes(1, 2)
    np.testing.assert_array_equal(found.reshape(found.shape[:3]), wanted)


def test_parts_for_testing_are_not_trained_on(soundfile: Any, tmp_path: Path) -> None:
    """Where there are parts to train on, others are left alone; where there are none, all is taken."""
    chapter(soundfile, tmp_path, part="dev-clean")
    assert len(librispeech.load(recognition(99, 161, labels=20), 10, 0, str(tmp_path)).train) == 3
    chapter(soundfile, tmp_path)
    assert len(librispeech.load(recognition(99, 161, labels=20), 10, 0, str(tmp_path)).train) == 3


def test_librispeech_as_parquet(soundfile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A data set with the files' bytes in it is the same as the files."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    root = chapter(soundfile, tmp_path / "files")
    audio_files = [str(root / "train-clean-100/1/2" / f"{name}.flac") for name in SAID]
    rows = [{"bytes": Path(file).read_bytes(), "path": Path(file).name} for file in audio_files]
    published = datasets.Dataset.from_dict({"audio": rows, "text": list(SAID.values())})
    (tmp_path / "saved").mkdir()
    published.cast_column("audio", datasets.Audio(16_000)).to_parquet(tmp_path / "saved" / "train.parquet")
    found, wanted = (
        librispeech.load(recognition(40, 161), 10, 0, str(folder)).train for folder in (tmp_path / "saved", root)
    )
    for name, array in wanted.arrays.items():
        np.testing.assert_array_equal(found.arrays[name], array)


def test_librispeech_as_it_is_published(soundfile: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a folder that has all parts twice, and of what was saved, each utterance to train on is taken once."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)
    monkeypatch.setattr(datasets.config, "HF_DATASETS_CACHE", tmp_path / "cache")
    root = chapter(soundfile, tmp_path / "files")
    rows = [{"bytes": (root / f"train-clean-100/1/2/{name}.flac").read_bytes(), "path": name} for name in SAID]
    published = datasets.Dataset.from_dict({"audio": rows, "text": list(SAID.values())})
    published = published.cast_column("audio", datasets.Audio(16_000))
    for name in ("all/train.clean.100", "all/train.other.500", "all/test.clean", "clean/train.100", "clean/test"):
        (tmp_path / "published" / name).mkdir(parents=True)
        published.to_parquet(tmp_path / "published" / name / "0000.parquet")
    splits = dict.fromkeys(("train.clean.100", "train.other.500", "test.clean"), published)
    datasets.DatasetDict(splits).save_to_disk(tmp_path / "saved")
    for folder in ("published", "saved"):
        found = librispeech.load(recognition(99, 161, labels=20), 100, 0, str(tmp_path / folder))
        assert len(found.train) == 2 * len(SAID)


@pytest.mark.parametrize(
    ("size", "told"),
    [
        (recognition(40, 80), "spectrograms of 161 bins"),
        (recognition(161), "spectrograms of 161 bins"),
        (recognition(5, 161), "no utterance of at most 5 frames"),
    ],
)
def test_workloads_that_do_not_fit(soundfile: Any, tmp_path: Path, size: Size, told: str) -> None:
    """Other bins, or lengths that no utterance has, are refused."""
    with pytest.raises(UsageError, match=told):
        librispeech.load(size, 10, 0, str(chapter(soundfile, tmp_path)))


def test_sound_that_is_not(soundfile: Any, tmp_path: Path) -> None:
    """Another rate, and what is no sound, are told by the file."""
    root = chapter(soundfile, tmp_path, rate_hz=8_000)
    with pytest.raises(UsageError, match=r"\.flac has 8000 Hz and 1 channels; needed are 16000 Hz"):
        librispeech.load(recognition(40, 161), 10, 0, str(root))
    read = str(readings(soundfile, tmp_path / "read"))
    gone = min(Path(read).rglob("*.wav"))
    gone.unlink()
    with pytest.raises(UsageError, match=rf"{gone.name} is not there"):
        ljspeech.load(SYNTHESIS, 10, 0, read)
    for file in root.rglob("*.flac"):
        file.write_bytes(b"nothing")
    with pytest.raises(UsageError, match=r"\.flac cannot be read as sound"):
        librispeech.load(recognition(40, 161), 10, 0, str(root))


SYNTHESIS = Size(
    batch_size=2,
    inputs={
        "characters": ArraySpec(shape=(10,), dtype="int32", high=148),
        "characters_length": ArraySpec(dtype="int32", high=11),
        "mels_in": ArraySpec(shape=(30, 80)),
    },
    targets={
        "mels": ArraySpec(shape=(30, 80)),
        "stop": ArraySpec(shape=(30,)),
    },
)


def readings(soundfile: Any, root: Path) -> Path:
    """Write a folder as LJSpeech-1.1 is."""
    (root / "wavs").mkdir(parents=True)
    texts = {"LJ001-0001": ("In 2", "In two."), "LJ001-0002": ("É", "É, a|".rstrip("|")), "LJ001-0003": ("", "x" * 11)}
    for number, name in enumerate(texts):
        soundfile.write(root / "wavs" / f"{name}.wav", tone(0.1 + 0.1 * number, 22_050), 22_050, subtype="PCM_16")
    (root / "metadata.csv").write_text("".join(f"{name}|{a}|{b}\n" for name, (a, b) in texts.items()))
    return root


def test_ljspeech(soundfile: Any, tmp_path: Path) -> None:
    """The text as it is read, its mel frames, the frames before each, and where to stop."""
    found = ljspeech.load(SYNTHESIS, 10, 0, str(readings(soundfile, tmp_path)))
    inputs, targets = found.train.inputs, found.train.targets
    order = np.argsort(-inputs["characters_length"])
    texts = ["".join(ljspeech.SYMBOLS[n] for n in row if n) for row in inputs["characters"][order].tolist()]
    assert texts == ["In two.", "E, a"]
    frames = [1 + 2205 // 256, 1 + 4410 // 256]
    sound, _ = soundfile.read(tmp_path / "wavs/LJ001-0001.wav", dtype="float32")
    mels = targets["mels"][order]
    np.testing.assert_array_equal(mels[0, : frames[0]], audio.mel_spectrogram(sound))
    assert not mels[0, frames[0] :].any()
    np.testing.assert_array_equal(inputs["mels_in"][:, 1:], targets["mels"][:, :-1])
    assert not inputs["mels_in"][:, 0].any()
    assert [int(row.argmax()) for row in targets["stop"][order]] == [frames[0] - 1, frames[1] - 1]
    assert targets["stop"][:, -1].all()
    assert "80 mels" in found.source


def test_shipped_workloads_take_their_sources(soundfile: Any, tmp_path: Path) -> None:
    """What deepspeech2 and tacotron2 declare, their sources have by the same names."""
    heard, read = (load(name).size("reduced") for name in ("deepspeech2", "tacotron2"))
    found = librispeech.load(heard, 10, 0, str(chapter(soundfile, tmp_path / "heard"))).train
    assert found.arrays.keys() == heard.sample.arrays.keys()
    assert found.inputs["spectrogram"].shape == (2, 161, 100, 1)
    found = ljspeech.load(read, 10, 0, str(readings(soundfile, tmp_path / "read"))).train
    assert found.arrays.keys() == read.sample.arrays.keys()
    assert found.targets["stop"].dtype == np.int32


def test_fewer_symbols(soundfile: Any, tmp_path: Path) -> None:
    """A small embedding takes small letters alone; one that is too small is refused."""
    small = {"characters": ArraySpec(shape=(10,), dtype="int32", high=38)}
    size = Size(batch_size=2, inputs=small, targets={"mels": ArraySpec(shape=(30, 20))})
    root = str(readings(soundfile, tmp_path))
    found = ljspeech.load(size, 10, 0, root).train
    texts = {"".join(ljspeech.FEW_SYMBOLS[n] for n in row if n) for row in found.inputs["characters"].tolist()}
    assert texts == {"in two.", "e, a"}
    assert found.targets["mels"].shape == (2, 30, 20)
    tiny = {"characters": ArraySpec(shape=(10,), dtype="int32", high=37)}
    with pytest.raises(UsageError, match="38 symbols at least"):
        ljspeech.load(Size(batch_size=2, inputs=tiny, targets=size.targets), 10, 0, root)


def test_lists_that_are_not(soundfile: Any, tmp_path: Path) -> None:
    """A folder without its list, and a line of it with other columns, are told."""
    with pytest.raises(UsageError, match=r"no metadata\.csv"):
        ljspeech.load(SYNTHESIS, 10, 0, str(tmp_path))
    root = readings(soundfile, tmp_path)
    (root / "metadata.csv").write_text("LJ001-0001|one\n")
    with pytest.raises(UsageError, match=r"metadata\.csv:1: 2 columns"):
        ljspeech.load(SYNTHESIS, 10, 0, str(root))


@pytest.mark.parametrize(
    ("module", "size", "address"),
    [(librispeech, recognition(40, 161), "openslr.org/.*train-clean-100"), (ljspeech, SYNTHESIS, "LJSpeech-1.1")],
)
def test_by_name_without_a_network(module: Any, size: Size, address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """What cannot be fetched is told by its address, with the reason and the folder that helps."""
    datasets = pytest.importorskip("datasets", reason=NEEDS)

    def refuse(self: Any, address: str) -> Any:
        msg = "no route to host"
        raise ConnectionError(msg)

    monkeypatch.setattr(datasets.DownloadManager, "download_and_extract", refuse)
    monkeypatch.setitem(sys.modules, "aiohttp", ModuleType("aiohttp"))
    with pytest.raises(UsageError, match=rf"cannot fetch .*{address}.*no route to host.*:/path/to/folder"):
        module.load(size, 4, 0, None)


def test_by_name_without_what_fetches(monkeypatch: pytest.MonkeyPatch) -> None:
    """The library that datasets fetches archives by is named, with how to install it."""
    pytest.importorskip("datasets", reason=NEEDS)
    monkeypatch.setitem(sys.modules, "aiohttp", None)
    with pytest.raises(UsageError, match=r"librispeech needs the extra 'data' \(aiohttp: .*bakeoff\[data\]"):
        librispeech.load(recognition(40, 161), 4, 0, None)
