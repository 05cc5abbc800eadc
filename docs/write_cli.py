"""Write docs/cli.md from the command line itself; `make docs`, and a test holds the two together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import typer

from bakeoff.cli.app import app

PAGE = Path(__file__).with_name("cli.md")

HEAD = """# The command line

Written by `make docs` from the commands' own help.

Exit codes: 0 done; 1 what was asked for could not be given (no contender certified, results that cannot be written,
an acceptance that has not passed), and with `run --fail-if-slower` that the second contender is slower; 2 wrong
input, with one message that says what and what to do; 75 where an element of a Slurm job has more to do, and Slurm is
to run it again; 125 where `run --fail-if-slower` cannot tell (`git bisect run` skips it); 130 ended by Ctrl-C, which
is 0 where it is the end of `report --watch`; 143 ended by SIGTERM, as `timeout` and schedulers send it.
"""


def page() -> str:
    """Give the whole page."""
    return HEAD + "".join(_sections(typer.main.get_command(app), ["bakeoff"], None))


def _sections(command: Any, path: list[str], parent: Any) -> list[str]:
    """Give a command's section, and after it those of its commands."""
    context = command.make_context(path[-1], [], parent=parent, resilient_parsing=True)
    # Wider than a terminal, so that the page does not depend on one.
    context.max_content_width = context.terminal_width = 100
    help_text = "\n".join(line.rstrip() for line in command.get_help(context).splitlines())
    sections = [f"\n## `{' '.join(path)}`\n\n```\n{help_text}\n```\n"]
    for name, child in getattr(command, "commands", {}).items():
        sections += _sections(child, [*path, name], context)
    return sections


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
