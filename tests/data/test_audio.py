from __future__ import annotations

import numpy as np
import pytest
from scipy.signal import ShortTimeFFT
from scipy.signal.windows import hamming, hann

from bakeoff.data import audio

NOISE = (0.1 * np.random.RandomState(0).standard_normal(16_001)).astype(np.float32)


@pytest.mark.parametrize(
    ("ours", "theirs", "hop"),
    [(audio.hamming(320), hamming(320, sym=False), 160), (audio.hann(1024), hann(1024, sym=False), 256)],
)
def test_magnitudes_are_those_of_scipy(ours: np.ndarray, theirs: np.ndarray, hop: int) -> None:
    """Windows and magnitudes are those of SciPy's own short-time Fourier transform, frame by frame."""
    np.testing.assert_allclose(ours, theirs, atol=1e-15)
    found = audio.magnitudes(NOISE, ours, hop)
    frames = 1 + len(NOISE) // hop
    half = len(ours) // 2
    mirrored = np.pad(NOISE.astype(np.float64), half, mode="reflect")
    transform = ShortTimeFFT(theirs, hop, fs=1.0)
    # SciPy's frame i is centred at sample i * hop of what it is given: ours begin after the mirrored half.
    wanted = np.abs(transform.stft(np.roll(mirrored, -half), p0=0, p1=frames)).T
    inner = slice(len(ours) // hop + 1, -(len(ours) // hop + 1))
    assert found.shape == (frames, len(ours) // 2 + 1)
    np.testing.assert_allclose(found[inner], wanted[inner], atol=1e-10)


def test_ends_are_mirrored() -> None:
    """The first frame is that of the sound before itself, mirrored at its first sample."""
    window = audio.hann(8)
    sound = np.arange(20, dtype=np.float32)
    wanted = np.abs(np.fft.rfft(np.array([4, 3, 2, 1, 0, 1, 2, 3]) * window))
    np.testing.assert_allclose(audio.magnitudes(sound, window, 4)[0], wanted, atol=1e-12)


def test_a_tone_is_in_its_bin() -> None:
    """A sine of 1 kHz has its largest magnitude in bin 20 of 161, each 50 Hz wide, in every whole frame."""
    times_s = np.arange(16_000) / audio.SPECTROGRAM_RATE_HZ
    found = audio.spectrogram(np.sin(2 * np.pi * 1000 * times_s).astype(np.float32))
    assert found.shape == (101, 161)
    assert found.dtype == np.float32
    assert set(found[1:-1].argmax(axis=1)) == {20}


def test_spectrograms_are_normalised_and_silence_is_zero() -> None:
    """All numbers of a spectrogram together have mean 0 and deviation 1; of silence nothing is made."""
    found = audio.spectrogram(NOISE)
    assert found.mean() == pytest.approx(0.0, abs=1e-5)
    assert found.std(ddof=1) == pytest.approx(1.0, abs=1e-5)
    assert not audio.spectrogram(np.zeros(1000, np.float32)).any()


def test_louder_sound_is_another_spectrogram() -> None:
    """The logarithm is that of one more than the magnitude: normalising does not take loudness out."""
    assert np.abs(audio.spectrogram(NOISE) - audio.spectrogram(10 * NOISE)).max() > 0.1


@pytest.mark.parametrize(
    ("mel", "peak_bin", "peak", "area", "bins"),
    [
        (0, 2, 0.0226513902105538, 0.0453027804211076, 3),
        (20, 36, 0.021929630166418027, 0.045302780421107566, 4),
        (40, 80, 0.014895469891453626, 0.046545247284975895, 7),
        (79, 358, 0.003265992825300361, 0.04641479418463011, 27),
    ],
)
def test_mel_filters_are_librosas(mel: int, peak_bin: int, peak: float, area: float, bins: int) -> None:
    """Filters are those of librosa 0.11: filters.mel(sr=22050, n_fft=1024, n_mels=80, fmin=0, fmax=8000, float64)."""
    found = audio.mel_filters(22_050, 1024, 80, 0.0, 8000.0)
    assert found.shape == (80, 513)
    assert int(found[mel].argmax()) == peak_bin
    assert found[mel].max() == pytest.approx(peak, rel=1e-12)
    assert found[mel].sum() == pytest.approx(area, rel=1e-12)
    assert int((found[mel] > 0).sum()) == bins


def test_mel_spectrogram_of_a_tone_and_of_silence() -> None:
    """A sine is strongest in the mel whose triangle is highest there; silence is the logarithm of 1e-5."""
    times_s = np.arange(22_050) / audio.MEL_RATE_HZ
    found = audio.mel_spectrogram(np.sin(2 * np.pi * 3000 * times_s).astype(np.float32))
    filters = audio.mel_filters(22_050, 1024, 80, 0.0, 8000.0)
    assert found.shape == (87, 80)
    assert set(found[2:-2].argmax(axis=1)) == {int(filters[:, round(3000 * 1024 / 22_050)].argmax())}
    np.testing.assert_allclose(audio.mel_spectrogram(np.zeros(2000, np.float32)), np.log(1e-5), rtol=1e-6)
