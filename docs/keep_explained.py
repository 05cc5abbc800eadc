"""Keep explanations in docs/records/explained: what each says, its picture, its figures, and the records behind them.

`python docs/keep_explained.py NAME=FOLDER...`, each a comparison that `bakeoff explain` has explained, under a name for
its files. NAME.tar.gz holds every record of the race, of the traces and of the suspects' races, without names and
folders; left out are the certificates' arrays and the raw traces, which take a hundred times the space. What README.md
and docs/explaining.md say of kept explanations is then written again; without NAME=FOLDER that is all (`make docs`).
"""

from __future__ import annotations

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.acceptance.redacted import sharing_redactor
from bakeoff.judge.explained import explain
from bakeoff.report.forms.json import to_json
from bakeoff.report.forms.markdown import escaped, to_markdown
from bakeoff.report.forms.pictures import DRAWING
from bakeoff.report.gallery.found import PageSource
from bakeoff.report.gallery.records import folders, packed
from bakeoff.report.pages import page_of
from bakeoff.report.redacted import Redaction
from bakeoff.report.units import listed
from bakeoff.store.files import write_atomically

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    Explained = Mapping[str, Mapping[str, Any]]
    """Kept explanations as JSON, by name."""

ROOT = Path(__file__).parents[1]
KEPT = Path("docs/records/explained")
README, LIST = Path("README.md"), Path("docs/explaining.md")
PLACE = re.compile(r"(<!-- explanations: by `make docs` -->\n).*?(<!-- their end -->|\n## )", re.DOTALL)

ABOUT = """

As data: [{name}.json]({name}.json), which [the JSON of an explanation](../../json-explain.md) describes. Its picture:
[{name}.svg]({name}.svg). Its records, without raw traces and the certificates' arrays:
[{name}.tar.gz]({name}.tar.gz).
"""

PICTURE = "Bars from one step time to another, one for each kind of operation; below, the model's layers"
"""What README.md's picture is to those who do not see it."""

WIDTH = 120


def contents(name: str, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Yield the files of an explanation: how each name ends, and its content."""
    explanation, found = explain(folder), PageSource("comparison", folder, name)
    redaction = Redaction(sharing_redactor(), explanation, folders(found))
    said = redaction.of(explanation)
    # Without its folder a comparison is called by its id, by which whoever has its records explains it again.
    outcome = msgspec.structs.replace(said.outcome, path=said.outcome.comparison.id)
    page = page_of(msgspec.structs.replace(said, outcome=outcome))
    yield ".md", (to_markdown([page]).rstrip() + ABOUT.format(name=name)).encode()
    yield ".json", (to_json([page]) + "\n").encode()
    yield ".svg", DRAWING.write([page], ROOT / KEPT)
    yield ".tar.gz", packed(found, redaction)


def kept(root: Path = ROOT) -> Explained:
    """Return the explanations that are kept."""
    return {path.stem: json.loads(path.read_bytes()) for path in sorted((root / KEPT).glob("*.json"))}


def pages(found: Explained, root: Path = ROOT) -> dict[Path, str]:
    """Return the content of the two pages that say what kept explanations say, by their paths."""
    return {path: _put(root / path, said) for path, said in ((README, _shown(found)), (LIST, _listed(found)))}


def _put(path: Path, said: str) -> str:
    """Return a page with this in its place."""
    return PLACE.sub(lambda place: f"{place[1]}{said}{place[2]}", path.read_text(encoding="utf-8"))


def _shown(found: Explained) -> str:
    """Return one answer with its picture, the first that a race has confirmed, and where the others are."""
    confirmed = [name for name, one in found.items() if one["headline"].endswith(": confirmed.")]
    first = (confirmed or list(found))[0]
    others = [f"[{_told_apart(one, found)}]({KEPT}/{name}.md)" for name, one in found.items() if name != first]
    known = f"[all of it]({KEPT}/{first}.md){f'; of {listed(others)}' if others else ''}"
    answer = escaped(found[first]["headline"]).removesuffix(".")
    said = f'Of {_workload(found[first])}, checked in a second race: "{answer}" ({known}; [how to read one]({LIST})).'
    return f"{_filled(said)}\n\n[![{PICTURE}]({KEPT}/{first}.svg)]({KEPT}/{first}.md)\n"


def _told_apart(one: Mapping[str, Any], found: Explained) -> str:
    """Return what was explained, with its size where the same workload was at another, too."""
    sizes = {other["comparison"]["size"] for other in found.values() if _workload(other) == _workload(one)}
    return _workload(one) + (f" at {one['comparison']['size']} size" if len(sizes) > 1 else "")


def _listed(found: Explained) -> str:
    """Return a line for each explanation, with its answer."""
    place = KEPT.relative_to(LIST.parent)
    lines = [
        f"- [{_workload(one)}]({place}/{name}.md), {one['comparison']['size']} size: {escaped(one['headline'])}"
        for name, one in found.items()
    ]
    return "\n".join(["", *map(_filled, lines), "", ""])


def _workload(one: Mapping[str, Any]) -> str:
    """Return what was explained."""
    return f"`{one['comparison']['workload']}`"


def _filled(text: str) -> str:
    """Return a text in lines, those of a list's item set in."""
    indent = "  " if text.startswith("- ") else ""
    return textwrap.fill(text, WIDTH, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)


def main(asked: list[str]) -> None:
    """Keep each, print what was written, and write what the two pages say of all."""
    for one in asked:
        name, _, folder = one.partition("=")
        if not (name and folder):
            sys.exit(f"{one!r}: write NAME=FOLDER, such as vit-b16-2026-11-23=results/vit-b16-bcdd")
        for ending, content in contents(name, Path(folder)):
            path = ROOT / KEPT / f"{name}{ending}"
            write_atomically(path, content)
            print(f"{path.name}: {len(content) / 1e3:.0f} kB")
    for path, content in pages(kept()).items():
        write_atomically(ROOT / path, content.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
