"""The command line: one file a command; here only what all of them share at the edge: errors and exit codes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from bakeoff.spec.errors import BakeoffError, UsageError

if TYPE_CHECKING:
    from collections.abc import Sequence

FAILED = 1
"""What was asked for could not be given."""
MISUSED = 2
"""What was asked for cannot be; typer's own errors have this code too."""
INTERRUPTED = 130
"""By Ctrl-C: 128 + SIGINT, as shells count."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and give its exit code; every error made for users becomes one message on stderr."""
    from bakeoff.cli.app import app

    for stream in (sys.stdout, sys.stderr):
        # A terminal that cannot show a character is no reason to lose a result.
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    try:
        app(args=arguments, prog_name="bakeoff")
    except BakeoffError as error:
        sys.stderr.write(f"bakeoff: {error}\n")
        return MISUSED if isinstance(error, UsageError) else FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else FAILED
    return 0
