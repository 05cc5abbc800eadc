"""Keep explanations in docs/records/explained: what each says, its picture, its figures, and the records behind them.

`python docs/keep_explained.py NAME=FOLDER...`, each a comparison that `bakeoff explain` has explained, under a name for
its files. NAME.tar.gz holds every record of the race, of the traces and of the suspects' races, without names and
folders; left out are the certificates' arrays and the raw traces, which take a hundred times the space.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.acceptance.redacted import sharing_redactor
from bakeoff.judge.explained import explain
from bakeoff.report.forms.json import to_json
from bakeoff.report.forms.markdown import to_markdown
from bakeoff.report.forms.pictures import DRAWING
from bakeoff.report.gallery.found import Found
from bakeoff.report.gallery.records import folders, packed
from bakeoff.report.pages import page_of
from bakeoff.report.redacted import Redaction
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = Path(__file__).parent / "records" / "explained"

ABOUT = """

As data: [{name}.json]({name}.json), which [the JSON of an explanation](../../json-explain.md) describes. Its picture:
[{name}.svg]({name}.svg). Its records: [{name}.tar.gz]({name}.tar.gz).
"""


def contents(name: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an explanation: how each name ends, and its content."""
    explanation, found = explain(folder), Found("comparison", folder, name)
    redaction = Redaction(sharing_redactor(), explanation, folders(found))
    said = redaction.of(explanation)
    # Without its folder a comparison is called by its id, by which whoever has its records explains it again.
    outcome = msgspec.structs.replace(said.outcome, path=said.outcome.comparison.id)
    page = page_of(msgspec.structs.replace(said, outcome=outcome))
    yield ".md", (to_markdown([page]).rstrip() + ABOUT.format(name=name)).encode()
    yield ".json", (to_json([page]) + "\n").encode()
    yield ".svg", DRAWING.write([page], KEPT)
    yield ".tar.gz", packed(found, redaction)


def main(asked: list[str]) -> None:
    """Keep each, and print what was written."""
    for one in asked:
        name, _, folder = one.partition("=")
        if not (name and folder):
            sys.exit(f"{one!r}: write NAME=FOLDER, such as vit-b16-2026-11-23=results/vit-b16-bcdd")
        for ending, content in contents(name, Path(folder)):
            path = KEPT / f"{name}{ending}"
            write_atomically(path, content)
            print(f"{path.name}: {len(content) / 1e3:.0f} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
