"""Every shipped workload gets its batches from every source of text or speech that it names, at reduced size."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from bakeoff import data
from bakeoff.trial.inputs import Batches
from bakeoff.workloads import load
from bakeoff.workloads.interpreter import check_model

NEEDS = "the extra 'data' is not installed: pip install 'bakeoff[data]'"
WORDS = ("good", "bad", "film", "long", "short", "seen", "the", "a", "and", "was")


def sentence(stream: np.random.RandomState, words: int) -> str:
    """Draw a sentence."""
    return " ".join(stream.choice(WORDS, words)) + " ."


def imdb(folder: Path, stream: np.random.RandomState) -> None:
    """Write reviews."""
    for index in range(12):
        file = folder / "train" / ("pos" if index % 2 else "neg") / f"{index}_1.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(sentence(stream, 3 + index))


def wikitext(folder: Path, stream: np.random.RandomState) -> None:
    """Write articles."""
    pytest.importorskip("tokenizers", reason=NEEDS)
    lines = []
    for article in range(20):
        lines += [f" = Article {article} = ", *(" ".join(sentence(stream, 4) for _ in range(4)) for _ in range(20))]
    (folder / "wiki.train.raw").write_text("\n".join(lines))


def wmt16(folder: Path, stream: np.random.RandomState) -> None:
    """Write pairs of sentences, with a small vocabulary of their words, as an own one may be."""
    tokenizers = pytest.importorskip("tokenizers", reason=NEEDS)
    parts = ["<pad>", "<unk>", "<s>", "</s>", ".", *WORDS]
    model = tokenizers.models.WordLevel(vocab={part: number for number, part in enumerate(parts)}, unk_token=parts[1])
    words = tokenizers.Tokenizer(model)
    words.pre_tokenizer = tokenizers.pre_tokenizers.WhitespaceSplit()
    words.save(str(folder / "tokenizer.json"))
    for language in ("en", "de"):
        (folder / f"train.{language}").write_text("\n".join(sentence(stream, 3 + index % 6) for index in range(40)))


def librispeech(folder: Path, stream: np.random.RandomState) -> None:
    """Write short utterances."""
    soundfile = pytest.importorskip("soundfile", reason=NEEDS)
    chapter = folder / "train-clean-100" / "1" / "2"
    chapter.mkdir(parents=True)
    for index in range(8):
        samples = 0.1 * stream.standard_normal(8000 + 800 * index)
        soundfile.write(chapter / f"1-2-{index:04}.flac", samples, 16_000)
    (chapter / "1-2.trans.txt").write_text("".join(f"1-2-{index:04} AN A{'B' * index}\n" for index in range(8)))


def ljspeech(folder: Path, stream: np.random.RandomState) -> None:
    """Write short readings."""
    soundfile = pytest.importorskip("soundfile", reason=NEEDS)
    (folder / "wavs").mkdir()
    for index in range(8):
        soundfile.write(folder / "wavs" / f"LJ{index}.wav", 0.1 * stream.standard_normal(2000 + 300 * index), 22_050)
    (folder / "metadata.csv").write_text("".join(f"LJ{index}|a|A, b{'c' * index}\n" for index in range(8)))


WRITTEN = {one.__name__: one for one in (imdb, wikitext, wmt16, librispeech, ljspeech)}
TAKEN = [(name, source) for name in load.names() for source in load.load(name).workload.data if source in WRITTEN]


@pytest.mark.parametrize(("name", "source"), TAKEN)
def test_every_source_of_a_workload_fits_it(name: str, source: str, tmp_path: Path) -> None:
    """From small files in the source's own format come batches by the workload's names, in both of its paddings.

    The model is run over every shape of batches that there is.
    """
    WRITTEN[source](tmp_path, np.random.RandomState(0))
    loaded = load.load(name)
    size = msgspec.structs.replace(loaded.size("reduced"), batch_size=2)
    paddings = ["fixed", "longest"] if size.sample.varying else ["fixed"]
    for padding in paddings:
        out = tmp_path / padding
        inputs = data.prepare(f"{source}:{tmp_path}", loaded.workload, size, 2, 0, out, padding=padding)
        batch = Batches(out).at(0)
        for array, spec in size.sample.arrays.items():
            found = batch.arrays[array]
            assert found.dtype == spec.dtype
            assert found.ndim == 1 + len(spec.shape)
            if spec.high is not None:
                assert found.max() < spec.high
        for sequence, spec in size.sample.varying.items():
            assert batch.arrays[sequence].shape[1 + spec.along] >= batch.arrays[spec.length].max()
        for entries in inputs.shapes():
            for scenario in loaded.workload.scenarios:
                check_model(loaded, size, scenario, entries)


def test_every_source_of_text_and_speech_is_taken() -> None:
    """No source is without a workload."""
    assert {source for _, source in TAKEN} == set(WRITTEN)


def test_synthetic_sequences_may_be_cut(tmp_path: Path) -> None:
    """Every shipped workload whose samples have lengths can be run on buckets of them."""
    cut: dict[str, Any] = {}
    for name in load.names():
        loaded = load.load(name)
        size = loaded.size("reduced")
        if not size.sample.varying:
            continue
        inputs = data.prepare("synthetic", loaded.workload, size, 2, 0, tmp_path / name, padding="buckets:3")
        for entries in {repr(one): one for one in inputs.shapes()}.values():
            check_model(loaded, msgspec.structs.replace(size, batch_size=2), loaded.workload.scenarios[0], entries)
        cut[name] = inputs.sequences
    assert {"gnmt", "deepspeech2", "tacotron2", "text-transformer"} <= set(cut)
