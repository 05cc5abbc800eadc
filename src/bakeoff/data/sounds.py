"""Sound from files, by the library `soundfile`: FLAC, WAV and what else libsndfile reads."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

from bakeoff.data.reading import library
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from pathlib import Path

    import numpy as np
    from numpy.typing import NDArray


def sound_of(file: Path | bytes, name: str, rate_hz: int, shortest: int) -> NDArray[np.float32]:
    """Return a sound with one channel, from -1 to 1; raise UsageError for one of another rate, more channels or none.

    `shortest` is how many samples it needs at least.
    """
    soundfile = library("soundfile", "sound")
    if not isinstance(file, bytes) and not file.is_file():
        msg = f"{name} is not there"
        raise UsageError(msg)
    try:
        opened: Any = io.BytesIO(file) if isinstance(file, bytes) else str(file)
        sound, found_hz = soundfile.read(opened, dtype="float32", always_2d=True)
    except (soundfile.SoundFileError, OSError, RuntimeError) as error:
        msg = f"{name} cannot be read as sound: {error}"
        raise UsageError(msg) from error
    if found_hz != rate_hz or sound.shape[1] != 1:
        msg = f"{name} has {found_hz} Hz and {sound.shape[1]} channels; needed are {rate_hz} Hz and one channel"
        raise UsageError(msg)
    if len(sound) < shortest:
        msg = f"{name} has {len(sound)} samples; a frame needs {shortest}"
        raise UsageError(msg)
    mono: NDArray[np.float32] = sound[:, 0]
    return mono
