"""Write docs/results.md, docs/results/ and README.md's sentence from the committed records; `make results`.

`python docs/write_results.py FOLDER...` first keeps the records of every finished study of published figures that lies
in these results directories, the latest of each, as docs/records/studies/NAME.tar.xz. A test holds pages and records
together. What is kept are records that anybody can read: `bakeoff.report.export.study` says what is in them.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from msgspec.structs import replace

from bakeoff.judge import claims
from bakeoff.judge.reproduction import pairs
from bakeoff.report.export.study import ENDING, judged, packed
from bakeoff.report.forms.markdown import escaped, table, to_markdown
from bakeoff.report.pages import page_of
from bakeoff.report.pages.published_claims import sentence
from bakeoff.report.units import column, listed, unit_for
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.text import count
from bakeoff.store import studies
from bakeoff.store.files import write_atomically
from bakeoff.study.published import load, names
from bakeoff.study.run import OUT_OF_TIME, is_final, without_results

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from bakeoff.judge.outcome import ContenderOutcome
    from bakeoff.judge.reproduction import PublishedPair
    from bakeoff.report.export.study import Packed
    from bakeoff.store.studies import StudyFile

ROOT = Path(__file__).parents[1]
RECORDS = Path("docs/records/studies")
PAGES = Path("docs/results")
OVERVIEW = Path("docs/results.md")
README = Path("README.md")
PLACE = re.compile(r"(<!-- results: by `make results` -->\n).*?(<!-- their end -->)", re.DOTALL)

HEAD = """# What the studies gave on our machine

Written by `make results` from kept records, so that no figure was typed. Each study was run by `bakeoff reproduce`,
scaled down to what a processor can unless its page says otherwise, and its page is what `bakeoff report` says of its
records, with those that each figure is from.

Records are one file a study, `docs/records/studies/NAME.tar.xz`: study.json, and for each comparison what was asked
(comparison.json), every trial's record.json with its raw times, sealed by a SHA-256, and what each certificate came to
(certificates.json). Left out are the certificates' arrays, which take a hundred times the space, and names and folders.
"""

NONE_YET = """
No study's records are kept yet. `bakeoff reproduce all --resume` on a calm machine measures them, and `make results
RESULTS=results` keeps them and writes this page.
"""

LEGEND = """
**Same order**: what the document has as slower is slower here, too, or both are equal here (within 5 %) and less than
5 % apart there; **other order**: it is faster here, or one alone of both places has them equal. On other hardware, or
scaled down, that confirms nothing: a study's page says which. **Not decided**: too few rounds, no clear difference,
or the document's own repeats overlap. **Not measured**: a row that cannot be run here, with its reason on the study's
page.
"""

_DECIDED = {"same": "same order", "other": "other order"}
_OPEN = {"undecided": "not decided", "unclear there": "not decided", "too few rounds": "not decided"}
_SAID = _DECIDED | _OPEN | {"not measured": "not measured"}
"""What the tables say of a pair, by its order."""

_IN_README = {
    "same order": "have the same order here",
    "other order": "have the other one",
    "not decided": "are not decided",
    "not measured": "were not measured",
}

COLUMNS = tuple(dict.fromkeys(_SAID.values()))


def kept(root: Path = ROOT) -> dict[str, Packed]:
    """Return the studies whose records are kept, by name."""
    paths = sorted((root / RECORDS).glob(f"*{ENDING}"))
    return {path.name.removesuffix(ENDING): judged(path) for path in paths}


def pages(found: dict[str, Packed], readme: str) -> dict[Path, str]:
    """Return the content of every page that is written from kept studies, by its path."""
    written = {PAGES / f"{name}.md": _page(name, one) for name, one in found.items()}
    return written | {OVERVIEW: _overview(found), README: PLACE.sub(rf"\g<1>{_headline(found)}\g<2>", readme)}


# --- The overview and README.md -------------------------------------------------------------------------------------


def _overview(found: dict[str, Packed]) -> str:
    """Return the page with a line for each study."""
    if not found:
        return HEAD + NONE_YET
    heads = ["study", "document", "comparisons", *COLUMNS, "measured", "on"]
    rows = [_line(name, one) for name, one in found.items()]
    # The first cell is a link, which `table` would write as text.
    lines = table(heads, rows, range(2, 3 + len(COLUMNS))).splitlines()
    lines[2:] = [
        line.replace(escaped(name), f"[{name}](results/{name}.md)", 1)
        for line, name in zip(lines[2:], found, strict=True)
    ]
    return "\n".join([HEAD, f"In all: {_summary(found)}.\n", *lines, LEGEND])


def _line(name: str, one: Packed) -> list[str]:
    """Return a study's cells."""
    counts = Counter(_SAID[pair.order] for pair in _pairs(one))
    outcome = one.outcome
    here = outcome.study.reproduces
    assert here is not None
    machines = dict.fromkeys(str(each.comparison.machine.get("processor")) for each in outcome.outcomes)
    ran = f"{len(outcome.outcomes)} of {len(outcome.points)}"
    numbers = [str(counts[said]) for said in COLUMNS]
    return [name, here.published.document.name, ran, *numbers, outcome.created_at[:10], ", ".join(machines)]


def _headline(found: dict[str, Packed]) -> str:
    """Return README.md's sentence."""
    if not found:
        return "No study's records are kept yet: [results](docs/results.md) says how they come to be.\n"
    return f"{_summary(found)}\n([each study, with its records](docs/results.md)).\n"


def _summary(found: dict[str, Packed]) -> str:
    """Return what all kept studies gave, in two lines."""
    counts = Counter(_SAID[pair.order] for one in found.values() for pair in _pairs(one))
    held = [one.outcome.study.reproduces for one in found.values()]
    documents = {here.published.document.name for here in held if here}
    how = ["scaled down"] if all(here and here.scaled for here in held) else []
    how += ["without a GPU"] if all(here and here.device == "cpu" for here in held) else []
    said = [f"{counts[kind]:,} {words}" for kind, words in _IN_README.items() if counts[kind]]
    named = "1 study repeats" if len(found) == 1 else f"{len(found)} studies repeat"
    where = f"on our machine{f', {listed(how)}' if how else ''}"
    return (
        f"{named} what {count(len(documents), 'document')} published, {where}:\n"
        f"of {sum(counts.values()):,} published pairs {listed(said)}"
    )


def _pairs(one: Packed) -> list[PublishedPair]:
    """Return the published pairs of a study."""
    here = one.outcome.study.reproduces
    assert here is not None
    return pairs(one.outcome, here.published)


# --- A study --------------------------------------------------------------------------------------------------------


def _page(name: str, one: Packed) -> str:
    """Return a study's page."""
    # Where results lay on our machine is nothing to repeat, and redacted no word of a shell's.
    study = one.outcome.study
    told = to_markdown([page_of(replace(one.outcome, study=replace(study, command=without_results(study.command))))])
    return "\n".join(
        [
            f"# {name}\n",
            f"Written by `make results` from [its records](../records/studies/{name}{ENDING}).\n",
            f"Their SHA-256 is `{one.sha256}`.\n",
            told,
            *_noted_since(name, one),
            *_not_decided(one),
            *_sources(one),
        ]
    )


def _noted_since(name: str, one: Packed) -> Iterator[str]:
    """Yield the notes that the shipped study has and the one in the records, which is sealed, does not."""
    here = one.outcome.study.reproduces
    assert here is not None
    since = [note for note in load(name).notes if note not in here.published.notes] if name in names() else []
    if since:
        yield "## Noted since\n"
        yield "\n".join([*(f"- {escaped(note)}" for note in since), ""])


def _not_decided(one: Packed) -> Iterator[str]:
    """Yield the published pairs and the claims without a decision here, each with why."""
    said = [
        f"- {escaped(pair.comparison)}, {escaped(pair.first)} and {escaped(pair.second)}: {_SAID[pair.order]}"
        + (f"; {escaped(pair.reason)}" if pair.reason else "")
        for pair in _pairs(one)
        if pair.order not in _DECIDED
    ]
    here = one.outcome.study.reproduces
    assert here is not None
    said += [
        f"- {escaped(sentence(claim))}"
        for claim in claims.judged(one.outcome, here.published)
        if claim.standing == "inconclusive"
    ]
    yield "## What could not be decided\n"
    nothing = "Every published pair was decided here." if _pairs(one) else "The document has no pair of figures."
    yield "\n".join([*(dict.fromkeys(said) or [nothing]), ""])


def _sources(one: Packed) -> Iterator[str]:
    """Yield the table that leads from each figure to its records."""
    yield "## Where each figure is from\n"
    yield "Step times are medians over the rounds of these records, which `tar -xf` takes out of the file.\n"
    rows = []
    for point in one.outcome.points:
        if point.outcome is None:
            rows.append([point.point.title, "", "", "", point.reason])
            continue
        for contender in point.outcome.contenders:
            mine = one.timed[Path(point.outcome.path).name].get(contender.label, [])
            rows.append([point.point.title, contender.label, *_step(contender), _listed(mine) or contender.reason])
    yield table(["comparison", "contender", "a step", "rounds", "records"], rows, (2, 3))


def _step(contender: ContenderOutcome) -> list[str]:
    """Return a contender's step time with its interval, and its rounds."""
    if contender.median_step_s is None:
        return ["", ""]
    unit = unit_for([contender.median_step_s])
    (middle,) = column([contender.median_step_s], unit)
    ends = column([contender.step_s.low, contender.step_s.high], unit) if contender.step_s else []
    interval = f" [{ends[0]}, {ends[1]}]" if ends else ""
    return [f"{middle}{interval} {unit.name}", str(contender.rounds)]


def _listed(folders: Sequence[str]) -> str:
    """Return the folders of records in one text: "mlp-mnist-07d5/r01-torch to r05-torch"."""
    if len(folders) < 2:
        return "".join(folders)
    return f"{folders[0]} to {folders[-1].rpartition('/')[2]}"


# --- Keeping records ------------------------------------------------------------------------------------------------


def keep(results: Path, root: Path = ROOT) -> list[str]:
    """Keep the latest study of each shipped name in a results directory; return a sentence for each, or why not."""
    latest, said = {}, []
    for folder in studies.studies(results):
        try:
            stored = studies.read(folder)
        except BakeoffError as error:
            said.append(f"{folder.name}: not kept: {error}")
            continue
        if stored.study.reproduces is None or stored.study.name not in names():
            continue
        if _has_all_rows(stored):
            latest[stored.study.name] = (folder, stored)
        else:
            said.append(f"{folder.name}: not kept: not all of its document's rows were asked for")
    for name, (folder, stored) in sorted(latest.items()):
        asked = zip(stored.study.points, stored.states, strict=True)
        # Another reason is an end, and stands on the page: such a comparison could not be had.
        left = [
            point.title
            for point, state in asked
            if state.reason in ("", OUT_OF_TIME) and not is_final(folder, point.request, state)
        ]
        if left:
            said.append(f"{name}: not kept: {folder} has no end of {', '.join(left)}; --resume goes on with it")
            continue
        content = packed(folder)
        write_atomically(root / RECORDS / f"{name}{ENDING}", content)
        said.append(f"{name}: {len(content) / 1e3:.0f} kB of {folder}")
    return said or [f"{results}: no study of a shipped name lies there"]


def _has_all_rows(stored: StudyFile) -> bool:
    """Return whether every row of the document was asked for: a study of some contenders is not the document's."""
    here = stored.study.reproduces
    assert here is not None
    published = here.published
    declared = {one.name: {row.name for row in published.rows_of(one)} for one in published.comparisons}
    return all(declared[point.title] <= point.rows.keys() for point in stored.study.points)


def main(folders: Iterable[str]) -> None:
    """Keep what lies in these results directories, and write all pages."""
    for folder in folders:
        for line in keep(Path(folder)):
            print(line)
    found = kept()
    for path in (ROOT / PAGES).glob("*.md"):
        if path.stem not in found:
            path.unlink()
    for path, content in pages(found, (ROOT / README).read_text(encoding="utf-8")).items():
        write_atomically(ROOT / path, content.encode())


if __name__ == "__main__":
    main(sys.argv[1:])
