"""What looks like a key: no script holds one, since scripts are kept, copied and read by others."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from bakeoff.spec.errors import UsageError
from bakeoff.spec.keys import ISSUED

if TYPE_CHECKING:
    from collections.abc import Iterable

_NAMED = re.compile(
    r"(?i)\b[\w-]*(?:api[_-]?key|access[_-]?key|token|secret|passw(?:or)?d|passphrase|credential)s?(?![A-Za-z])[\w-]*"
    r"(?:\s*[=:]\s*|\s+)['\"]?(?![$'\"\s])\S+"
)
"""A value behind a name that says what it is, as a tokenizer's does not; what a variable holds ($NAME) is not in the
text."""

_ISSUED = re.compile(rf"(?<![\w/.-]){ISSUED}(?![\w/.-])")
"""A key by the form that its issuer gives it; no part of a path, since folders are called by the hashes of commits."""


def looks_like_a_key(text: str) -> bool:
    """Return whether a text holds what looks like a key or a password."""
    return bool(_NAMED.search(text) or _ISSUED.search(text))


def check_no_keys(texts: Iterable[str], where: str) -> None:
    """Raise UsageError for a text that looks like a key; the message names the place, and not the key.

    `where` is what the texts are, such as "setup line".
    """
    for number, text in enumerate(texts, 1):
        if looks_like_a_key(text):
            msg = (
                f"{where} {number} holds what looks like a key, and whoever reads the script would have it: set it as "
                "a variable of your environment, which sbatch hands on, or in a file that the line reads"
            )
            raise UsageError(msg)
