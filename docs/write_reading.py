"""Write the example of docs/reading.md from its records; `make docs`, and a test holds the two together."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = Path(__file__).with_name("reading.md")
RECORDS = "docs/records/mlp-mnist-07d5"
PLACE = re.compile(r"(<!-- the report: by `make docs` -->\n).*(\n<!-- its end -->)", re.DOTALL)


def page() -> str:
    """Return the whole page, with what `bakeoff report` says of the records now."""
    command = [sys.executable, "-m", "bakeoff", "report", RECORDS, "--markdown"]
    told = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    # One level lower: the report's title is a section there.
    return PLACE.sub(lambda place: f"{place[1]}\n#{told.strip()}\n{place[2]}", PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
