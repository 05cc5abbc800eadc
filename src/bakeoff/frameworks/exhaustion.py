"""Errors by which a framework says that memory is exhausted, as data: a table in each framework's folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable


class Sign(NamedTuple):
    """One form in which exhausted memory shows: an error of this type, or a subtype, whose text holds the words."""

    kind: type[BaseException]
    words: str = ""
    """Empty: the type says it."""
    sure: bool = True
    """False: the same words have other causes, too. They count where the device was nearly full, or where the same step
    ran with fewer samples."""


def is_sure(signs: Iterable[Sign], error: BaseException) -> bool:
    """Return whether an error can be nothing but exhausted memory."""
    return any(sign.sure for sign in _met(signs, error))


def is_likely(signs: Iterable[Sign], error: BaseException) -> bool:
    """Return whether an error may be exhausted memory, or something else."""
    return any(not sign.sure for sign in _met(signs, error))


def _met(signs: Iterable[Sign], error: BaseException) -> list[Sign]:
    """Return the signs that an error has."""
    return [sign for sign in signs if isinstance(error, sign.kind) and sign.words in str(error)]
