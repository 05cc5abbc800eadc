"""Taking out of records what nobody needs to judge them by: names of people, machines and folders, and secrets."""

from __future__ import annotations

import getpass
import os
import platform
import re
import socket
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bakeoff.environments.declared import frameworks
from bakeoff.spec.keys import ISSUED, NAMED, is_secret
from bakeoff.spec.options import WATCHED, WATCHED_ON

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

LEAST_VALUE = 8
"""Characters: a shorter value of a variable is a number or a common word, and taking it out would spoil records."""

LEAST_NAME = 2
"""Characters of a name that is taken out."""

HOST = "host"
"""What stands for the name of a machine."""

_IN_PATH = r"\w.@+=,~#%&!$^-"
"""What the names of a path are made of here; one with a space is known in quotes alone."""

_PATH = re.compile(
    rf"(?:(?<=file:)//|(?<![\w.~/-])(?<!<path>)(?!(?<=:)//(?!/)))(?:~[\w.-]*|\.{{1,2}})?(?:/+[{_IN_PATH}]+)*/+"
    rf"(?P<last>[{_IN_PATH}]*[\w@+=~-])/?"
)
"""A path with one slash at least: absolute, or from the home, this folder or the one above; of addresses those of files
alone, which have nothing between their second slash and their third.
"""

_QUOTED_PATH = re.compile(
    r"(?P<quote>[\"'`])(?:~[\w.-]*|\.{1,2})?/(?:(?!(?P=quote))[^\n/]*/)*(?P<last>(?:(?!(?P=quote))[^\n/])*)(?P=quote)"
)
"""A path in quotes, as Python's errors name files: it may have spaces."""

_FILE = re.compile(r"python[\d.]*|[\w+-]+\.[a-z]+[\w.]*")
"""A name that tells what a path leads to, and no folder's: an interpreter, or what has an ending."""

_ADDRESS = re.compile(r"(?<![\w.+-])[\w.+-]+@[\w-]+(?:\.[\w-]+)+")

_SIGNED_IN = re.compile(r"(?<=://)[^\s/@]+@[^\s/]+")
"""Who signs in, by which password, and where: in the address of a server."""

_ISSUED = re.compile(rf"(?<![A-Za-z0-9]){ISSUED}(?![A-Za-z0-9])")
"""A key by the form that its issuer gives it, wherever it stands."""

_OF_NOBODY = frozenset(
    [
        "admin",
        "azureuser",
        "centos",
        "debian",
        "docker",
        "ec2-user",
        "fedora",
        "host",
        "jovyan",
        "linux",
        "localhost",
        "nobody",
        "root",
        "runner",
        "test",
        "ubuntu",
        "user",
        "vagrant",
        "vm",
    ]
)
"""Names of accounts and machines that come with a system: they name nobody, and are words of their own in records."""


class Redactor:
    """Takes the same words out of every text."""

    def __init__(self, names: Mapping[str, str], values: Iterable[str] = ()) -> None:
        """Take names with what stands for each, and whole values that are secret, or may be."""
        # Paths have a rule of their own, which leaves the name of a file.
        lines = (line for value in values for line in value.splitlines())  # Of a log one line is seen at a time.
        secret = {line for line in lines if len(line) >= LEAST_VALUE and not line.startswith(("/", "~"))}
        self._values = sorted(secret, key=len, reverse=True)
        known = {name.casefold(): said for name, said in names.items() if len(name) >= LEAST_NAME}
        longest_first = sorted(known, key=len, reverse=True)
        words = "|".join(map(re.escape, longest_first))
        # A name within a word is another word: "ann" in "channels". A dash or an underscore ends a name.
        name = rf"(?<![^\W_])(?P<name>{words})(?![^\W_])(?P<domain>(?:\.[a-z][\w-]*)*)"
        self._names = re.compile(name, re.IGNORECASE) if words else None
        self._said = known

    def text(self, text: str) -> str:
        """Return a text without them: of a path the name of a file is left, of a value and an address nothing."""
        for value in self._values:
            text = text.replace(value, "<value>")
        if self._names is not None:
            # Before paths: a name with a space would end a path within it.
            text = self._names.sub(self._named, text)
        text = NAMED.sub(r"\g<name><value>", _ISSUED.sub("<value>", text))
        text = _SIGNED_IN.sub("<address>", text)
        text = _ADDRESS.sub("<address>", text)
        text = _QUOTED_PATH.sub(lambda found: f"{found['quote']}{place(found['last'])}{found['quote']}", text)
        return _PATH.sub(lambda found: place(found["last"]), text)

    def _named(self, found: re.Match[str]) -> str:
        """Return what stands for a name; behind a machine's follows its domain."""
        said = self._said[found["name"].casefold()]
        return said if said == HOST else said + found["domain"]

    def json(self, content: Any) -> Any:
        """Return an object of JSON with every text redacted, those that are keys as well."""
        if isinstance(content, str):
            return self.text(content)
        if isinstance(content, list | tuple):
            return [self.json(one) for one in content]
        if isinstance(content, dict):
            return {self.text(name): self.json(value) for name, value in content.items()}
        return content


def place(last: str) -> str:
    """Return what is left of a path whose last part is this: the name of a file, and of a folder nothing."""
    return f"<path>/{last}" if _FILE.fullmatch(last) else "<path>"


def apart(names: Iterable[str], using: Redactor) -> dict[str, str]:
    """Return those names that would no longer differ, each with what it is called instead: the second one "... (2)"."""
    alike: dict[str, list[str]] = {}
    for name in dict.fromkeys(names):
        alike.setdefault(using.text(name), []).append(name)
    return {
        name: f"{said} ({number})" if number > 1 else said
        for said, mine in alike.items()
        if len(mine) > 1
        for number, name in enumerate(mine, 1)
    }


def redactor() -> Redactor:
    """Return what takes out who runs this, where, and what the environment holds beyond watched variables."""
    names = dict.fromkeys(_people(), "user") | dict.fromkeys(_hosts(), HOST)
    of_devices = (name for names in WATCHED_ON.values() for name in names)
    watched = {*WATCHED, *of_devices, *(name for one in frameworks().values() for name in one.info.watched)}
    return Redactor(names, [value for name, value in os.environ.items() if name not in watched])


def sharing_redactor() -> Redactor:
    """Return what takes out of reports that leave this machine who runs them, where, and keys.

    Unlike `redactor`, it leaves values of ordinary variables, and names that name nobody or are words of bakeoff's own:
    a report has to stay readable.
    """
    own = {word.casefold() for name, one in frameworks().items() for word in (name, one.info.title)}
    names = dict.fromkeys(_people(), "user") | dict.fromkeys(_hosts(), HOST)
    names = {name: said for name, said in names.items() if name.casefold() not in own | _OF_NOBODY}
    return Redactor(names, [value for name, value in os.environ.items() if is_secret(name)])


def _people() -> set[str]:
    """Return the names that this user goes by."""
    found = {Path.home().name}
    found |= {value for name in ("USER", "LOGNAME", "USERNAME", "SUDO_USER") if (value := os.environ.get(name))}
    # A user may have no name, as in some containers, and a system no list of users.
    with suppress(OSError, KeyError):
        found.add(getpass.getuser())
    with suppress(ImportError, KeyError):
        import pwd

        entry = pwd.getpwuid(os.getuid())
        found |= {entry.pw_name, *(part.strip() for part in entry.pw_gecos.split(",") if part.strip())}
    return found


def _hosts() -> set[str]:
    """Return the names that this machine goes by."""
    found = {socket.gethostname(), platform.node(), os.environ.get("HOSTNAME", "")}
    return {part for name in found for part in (name, name.partition(".")[0]) if part} - {"localhost"}
