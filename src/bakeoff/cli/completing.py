"""What a shell offers behind TAB; a shell asks anew at every TAB, so nothing heavy is imported on the way."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.environments.declared import Framework
    from bakeoff.spec.framework import FrameworkInfo


def workloads(incomplete: str) -> list[str]:
    """Return the workloads that a word may become; a file of the user's own is the shell's to complete."""
    from bakeoff.workloads.load import names

    return [each for each in names() if each.startswith(incomplete)]


def contenders(incomplete: str) -> list[str]:
    """Return what a contender may become: a framework, its environments behind an @, its options behind a colon."""
    known = _declared()
    name = re.split("[@:]", incomplete)[0]
    last = max(incomplete.rfind(":"), incomplete.rfind(","))
    if ":" in incomplete and name in known:
        head = incomplete[: last + 1]
        found = [head + pair for pair in _pairs(known[name].info) if pair.partition("=")[0] + "=" not in head]
    elif "@" in incomplete:
        found = [f"{name}@{each}" for each in _behind(name)]
    else:
        found = list(known)
    return [each for each in found if each.startswith(incomplete)]


def frameworks(incomplete: str) -> list[str]:
    """Return the frameworks that a word may become."""
    return [each for each in _declared() if each.startswith(incomplete)]


def environments(incomplete: str) -> list[str]:
    """Return the environments that a word may become."""
    from bakeoff.environments.installed import installed

    return [each.path.name for each in installed() if each.path.name.startswith(incomplete)]


def studies(incomplete: str) -> list[str]:
    """Return the studies of published figures that a word may become, and the word for all of them."""
    from bakeoff.study.published import known_names

    return [each for each in (*known_names(), "all") if each.startswith(incomplete)]


def one_of(values: tuple[str, ...]) -> Callable[[str], list[str]]:
    """Return what completes to one of these values."""

    def those(incomplete: str) -> list[str]:
        return [value for value in values if value.startswith(incomplete)]

    return those


def option(name: str) -> Callable[[str], list[str]]:
    """Return what completes to a value of this option, by its name."""

    def values(incomplete: str) -> list[str]:
        from bakeoff.spec.options import OPTIONS

        return one_of(OPTIONS[name].values)(incomplete)

    return values


def _declared() -> dict[str, Framework]:
    """Return the frameworks that are shown to users."""
    from bakeoff.environments.declared import frameworks

    return {name: found for name, found in frameworks().items() if found.info.listed}


def _pairs(info: FrameworkInfo) -> list[str]:
    """Return every option of a framework with each value that it has; a count has no list of them."""
    from bakeoff.environments.options import supported

    return [f"{name}={value}" for name, support in supported(info).items() for value in support.values]


def _behind(framework: str) -> list[str]:
    """Return what names an environment of a framework behind its @: the version, or the environment's own name."""
    from bakeoff.environments.installed import installed

    made = [each.path.name for each in installed() if each.info.framework == framework]
    return [name.removeprefix(f"{framework}@") for name in made if name != framework]
