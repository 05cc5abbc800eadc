"""The script of an array: readable, and from a template that a site can replace."""

from __future__ import annotations

import math
import os
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import jinja2

from bakeoff.cluster.keys import check_no_keys
from bakeoff.cluster.plans import FOLDER, LOGS
from bakeoff.cluster.profile import gpus_of
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.store.reading import read_named

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from bakeoff.cluster.plans import JobPlan
    from bakeoff.cluster.profile import SiteProfile

TEMPLATE = Path(__file__).with_name("templates") / "job.sh.j2"

NOTICE_S = 120
"""How long before the time limit an element is stopped: Slurm sends the signal up to 60 s early (sbatch(1), --signal),
and a trial that is cut short is done again."""

CALLED = "slurm element"
"""What every script calls, whatever its template."""

AGAIN = 75
"""Exit code of an element that is to go on in another job: EX_TEMPFAIL of sysexits.h."""


def scripts(folder: Path, plan: JobPlan) -> dict[int, str]:
    """Return the text of every script, by the first element that it is for; raise UsageError for a bad template.

    One script is for all elements, or, where contenders are apart, one for each of them.
    """
    if not plan.unpaired:
        return {0: text(folder, plan, range(len(plan.elements)))}
    return {number: text(folder, plan, [number]) for number in range(len(plan.elements))}


def text(folder: Path, plan: JobPlan, elements: Sequence[int]) -> str:
    """Return the script of an array with these elements."""
    named = [plan.elements[number] for number in elements]
    values = {
        "title": plan.title if len(named) > 1 else f"{plan.title}: {named[0].title}",
        "count": len(named),
        "unpaired": plan.unpaired,
        "directives": directives(folder, plan, elements),
        "limit_why": plan.limit_why,
        "setup": plan.profile.setup,
        "command": command(plan.profile),
        "folder": shlex.quote(str(folder.absolute())),
        "notice_s": NOTICE_S,
        "again": AGAIN,
    }
    written = _rendered(plan.profile.template, values)
    check_no_keys(written.splitlines(), "the script's line")
    return written


def command(profile: SiteProfile) -> str:
    """Return what calls bakeoff on a node."""
    python = profile.python or sys.executable
    return " ".join(filter(None, [profile.container, shlex.quote(python), "-m bakeoff"]))


def directives(folder: Path, plan: JobPlan, elements: Sequence[int]) -> list[str]:
    """Return what stands behind #SBATCH, one a line."""
    profile, named = plan.profile, [plan.elements[number] for number in elements]
    gres = gpus_of(profile, max(element.devices for element in named))
    asked = {
        "partition": profile.partition,
        "account": profile.account,
        "qos": profile.qos,
        "constraint": profile.constraint,
        "gres": gres,
        "cpus-per-task": profile.cpus,
        "mem": profile.memory,
    }
    throttle = f"%{profile.at_once}" if profile.at_once else ""
    return [
        f"--job-name={plan.name}",
        f"--array={ranges(elements)}{throttle}",
        f"--time={clock(plan.limit_s)}",
        "--nodes=1",
        "--ntasks=1",
        *[f"--{name}={value}" for name, value in asked.items() if value is not None],
        *(["--exclusive"] if profile.exclusive else []),
        f"--signal=B:USR1@{NOTICE_S}",
        "--requeue",
        "--open-mode=append",
        f"--chdir={_path(Path.cwd())}",
        f"--output={_path(folder.absolute() / FOLDER / LOGS)}/%A_%a.log",
        *profile.sbatch,
    ]


def clock(seconds: float) -> str:
    """Return a time limit as Slurm writes it, in full minutes: "2:30:00", which are hours, minutes and seconds."""
    minutes = max(1, math.ceil(seconds / 60))
    return f"{minutes // 60}:{minutes % 60:02d}:00"


def ranges(numbers: Iterable[int]) -> str:
    """Return whole numbers as Slurm writes them: "0-5,7"."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in found)


def _path(path: Path) -> str:
    """Return a path for a directive; raise UsageError for one that no directive can hold."""
    said = os.fspath(path)
    if any(character in said for character in "\"'\\\n\r\t "):
        msg = f"{said!r} cannot stand in a script of Slurm: it has a space, a quote or a backslash; use another folder"
        raise UsageError(msg)
    return said.replace("%", "%%")  # Behind a % Slurm reads a pattern (sbatch(1), filename pattern).


def _rendered(template: str | None, values: dict[str, object]) -> str:
    """Return a template with its values; raise UsageError, with the place, for one that cannot be used."""
    path = TEMPLATE if template is None else Path(template)
    # A script is no HTML: what stands in it is quoted for the shell where it is made.
    engine = jinja2.Environment(  # noqa: S701
        undefined=jinja2.StrictUndefined, keep_trailing_newline=True, trim_blocks=True, lstrip_blocks=True
    )
    try:
        written = engine.from_string(read_named(path)).render(values)
    except (OSError, StoreError, UnicodeDecodeError, jinja2.TemplateError) as error:
        line = f", line {error.lineno}" if isinstance(error, jinja2.TemplateSyntaxError) else ""
        msg = f"{path}{line} cannot be used as a template: {error}. Valid names: {', '.join(values)}"
        raise UsageError(msg) from error
    lacks = [word for word in ("#SBATCH --array=", CALLED) if word not in written]
    if lacks:
        msg = f"{path} cannot be used as a template: what it makes lacks {' and '.join(map(repr, lacks))}"
        raise UsageError(msg)
    return written
