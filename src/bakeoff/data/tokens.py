"""Vocabularies of parts of words, by the library `tokenizers`: read from a folder, or trained on the text itself."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from bakeoff.data.reading import library
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

Kind = Literal["byte-pair", "WordPiece"]

BERT_SPECIALS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
"""Of google-research/bert; what pads is number 0."""
TRANSLATION_SPECIALS = ("<pad>", "<unk>", "<s>", "</s>")
"""Numbers 0 to 3, as in NVIDIA's GNMT, `seq2seq/data/config.py`."""
TEXT_SPECIALS = ("<|endoftext|>",)
"""GPT-2's, which stands between documents."""

FILES = "tokenizer.json, vocab.txt (WordPiece), or vocab.json with merges.txt (byte-pair)"

_MOST_LINES = 1_000_000
"""To train on: of all of WMT16's 4.5 million pairs the vocabulary would hardly differ, and take minutes."""

_UNKNOWN = "[UNK]"
_UNKNOWN_BYTE = "<unk>"
_INSIDE = "##"  # before a part that does not begin a word


class SubwordVocabulary(NamedTuple):
    """Parts of words with their numbers."""

    tokenizer: Any
    """A `tokenizers.Tokenizer`."""
    size: int
    name: str
    """What it is and where it is from, with the start of its SHA-256."""

    def ids(self, texts: Sequence[str]) -> list[list[int]]:
        """Return the numbers of each text's parts; nothing is put before, between or after them."""
        return [encoding.ids for encoding in self.tokenizer.encode_batch(list(texts), add_special_tokens=False)]

    def id(self, part: str) -> int:
        """Return the number of one part; raise UsageError where the vocabulary lacks it."""
        found = self.tokenizer.token_to_id(part)
        if found is None:
            msg = f"{self.name} has no {part!r}, which the data needs; take a vocabulary that has it, or none"
            raise UsageError(msg)
        return int(found)


def vocabulary(
    kind: Kind, texts: Iterable[str], specials: Sequence[str], most: int, folder: Path | None
) -> SubwordVocabulary:
    """Return the vocabulary in a folder's files, or where there are none, one trained on the texts.

    `most` is how many parts it may have: the workload's embedding. `specials` get the first numbers where it is
    trained; where "<unk>" is one, it stands for the bytes that no number is left for. Raises UsageError for
    files that cannot be read, or a vocabulary that is too large.
    """
    tokenizers = library("tokenizers", "text")
    read = _read(tokenizers, kind, folder) if folder is not None else None
    trained = read is None
    tokenizer = read or _trained(tokenizers, kind, texts, specials, most)
    # A file may have been saved with a length that its own model's texts are cut and filled up to.
    tokenizer.no_truncation()
    tokenizer.no_padding()
    size = tokenizer.get_vocab_size()
    parts = sorted(tokenizer.get_vocab().items(), key=lambda part: part[1])
    digest = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:12]
    lacks_bytes = trained and tokenizer.model.unk_token == _UNKNOWN_BYTE
    some = ", of the commonest bytes" if lacks_bytes else ""
    origin = f"trained here{some}, tokenizers {tokenizers.__version__}" if trained else f"of {folder}"
    name = f"{_kind_of(tokenizer)} vocabulary of {size:,} ({origin}, sha256 {digest})"
    highest = parts[-1][1] + 1 if parts else 0
    if highest > most:
        msg = f"{name} numbers its parts up to {highest - 1}; this workload takes numbers below {most}"
        raise UsageError(msg)
    return SubwordVocabulary(tokenizer, size, name)


def _kind_of(tokenizer: Any) -> str:
    """Return what a vocabulary is, which a file may decide otherwise than was asked for."""
    name = type(tokenizer.model).__name__
    return {"BPE": "byte-pair"}.get(name, name)


def _read(tokenizers: Any, kind: Kind, folder: Path) -> Any:
    """Return the tokenizer of a folder's files; None where it has none."""
    whole, words = folder / "tokenizer.json", folder / "vocab.txt"
    parts, merges = folder / "vocab.json", folder / "merges.txt"
    try:
        if whole.is_file():
            return tokenizers.Tokenizer.from_file(str(whole))
        if kind == "WordPiece" and words.is_file():
            return _word_pieces(tokenizers, tokenizers.models.WordPiece.read_file(str(words)))
        if kind == "byte-pair" and parts.is_file() and merges.is_file():
            return _byte_pairs(tokenizers, *tokenizers.models.BPE.read_file(str(parts), str(merges)))
    except Exception as error:  # the library raises plain Exceptions
        msg = f"the vocabulary in {folder} cannot be read: {error}; valid files: {FILES}"
        raise UsageError(msg) from error
    return None


def _trained(tokenizers: Any, kind: Kind, texts: Iterable[str], specials: Sequence[str], most: int) -> Any:
    """Train a tokenizer; the same texts give the same one."""
    lines = [line for line, _ in zip(texts, range(_MOST_LINES), strict=False)]
    if kind == "byte-pair":
        tokenizer = _byte_pairs(tokenizers, {}, [])
        alphabet = tokenizers.pre_tokenizers.ByteLevel.alphabet()
        room = most - len(specials)
        if len(alphabet) > room > 0 and _UNKNOWN_BYTE in specials:
            alphabet = _commonest(tokenizer.pre_tokenizer, lines, room)
            tokenizer.model.unk_token = _UNKNOWN_BYTE
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=most,
            special_tokens=list(specials),
            initial_alphabet=alphabet,
            limit_alphabet=len(alphabet),
            show_progress=False,
        )
        tokenizer.train_from_iterator(lines, trainer)
        return tokenizer
    # The library numbers the letters inside of words as a hash table has them, differently each time; those that are
    # special to the trainer keep their order. They are no longer special in what is made of the result.
    normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)
    letters = sorted({letter for line in lines for letter in normalizer.normalize_str(line) if not letter.isspace()})
    tokenizer = _word_pieces(tokenizers, {_UNKNOWN: 0})
    trainer = tokenizers.trainers.WordPieceTrainer(
        vocab_size=most, special_tokens=[*specials, *(_INSIDE + letter for letter in letters)], show_progress=False
    )
    tokenizer.train_from_iterator(lines, trainer)
    vocabulary = tokenizer.get_vocab()
    made = _word_pieces(tokenizers, vocabulary)
    made.add_special_tokens([part for part in specials if part in vocabulary])
    return made


def _commonest(pre_tokenizer: Any, lines: Iterable[str], room: int) -> list[str]:
    """Return at most so many bytes, as the library writes them, that are in the lines: the commonest.

    A workload at reduced size may have numbers for fewer than the 256 that there are; the others are unknown.
    """
    letters = Counter(letter for line in lines for letter in line)
    counts: Counter[str] = Counter()
    for letter, count in letters.items():
        for part, _ in pre_tokenizer.pre_tokenize_str(letter):
            counts.update(dict.fromkeys(part, count))
    return sorted(sorted(counts, key=lambda byte: (-counts[byte], byte))[:room])


def _byte_pairs(tokenizers: Any, parts: dict[str, int], merges: list[tuple[str, str]]) -> Any:
    """Return GPT-2's way of byte pairs: over bytes, spaces belonging to the word after them."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE(vocab=parts, merges=merges))
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    return tokenizer


def _word_pieces(tokenizers: Any, parts: dict[str, int]) -> Any:
    """Return BERT's way of word pieces; without capitals and accents unless a part, which is no mark, has capitals."""
    has_capitals = any(part != part.lower() for part in parts if not part.startswith("["))
    tokenizer = tokenizers.Tokenizer(tokenizers.models.WordPiece(vocab=parts, unk_token=_UNKNOWN))
    tokenizer.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=not has_capitals)
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()
    return tokenizer
