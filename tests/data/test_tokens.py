from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from bakeoff.data.tokens import BERT_SPECIALS, TEXT_SPECIALS, TRANSLATION_SPECIALS, vocabulary
from bakeoff.spec.errors import UsageError

LINES = [
    "The cat sat on the mat, and the dog ate the bread.",
    "A bird flew over the green house; the cat watched.",
    "Straße und Häuser: das Kind aß.",
] * 5


@pytest.fixture(autouse=True)
def tokenizers() -> None:
    """Skip where the library is not installed."""
    pytest.importorskip("tokenizers", reason="the extra 'data' is not installed: pip install 'bakeoff[data]'")


@pytest.mark.parametrize(
    ("kind", "specials", "most"),
    [("byte-pair", TEXT_SPECIALS, 300), ("byte-pair", TRANSLATION_SPECIALS, 300), ("WordPiece", BERT_SPECIALS, 120)],
)
def test_the_same_text_trains_the_same_vocabulary(kind, specials, most) -> None:
    """A vocabulary follows from its text alone: its hash, which stands in its name, is that of every number."""
    first, again = (vocabulary(kind, LINES, specials, most, None) for _ in range(2))
    assert first.name == again.name
    assert first.tokenizer.get_vocab() == again.tokenizer.get_vocab()
    assert [first.id(part) for part in specials] == list(range(len(specials)))
    assert first.size <= most
    assert f"{kind} vocabulary of {first.size} (trained here, tokenizers " in first.name
    other = vocabulary(kind, [*LINES, "something quite different, quite different"] * 2, specials, most, None)
    assert other.name != first.name


def test_byte_pairs_lose_nothing() -> None:
    """Over bytes, every text comes back as it was, whatever is in it."""
    found = vocabulary("byte-pair", LINES, TEXT_SPECIALS, 300, None)
    from tokenizers import decoders

    found.tokenizer.decoder = decoders.ByteLevel()
    text = "The cat  ate 字 and Straße."
    assert found.tokenizer.decode(found.ids([text])[0]) == text


def test_a_vocabulary_without_room_for_every_byte_has_the_commonest() -> None:
    """A workload at reduced size has fewer numbers than there are bytes: the others are its unknown part."""
    found = vocabulary("byte-pair", LINES, TRANSLATION_SPECIALS, 40, None)
    assert found.size == 40 == max(found.tokenizer.get_vocab().values()) + 1
    (common,) = found.ids(["the cat sat"])
    (rare,) = found.ids(["字 the"])
    unknown = found.id("<unk>")
    assert unknown not in common
    assert rare.count(unknown) == 3, "the bytes of one sign"
    again = vocabulary("byte-pair", LINES, TRANSLATION_SPECIALS, 40, None)
    assert found.tokenizer.get_vocab() == again.tokenizer.get_vocab()
    roomy = vocabulary("byte-pair", LINES, TRANSLATION_SPECIALS, 260, None)
    assert roomy.id("<unk>") not in roomy.ids(["字 the"])[0]


def test_word_pieces_know_no_capitals_and_have_an_unknown() -> None:
    """BERT's uncased form: capitals and accents are gone, a word of unknown letters is [UNK], and ## begins no word."""
    found = vocabulary("WordPiece", LINES, BERT_SPECIALS, 120, None)
    assert found.ids(["THE Cat häuser"]) == found.ids(["the cat hauser"])
    assert found.ids(["字"]) == [[found.id("[UNK]")]]
    assert found.id("##a") not in found.ids(["b##a"])[0], "what only the training took as special"


def test_files_are_read(tmp_path: Path) -> None:
    """A folder's own vocabulary is taken in each of its forms, and named by its folder."""
    trained = vocabulary("byte-pair", LINES, TEXT_SPECIALS, 300, None)
    trained.tokenizer.save(str(tmp_path / "tokenizer.json"))
    whole = vocabulary("byte-pair", [], TEXT_SPECIALS, 300, tmp_path)
    (tmp_path / "gpt2").mkdir()
    trained.tokenizer.model.save(str(tmp_path / "gpt2"))
    parts = vocabulary("byte-pair", [], TEXT_SPECIALS, 300, tmp_path / "gpt2")
    assert whole.ids(LINES) == parts.ids(LINES) == trained.ids(LINES)
    assert f"(of {tmp_path}, sha256 " in whole.name
    words = vocabulary("WordPiece", LINES, BERT_SPECIALS, 120, None)
    (tmp_path / "bert").mkdir()
    words.tokenizer.model.save(str(tmp_path / "bert"))
    assert vocabulary("WordPiece", [], BERT_SPECIALS, 120, tmp_path / "bert").ids(LINES) == words.ids(LINES)


def test_a_file_keeps_no_length_of_texts(tmp_path: Path) -> None:
    """A tokenizer that was saved to cut and fill up texts neither cuts nor fills up ours."""
    trained = vocabulary("byte-pair", LINES, TEXT_SPECIALS, 300, None)
    wanted = trained.ids(LINES)
    trained.tokenizer.enable_truncation(8)
    trained.tokenizer.enable_padding(length=200)
    trained.tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert vocabulary("byte-pair", [], TEXT_SPECIALS, 300, tmp_path).ids(LINES) == wanted


def test_a_vocabulary_is_taken_as_it_is(tmp_path: Path) -> None:
    """Word pieces with capitals keep the text's, as in BERT's cased form; a file of another kind is called so."""
    (tmp_path / "vocab.txt").write_text("\n".join([*BERT_SPECIALS, "The", "the", "Berlin", "h", "##ä", ""]))
    found = vocabulary("WordPiece", [], BERT_SPECIALS, 20, tmp_path)
    assert found.ids(["The Berlin the hä"]) == [[found.id(part) for part in ("The", "Berlin", "the", "h", "##ä")]]
    trained = vocabulary("byte-pair", LINES, BERT_SPECIALS, 300, None)
    trained.tokenizer.save(str(tmp_path / "tokenizer.json"))
    assert vocabulary("WordPiece", [], BERT_SPECIALS, 300, tmp_path).name.startswith("byte-pair vocabulary of ")


def test_vocabularies_that_do_not_fit(tmp_path: Path) -> None:
    """One that is larger than the embedding, lacks a mark, or is no vocabulary is told by its folder."""
    (tmp_path / "vocab.txt").write_text("[PAD]\n[UNK]\nthe\ncat\n")
    with pytest.raises(UsageError, match=r"numbers its parts up to 3; this workload takes numbers below 3"):
        vocabulary("WordPiece", [], BERT_SPECIALS, 3, tmp_path)
    found = vocabulary("WordPiece", [], BERT_SPECIALS, 4, tmp_path)
    with pytest.raises(UsageError, match=r"has no '\[MASK\]'"):
        found.id("[MASK]")
    (tmp_path / "tokenizer.json").write_text(json.dumps({"version": "1.0"}))
    with pytest.raises(UsageError, match=r"the vocabulary in .* cannot be read.*merges\.txt"):
        vocabulary("WordPiece", [], BERT_SPECIALS, 4, tmp_path)


def test_missing_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the library the user is told how to install it."""
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(UsageError, match=r"tokenizers.*pip install 'bakeoff\[data\]'"):
        vocabulary("WordPiece", [], BERT_SPECIALS, 4, None)
