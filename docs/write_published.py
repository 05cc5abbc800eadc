"""Write docs/published.md from the shipped studies; `make docs`, and a test holds the two together."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from bakeoff.report.forms.markdown import escaped, table
from bakeoff.spec.trial import FIXED
from bakeoff.study.published import SHARED, load, names

if TYPE_CHECKING:
    from bakeoff.spec.published import Claim, Declared, Figure, PublishedRow, PublishedStudy

PAGE = Path(__file__).with_name("published.md")

HEAD = """# Published figures

Written by `make docs` from the studies in `src/bakeoff/study/shipped`.

Each study here is a table or a figure of a document, with the comparisons that measure the same thing. One command runs
it, and sets every published figure beside ours: the step there and here with its interval, the published ratio of two
rows beside our ratio with its interval and verdict, and what that tells of the published ranking.

```
bakeoff list studies
bakeoff reproduce dai2022-table2            # scaled down to what a processor can, and saying so
bakeoff reproduce dai2022-table2 --full     # at the document's own sizes
bakeoff reproduce m1-inference jax          # your contenders in place of the document's
bakeoff report dai2022-table2-4f2a --html page.html
```

- A published figure becomes the time of one step: seconds of a run over its steps (an epoch's last, smaller batch is a
  step), or the batch size over images a second. Of several repeats the median counts; those that ran beside another
  task, where the document says so, are shown with a star and not used.
- Where a document tells the first epoch and the second apart, two are run as a whole in fresh processes, with the
  document's way of padding, and each stands beside its own figure; the ratio of two rows is that of their steps after
  the warm-up.
- Of rows on several devices, those on as many are held against each other, and each against the same contender on one
  device: its communication overhead stands beside the document's, with its interval.
- Of what a step or its graph consists of, shares and counts stand beside the printed ones: every contender is traced
  behind the race, by its framework's own profiler ([what that tells](profiles.md)), with intervals over five rounds.
  Where all of them are counts of a graph, which are the same in each, there is one round.
- A published ratio has no interval: where there are repeats, the range over them stands beside it. Where the repeats of
  two rows overlap, the document itself has no clear order.
- The ranking of a pair **agrees** or **disagrees** only where the work of a step is the document's and the kind of
  device is, too. Else it is **inconclusive**, and the table says whether our order is the same all the same. Figures of
  different machines are never compared with each other.
- What a document says in words is judged, a sentence each: it **holds here**, **does not hold here** or is
  **inconclusive**, by an interval that holds together with those of all its claims ([method](other-numbers.md#claims)).
  What no time decides, or nothing here can run, is not measured, with the reason.
- A report has the table in the document's shape, or its figure as it draws it, with ours in it. Its caption tells what
  differs in hardware, versions and scale, and what the document does not state, with what is taken here in its place:
  nothing is guessed.
- Where a document gives memory, each of its figures stands beside what of a process's memory is nearest to it here; of
  a GPU the peak by NVML is kept, and nothing from before the training.
- A document that says what is to be compared and publishes no figures has a study, too: its benchmarks line by line,
  with our steps, ratios and verdicts. What a document measured and bakeoff has nothing for is listed with its figures.
- The comparisons at full size on a GPU have not been run by us.
- A study of your own is a file in the same form, `bakeoff reproduce my_study.toml`; the fields are those of
  [published.py](../src/bakeoff/spec/published.py). `--json` prints [this object](json-reproduced.md).
"""

OF_DOCUMENTS = """## The documents

Five documents asked which framework is faster. Each of their tables and figures is a study, and so is each use case of
the one that has no figures.
"""

OF_OTHERS = """## Published by others

Results of other projects, so that the owner of such a machine sees at once whether bakeoff lands where they did:
`bakeoff reproduce NAME --full`. Where a network, a batch or a number of GPUs is another one here, the study says so,
and only the kind of a difference can be held against it, no ranking.
"""


def page() -> str:
    """Give the whole page."""
    studies = [load(name) for name in names()]
    parts = [HEAD]
    for source, head in (("document", OF_DOCUMENTS), ("others", OF_OTHERS)):
        parts += [head, *(_section(study) for study in studies if study.source == source)]
    return "\n".join(parts)


def _section(study: PublishedStudy) -> str:
    """Give one study."""
    command = f"bakeoff reproduce {study.id}"
    where = f"Meant for {_hardware(study)}; no figures" if study.is_silent() else f"Published on {_hardware(study)}"
    parts = [
        f"### {study.id}\n",
        f"**{escaped(study.full_title())}.** {escaped(study.document.citation)}; {escaped(study.document.number)}.\n",
        f"`{command}` takes about {study.minutes:g} minutes on two calm cores{_or_as(study)}.\n",
        f"{escaped(where)}. {escaped(_method(study))}\n",
        table(["row", "version", "contender", "without a GPU"], [_row(row) for row in study.rows]),
        table(
            ["comparison", "batch", "scaled down", "published"], [_comparison(study, one) for one in study.comparisons]
        ),
    ]
    parts_told = [
        [one.name, part.row or "not stated", part.of, part.printed()] for one in study.comparisons for part in one.parts
    ]
    if parts_told:
        parts.append(table(["comparison", "row", "of its step or graph", "published"], parts_told))
    if study.ticks:
        parts.append(table(["of the model", *(one.name for one in study.ticks.columns)], _ticks(study)))
    if study.claims:
        parts.append(table(["claim", "where", "there", "decided here by"], [_claim(claim) for claim in study.claims]))
    if study.absent:
        absent = [[one.name, one.printed(), one.reason] for one in study.absent]
        parts.append(table(["not here", "published", "why"], absent))
    return "\n".join([*parts, *_open(study), ""])


KINDS = {
    "more": "more in each",
    "mean": "more in the mean",
    "most": "in none more than that",
    "at-least": "in one at least that",
    "within": "in none further apart",
    "mostly-within": "in most not further apart",
    "mean-difference": "in the mean not further apart",
    "less-time": "share of the second's time saved, in the mean",
    "grows": "more for each doubling of the batch",
    "each": "in each at least that",
    "about": "in the mean about that",
    "least": "less in the first than in each other one",
}
"""What has to be so of a claim's comparisons."""
QUANTITIES = {"speed": "speed", "run": "speed of whole runs", "memory": "peak of memory", "overhead": "overhead"}


def _claim(claim: Claim) -> list[str]:
    """Give a claim with what decides it."""
    if claim.unmeasured:
        return [claim.text, claim.where, "", f"nothing: {claim.unmeasured}"]
    if claim.of == "ticks":
        return [claim.text, claim.where, "", "what computed each part, as settings are read back"]
    rows = ", ".join(claim.rows) if claim.is_of_rows else " over ".join(claim.rows)
    epoch = {None: "", 1: ", first epoch", 2: ", second epoch"}[claim.epoch]
    over = f", {len(claim.comparisons)} comparisons" if len(claim.comparisons) > 1 else ""
    word = "give or take" if claim.kind == "about" else "taken as"
    taken = f", {word} {claim.taken_percent:g} %" if claim.taken_percent else ""
    of = QUANTITIES.get(claim.of, f"share, {claim.of}")
    has_bound = claim.kind != "most" or claim.percent or claim.taken_percent
    kind = KINDS[claim.kind] if has_bound else "in each less than 0 %"
    decided = f"{of}, {rows}{epoch}{over}: {kind}{taken}"
    return [claim.text, claim.where, f"{claim.percent:g} %" if claim.percent else "", decided]


def _open(study: PublishedStudy) -> list[str]:
    """List what the document leaves open, and what else is to be known of its figures."""
    return [
        *(f"- Not stated: {escaped(text)}" for text in study.not_stated),
        *(f"- {escaped(one)}" for one in study.notes),
    ]


def _or_as(study: PublishedStudy) -> str:
    """Tell the other names that a study is asked for by."""
    others = [name for name, of in SHARED.items() if of == study.id]
    return "".join(f"; `bakeoff reproduce {name}` is the same study" for name in others)


def _ticks(study: PublishedStudy) -> list[list[str]]:
    """Give the lines of a document's table of ticks."""
    columns = [one.name for one in study.ticks.columns] if study.ticks else []
    return [
        [
            f"{declared.name}, {ticks.part}" if ticks.part else declared.name,
            *("yes" if name in ticks.can else "no" for name in columns),
        ]
        for declared in study.comparisons
        for ticks in declared.ticks
    ]


def _hardware(study: PublishedStudy) -> str:
    """Name what the document measured on."""
    return "; ".join(machine.hardware for machine in study.machines)


def _method(study: PublishedStudy) -> str:
    """Say how the document measured."""
    return f"{study.method[0].upper()}{study.method[1:]}. Compile time: {study.compile_time}."


def _row(row: PublishedRow) -> list[str]:
    """Give a row of the document and who stands for it."""
    return [row.name, row.version or "not stated", row.contender, row.on_cpu or f"none: {row.missing}"]


def _comparison(study: PublishedStudy, declared: Declared) -> list[str]:
    """Give a comparison with its figures."""
    figures = [_figure(study.unit_of(declared), figure) for figure in declared.figures]
    steps = declared.run_steps()
    what = "steps an epoch" if declared.epochs_apart else "steps"
    size = f"{declared.batch_size}" + (f", {steps:,} {what}" if study.unit_of(declared) == "s" else "")
    size += f", padding {declared.padding}" if declared.padding != FIXED else ""
    size += f"; {declared.other}" if declared.other else ""
    size += "".join(f"; {row} by {contender}" for row, contender in declared.contenders.items())
    told = "; ".join(figures) or "no number"
    return [f"{declared.name}: {declared.workload}, {declared.scenario}", size, _scaled(declared), told]


def _scaled(declared: Declared) -> str:
    """Say what is smaller in the scaled variant."""
    smaller = declared.scaled
    if smaller is None:
        return "left out"
    parts = [f"{smaller.size} size"] if smaller.size else []
    parts += [f"batch {smaller.batch_size}"] if smaller.batch_size else []
    parts += [f"{smaller.steps:,} steps"] if smaller.steps else []
    return ", ".join([*parts, f"{smaller.rounds} rounds"])


def _figure(unit: str, figure: Figure) -> str:
    """Give one figure with all its repeats."""
    machine = f" ({figure.machine})" if figure.machine else ""
    epoch = {None: "", 1: " (first epoch)", 2: " (second epoch)"}[figure.epoch]
    memory = "".join(f", {name} {size:g} GB" for name, size in figure.memory_gb.items())
    memory += "" if figure.overhead_percent is None else f", overhead {figure.overhead_percent:g} %"
    accuracy = "" if figure.accuracy is None else f", accuracy {figure.accuracy:g}"
    return f"{figure.row}{machine} {figure.printed()} {unit}{epoch}{memory}{accuracy}"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
