"""What looks like a key: by its issuer's form, or by its name; refused in scripts, left out of reports."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

ISSUED = (
    r"(?:(?:hf_|gh[pousr]_|github_pat_|gl(?:pat|dt|rt)-|xox[a-z]-|xapp-|sk-|AIza|eyJ|ya29\.|nvapi-|pypi-AgE|dckr_pat_"
    r"|wandb_v\d+_)[\w.-]{16,}"
    r"|A[KS]IA[0-9A-Z]{16,}"
    r"|local-[0-9A-Za-z]{16,}"
    r"|[0-9a-f]{40})"
)
"""A part of a regular expression, without what may stand beside it: Hugging Face, GitHub, GitLab, Slack, OpenAI,
Google, web tokens, NVIDIA, PyPI, Docker, Weights & Biases (also 40 hexadecimal digits), Amazon (AKIA stays, ASIA is for
hours)."""

_OPTION = (
    r"--?(?i:[\w-]*(?:key|token|secret|password|passwd|passphrase|credentials?)"
    r"|(?:[\w-]*[_-])?(?:auth|bearer|cookie|pass|pat|pwd))"
)
_VARIABLE = r"[A-Z][A-Z0-9_]*(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|_PAT|_PASS)"
_FIELD = r"(?i:(?:\w+_)?(?:api_?key|access_?key|secret_?key|token|secret|password|passwd))"

_VALUE = r"""(?:"(?:[^"\\]|\\.)*"|'[^']*'|[^\s'"])+"""
"""Up to the next space that is in no quotes: a shell has several quoted parts side by side in one word."""

_LITERAL = r"""(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\s,}\]]+)"""

NAMED = re.compile(
    rf"(?P<name>(?<![\w-]){_OPTION}(?:=| +)"
    rf"|(?<![A-Za-z0-9_]){_VARIABLE}="
    rf"|(?<![\w-]){_FIELD}="
    rf"|(?P<quote>[\"']){_FIELD}(?P=quote) *: *"  # as JSON and Python write it
    r"|(?<=[?&;])(?i:[\w-]*(?:key|token|secret|sig|signature))="  # in the query of an address
    r"|(?i:authorization: *(?:basic|bearer|token)? *|(?<![\w-])bearer +(?=[\w.~+/-]{16})))"
    rf"(?P<value>(?(quote){_LITERAL}|{_VALUE}))"
)
"""The value of an option, a variable, a field or a header whose name says that it is a key."""

_NAMED_WORD = re.compile(rf"(?P<name>{_OPTION}=|{_VARIABLE}=|{_FIELD}=).*", re.DOTALL)
_OPTION_ALONE = re.compile(_OPTION)

_SECRET = re.compile(
    r"(?:^|_)(?:AUTH|PASS|PAT|PWD)(?:_|$)"
    r"|(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|COOKIE)S?(?:_|$)"
)


def is_secret(variable: str) -> bool:
    """Return whether a variable's name says that its value is secret."""
    return _SECRET.search(variable.upper()) is not None


def without_keys(words: Sequence[str], instead: str) -> list[str]:
    """Return the words of a command line with something instead of each value whose name says that it is a key.

    A word is as the program gets it, without the shell's quotes.
    """
    found: list[str] = []
    for before, word in zip(["", *words], words, strict=False):
        if _OPTION_ALONE.fullmatch(before) and not word.startswith("--"):
            found.append(instead)
        else:
            found.append(_NAMED_WORD.sub(lambda hit: f"{hit['name']}{instead}", word, count=1))
    return found
