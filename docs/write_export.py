"""Write the tables of docs/export.md from the columns themselves; `make docs`, and a test holds the two together."""

from __future__ import annotations

import re
from pathlib import Path

from bakeoff.report.export.tables import TABLES

PAGE = Path(__file__).with_name("export.md")


def page(text: str) -> str:
    """Return the page with the table below each heading that names one written anew."""
    for table in TABLES.values():
        lines = [f"| `{one.name}` | {one.kind} | {one.meaning} |" for one in table.columns]
        written = "\n".join(["| column | type | meaning |", "|---|---|---|", *lines])
        text, found = re.subn(
            rf"(?<=## `{table.name}`\n\n)(.*?\n\n)\| column .*?(?=\n\n|\n\Z)",
            lambda hit, written=written: hit[1] + written,
            text,
            flags=re.DOTALL,
        )
        assert found == 1, table.name
    return text


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
