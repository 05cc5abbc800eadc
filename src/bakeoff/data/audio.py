"""From sound to what speech models take, in NumPy, the same for every framework: spectrograms and mel spectrograms.

Frames are centred: frame i is the window around sample i * hop, and the ends of the sound are mirrored. Windows are
periodic (their first sample is repeated by none), as `librosa.stft` has them by default.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPECTROGRAM_RATE_HZ = 16_000
"""LibriSpeech's."""
SPECTROGRAM_WINDOW, SPECTROGRAM_HOP = 320, 160
"""20 ms and 10 ms at 16 kHz: deepspeech.pytorch, `data_loader.py`."""
SPECTROGRAM_BINS = SPECTROGRAM_WINDOW // 2 + 1

MEL_RATE_HZ = 22_050
"""LJSpeech's."""
MEL_WINDOW, MEL_HOP, MEL_LOW_HZ, MEL_HIGH_HZ = 1024, 256, 0.0, 8000.0
"""NVIDIA's Tacotron 2, `arg_parser.py`."""
_SILENCE = 1e-5  # below which a mel's logarithm is cut: the same, `audio_processing.py`

# Slaney's scale (Auditory Toolbox, Interval TR 1998-010): linear below 1 kHz, logarithmic above.
_HZ_PER_MEL = 200.0 / 3.0
_CORNER_HZ = 1000.0
_CORNER_MEL = _CORNER_HZ / _HZ_PER_MEL
_LOG_STEP = np.log(6.4) / 27.0


def magnitudes(sound: NDArray[np.float32], window: NDArray[np.float64], hop: int) -> NDArray[np.float64]:
    """Return the magnitudes of the short-time Fourier transform, (1 + samples // hop, window // 2 + 1).

    `sound` has one channel, its samples are from -1 to 1; it has more samples than half a window.
    """
    half = len(window) // 2
    padded = np.pad(sound.astype(np.float64), half, mode="reflect")
    frames = sliding_window_view(padded, len(window))[::hop]
    spectrum: NDArray[np.float64] = np.abs(np.fft.rfft(frames * window, axis=-1))
    return spectrum


def shortest(window: int) -> int:
    """Return the fewest samples of a sound whose ends can be mirrored for windows of this length."""
    return window // 2 + 1


def hamming(samples: int) -> NDArray[np.float64]:
    """Return the periodic Hamming window."""
    return 0.54 - 0.46 * np.cos(2.0 * np.pi * np.arange(samples) / samples)


def hann(samples: int) -> NDArray[np.float64]:
    """Return the periodic Hann window."""
    return 0.5 - 0.5 * np.cos(2.0 * np.pi * np.arange(samples) / samples)


def spectrogram(sound: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return Deep Speech 2's input of a sound at 16 kHz, (frames, 161): log(1 + magnitude), normalised as a whole.

    By the mean and the standard deviation (of the sample, with n - 1) of all its numbers: deepspeech.pytorch,
    `data_loader.py`. A silent sound, which has no deviation, is left at 0.
    """
    levels = np.log1p(magnitudes(sound, hamming(SPECTROGRAM_WINDOW), SPECTROGRAM_HOP))
    deviation = float(levels.std(ddof=1))
    normalised: NDArray[np.float64] = (levels - levels.mean()) / (deviation if deviation > 0.0 else 1.0)
    return normalised.astype(np.float32)


def mel_spectrogram(sound: NDArray[np.float32], mels: int = 80) -> NDArray[np.float32]:
    """Return Tacotron 2's target of a sound at 22.05 kHz, (frames, mels): the logarithm of filtered magnitudes."""
    filters = mel_filters(MEL_RATE_HZ, MEL_WINDOW, mels, MEL_LOW_HZ, MEL_HIGH_HZ)
    filtered = magnitudes(sound, hann(MEL_WINDOW), MEL_HOP) @ filters.T
    levels: NDArray[np.float64] = np.log(np.maximum(filtered, _SILENCE))
    return levels.astype(np.float32)


def mel_filters(rate_hz: int, window: int, mels: int, low_hz: float, high_hz: float) -> NDArray[np.float64]:
    """Return triangles over the bins of a spectrum, (mels, window // 2 + 1), on Slaney's scale, each of area 1 Hz."""
    corners_hz = _mel_to_hz(np.linspace(_hz_to_mel(low_hz), _hz_to_mel(high_hz), mels + 2))
    bins_hz = np.arange(window // 2 + 1) * rate_hz / window
    left, peak, right = (corners_hz[start : start + mels, np.newaxis] for start in range(3))
    rising, falling = (bins_hz - left) / (peak - left), (right - bins_hz) / (right - peak)
    triangles = np.maximum(0.0, np.minimum(rising, falling))
    filters: NDArray[np.float64] = triangles * (2.0 / (right - left))
    return filters


def _hz_to_mel(frequency_hz: float) -> float:
    """Return a frequency on Slaney's scale."""
    if frequency_hz < _CORNER_HZ:
        return frequency_hz / _HZ_PER_MEL
    return float(_CORNER_MEL + np.log(frequency_hz / _CORNER_HZ) / _LOG_STEP)


def _mel_to_hz(mel: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return frequencies in Hz."""
    above = _CORNER_HZ * np.exp(_LOG_STEP * (np.maximum(mel, _CORNER_MEL) - _CORNER_MEL))
    return np.where(mel < _CORNER_MEL, mel * _HZ_PER_MEL, above)
