"""How benchmarks leave their results: one Markdown file with date, machine and versions, and the rows as JSON."""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

from bakeoff.measure.machine import describe
from bakeoff.measure.noise import probe


def table(rows: list[dict[str, Any]]) -> str:
    """Give rows with the same keys as a Markdown table."""
    keys = list(rows[0])
    lines = [" | ".join(keys), " | ".join("---" for _ in keys)]
    lines += [" | ".join(str(row[key]) for key in keys) for row in rows]
    return "\n".join(f"| {line} |" for line in lines)


def write(rows: list[dict[str, Any]], about: str, stem: Path | None) -> None:
    """Print a table; with a stem, write STEM-DATE.md and STEM-DATE.json beside it."""
    print(table(rows))
    if stem is None:
        return
    date = datetime.now(UTC).date().isoformat()
    machine = describe()
    noise = probe()
    facts = {
        "date": date,
        "machine": machine,
        "python": platform.python_version(),
        "numpy": version("numpy"),
        "foreign load after the run": noise.foreign_share,
    }
    told = f"{machine['processor']}, {machine['cores']} cores, {machine['system']}, Python {facts['python']}"
    text = f"# {about.strip()}\n\n{date}; {told}\n\n{table(rows)}\n"
    stem.parent.mkdir(parents=True, exist_ok=True)
    Path(f"{stem}-{date}.md").write_text(text)
    Path(f"{stem}-{date}.json").write_text(json.dumps({**facts, "rows": rows}, indent=1) + "\n")
