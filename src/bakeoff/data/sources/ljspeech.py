"""LJSpeech, one voice reading: letters and mel spectrograms, for Tacotron 2.

`ljspeech` fetches it (2.6 GB) from its author's site; `ljspeech:/path` takes the folder as it is unpacked, with
`metadata.csv` and `wavs/`.

Letters are the symbols of NVIDIA's Tacotron 2, `symbols.py`: a pad, a dash, ten marks, capitals and small letters,
numbers 0 to 63 of 148; the other 84 are sounds of words (ARPAbet), which plain text does not have. Where a workload has
fewer symbols, but 38, capitals are made small. Texts are the third column, in which numbers are written out.
"""

from __future__ import annotations

import unicodedata
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from bakeoff.data import audio
from bakeoff.data.dataset import DataSet
from bakeoff.data.reading import downloaded, existing, text_of
from bakeoff.data.roles import DeclaredArrays, Roles, lengths_of, padded
from bakeoff.data.sounds import sound_of
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    from numpy.typing import NDArray

    from bakeoff.spec.workload import Size

ROLES: Roles = {
    "characters": ("text", "ids", "letters"),
    "characters_length": ("text_length", "length", "lengths", "characters_lengths", "input_lengths"),
    "mels_in": ("mel_in", "frames_in", "previous_mels"),
    "mels": ("mel", "frames", "targets", "mel_frames"),
    "mels_length": ("mel_length", "frames_length", "mel_lengths", "output_lengths"),
    "stop": ("gate", "stops", "stop_targets"),
}
"""`mels_in` are the frames that the decoder is given: those of `mels`, one later, after one of zeros."""

ARCHIVE = "http://data.keithito.com/data/speech/LJSpeech-1.1.tar.bz2"
_SMALL = "abcdefghijklmnopqrstuvwxyz"
_MARKS = "_-!'(),.:;? "
SYMBOLS = _MARKS + _SMALL.upper() + _SMALL
FEW_SYMBOLS = _MARKS + _SMALL
_COLUMNS = 3


class Recording(NamedTuple):
    """A file of sound with what is read in it."""

    file: Path
    text: str


def load(size: Size, count: int, seed: int, location: str | None) -> DataSet:
    """Return up to `count` readings in an order from the seed; those that are too long are left out."""
    wanted = DeclaredArrays("ljspeech", ROLES, size)
    symbols = _symbols(wanted)
    most, most_frames = wanted.entries("characters"), wanted.entries("mels")
    mels = wanted.specs["mels"].shape[-1]
    readings, source = _readings(location)
    spoken: list[list[int]] = []
    frames: list[NDArray[np.float32]] = []
    for index in np.random.RandomState(seed).permutation(len(readings)):
        reading = readings[index]
        letters = numbers(reading.text, symbols)
        if not 0 < len(letters) <= most:
            continue
        sound = sound_of(reading.file, str(reading.file), audio.MEL_RATE_HZ, audio.shortest(audio.MEL_WINDOW))
        if 1 + len(sound) // audio.MEL_HOP > most_frames:
            continue
        spoken.append(letters)
        frames.append(audio.mel_spectrogram(sound, mels))
        if len(frames) == count:
            break
    if not frames:
        msg = f"{source} has no reading of at most {most} letters and {most_frames} frames (11.6 ms each)"
        raise UsageError(msg)
    name = f"{source} ({mels} mels, 0 to 8000 Hz, Slaney's scale)"
    return DataSet(source=name, train=wanted.batch(_arrays(spoken, frames, most, most_frames)))


def _arrays(
    spoken: list[list[int]], frames: list[NDArray[np.float32]], most: int, most_frames: int
) -> dict[str, NDArray[Any]]:
    """Return all arrays by role; padding is zeros, as in NVIDIA's `data_function.py`, and stop is 1 in it, too."""
    mels, lengths = padded(frames, most_frames, dtype="float32"), lengths_of(frames, most_frames)
    return {
        "characters": padded(spoken, most),
        "characters_length": lengths_of(spoken, most),
        "mels_in": np.concatenate([np.zeros_like(mels[:, :1]), mels[:, :-1]], axis=1),
        "mels": mels,
        "mels_length": lengths,
        "stop": (np.arange(most_frames) >= lengths[:, np.newaxis] - 1).astype(np.float32),
    }


def _symbols(wanted: DeclaredArrays) -> str:
    """Return the symbols that fit the workload's embedding."""
    below = wanted.below("characters")
    for symbols in (SYMBOLS, FEW_SYMBOLS):
        if below >= len(symbols):
            return symbols
    msg = f"ljspeech has {len(FEW_SYMBOLS)} symbols at least; this workload takes numbers below {below}"
    raise UsageError(msg)


def numbers(text: str, symbols: str) -> list[int]:
    """Return a text as numbers of symbols; accents are dropped, and what is no symbol is left out."""
    plain = unicodedata.normalize("NFKD", text)
    plain = plain if symbols == SYMBOLS else plain.lower()
    return [symbols.index(letter) for letter in plain if letter in symbols and letter != symbols[0]]


def _readings(location: str | None) -> tuple[list[Recording], str]:
    """Return all readings in the order of the list, and the source's name."""
    if location is None:
        folder, source = downloaded("ljspeech", ARCHIVE) / "LJSpeech-1.1", "ljspeech 1.1"
    else:
        folder, source = existing("ljspeech", location), f"ljspeech:{location}"
    if not (folder / "metadata.csv").is_file():
        msg = f"{source} has no metadata.csv; valid: the folder LJSpeech-1.1 as it is unpacked"
        raise UsageError(msg)
    rows = [line.split("|") for line in text_of(folder / "metadata.csv").splitlines() if line.strip()]
    for number, row in enumerate(rows, start=1):
        if len(row) != _COLUMNS:
            msg = f"{folder / 'metadata.csv'}:{number}: {len(row)} columns; needed are name|text|text as it is read"
            raise UsageError(msg)
    return [Recording(folder / "wavs" / f"{name}.wav", text) for name, _, text in rows], source
