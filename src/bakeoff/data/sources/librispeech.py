"""LibriSpeech, read speech with its text: spectrograms and letters, for Deep Speech 2.

`librispeech` fetches train-clean-100 (6.3 GB) from openslr.org; `librispeech:/path` takes a folder with parts of it as
they are unpacked (SPEAKER/CHAPTER/*.flac, with a *.trans.txt a chapter), of which the parts whose names begin with
`train` are trained on where there are any; or a folder of Parquet files with the columns `audio` and `text`.

Letters are those of deepspeech.pytorch's labels.json, 29 with the blank, which is 0: _ ' A to Z and the space.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bakeoff.data import audio
from bakeoff.data.dataset import DataSet
from bakeoff.data.reading import downloaded, existing, files_below, is_data_set, library, split_of, splits_of, text_of
from bakeoff.data.roles import DeclaredArrays, Roles, lengths_of, padded
from bakeoff.data.sounds import sound_of
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size

ROLES: Roles = {
    "spectrogram": ("spectrograms", "frames", "features", "x"),
    "length": ("lengths", "frames_length", "input_lengths", "spectrogram_length"),
    "labels": ("letters", "targets", "text", "y"),
    "label_length": ("label_lengths", "labels_length", "target_lengths", "letters_length"),
}

LETTERS = "_'ABCDEFGHIJKLMNOPQRSTUVWXYZ "
DEPTH = 6
"""Levels below a folder or an unpacked archive: LibriSpeech, its part, speaker and chapter, and two of the user's."""

ARCHIVE = "https://www.openslr.org/resources/12/train-clean-100.tar.gz"
CONFIGURATION = "all"
"""Of the data set at Hugging Face, which has the same parts as `clean` and `other` beside it."""
_NUMBERS = {letter: number for number, letter in enumerate(LETTERS)}


class Utterance(NamedTuple):
    """A piece of speech, read when it is used, with what is said in it."""

    name: str
    sound: Callable[[], Any]
    """Gives a file, or a file's bytes."""
    text: str


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return up to `count` utterances in an order from the seed; those that are too long are left out."""
    wanted = DeclaredArrays("librispeech", ROLES, size)
    _check(wanted)
    most, most_letters = wanted.entries("spectrogram"), wanted.entries("labels")
    if wanted.specs["spectrogram"].shape[0] == audio.SPECTROGRAM_BINS:
        most = wanted.specs["spectrogram"].shape[1]
    utterances, source = _utterances(location)
    frames: list[NDArray[np.float32]] = []
    letters: list[list[int]] = []
    for index in np.random.RandomState(seed).permutation(len(utterances)):
        said = numbers(utterances[index].text)
        if not 0 < len(said) <= most_letters:
            continue
        sound = sound_of(
            utterances[index].sound(),
            utterances[index].name,
            audio.SPECTROGRAM_RATE_HZ,
            audio.shortest(audio.SPECTROGRAM_WINDOW),
        )
        if 1 + len(sound) // audio.SPECTROGRAM_HOP > most:
            continue
        frames.append(audio.spectrogram(sound))
        letters.append(said)
        if len(frames) == count:
            break
    if not frames:
        msg = f"{source} has no utterance of at most {most} frames (10 ms each) and {most_letters} letters"
        raise UsageError(msg)
    return DataSet(source=source, train=wanted.batch(_arrays(wanted, frames, letters, most)))


def _check(wanted: DeclaredArrays) -> None:
    """Raise UsageError for spectrograms of other bins, or too few letters."""
    shape = wanted.specs["spectrogram"].shape if "spectrogram" in wanted else ()
    if audio.SPECTROGRAM_BINS not in shape[:2] or len(shape) - (shape[-1:] == (1,)) != 2:  # noqa: PLR2004 - two axes
        msg = f"librispeech gives spectrograms of {audio.SPECTROGRAM_BINS} bins; this workload takes them as {shape}"
        raise UsageError(msg)
    if wanted.below("labels") < len(LETTERS):
        msg = f"librispeech has {len(LETTERS)} letters; this workload's labels are below {wanted.below('labels')}"
        raise UsageError(msg)


def numbers(text: str) -> list[int]:
    """Return a text as numbers of letters; what is none of them is left out."""
    return [_NUMBERS[letter] for letter in text.upper() if letter in _NUMBERS and letter != LETTERS[0]]


def _arrays(
    wanted: DeclaredArrays, frames: list[NDArray[np.float32]], letters: list[list[int]], most: int
) -> dict[str, NDArray[Any]]:
    """Return all arrays by role; bins are the axis that the workload has them on."""
    spectrograms = padded(frames, most, dtype="float32")
    if wanted.specs["spectrogram"].shape[0] == audio.SPECTROGRAM_BINS:
        spectrograms = spectrograms.swapaxes(1, 2)
    most_letters = wanted.entries("labels")
    return {
        "spectrogram": spectrograms,
        "length": lengths_of(frames, most),
        "labels": padded(letters, most_letters),
        "label_length": lengths_of(letters, most_letters),
    }


def _utterances(location: str | None) -> tuple[list[Utterance], str]:
    """Return all utterances in the order of their names, and the source's name."""
    if location is None:
        return _of_files(downloaded("librispeech", ARCHIVE), "librispeech"), "librispeech train-clean-100"
    folder = existing("librispeech", location)
    source = f"librispeech:{location}"
    return (_of_rows(source, folder) if is_data_set(folder) else _of_files(folder, source)), source


def _of_files(folder: Path, source: str) -> list[Utterance]:
    """Return the utterances that the folder's transcripts tell of."""
    transcripts = files_below(folder, "*.trans.txt", depth=DEPTH)
    training = [
        file for file in transcripts if any(part.startswith("train") for part in file.relative_to(folder).parts)
    ]
    found: list[Utterance] = []
    for transcript in training or transcripts:
        for line in text_of(transcript).splitlines():
            name, _, text = line.partition(" ")
            file = transcript.parent / f"{name}.flac"
            if name:
                found.append(Utterance(str(file), lambda file=file: file, text))  # type: ignore[misc]
    if not found:
        msg = f"{source} has no transcripts; valid: SPEAKER/CHAPTER/*.trans.txt beside *.flac, or Parquet files"
        raise UsageError(msg)
    return found


def _training_of(source: str, splits: Any) -> Any:
    """Return all that is trained on: the split `train`, or those such as `train.clean.100`, one after another."""
    parts = [split for name, split in splits.items() if name.startswith("train.")]
    if "train" in splits or not parts:
        return split_of(source, splits, "train")
    return library("datasets", source).concatenate_datasets(parts)


def _of_rows(source: str, folder: Path) -> list[Utterance]:
    """Return the utterances of the split `train` of a data set."""
    split = _training_of(source, splits_of("librispeech", folder, CONFIGURATION))
    if not {"audio", "text"} <= set(split.column_names):
        msg = f"{source} has columns {', '.join(split.column_names)}; needed are audio and text"
        raise UsageError(msg)
    # The files' bytes: decoding is soundfile's, as it is for files.
    split = split.cast_column("audio", library("datasets", source).Audio(decode=False))
    texts = list(split["text"])
    return [
        Utterance(f"{source} row {row}", lambda row=row: split[row]["audio"]["bytes"], texts[row])  # type: ignore[misc]
        for row in range(len(split))
    ]
