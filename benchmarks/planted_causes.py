"""Planted causes: each has to be the first row of the explanation, and confirmed by the race with its switch turned.

    python benchmarks/planted_causes.py [--case NAME ...] [--budget 600] [--results DIR] [--output STEM]

Each case races a contender beside the same one with a cause planted, in fresh processes, and explains the gap as
`bakeoff explain` does. "largest" is the largest difference by kind and by layer, which traces of one round tell, be it
chance or not. "row one" is the first suspect as `bakeoff explain` names it, a kind of operation, or a layer with more
than all kinds that are told apart; "of the gap" is its share, "layer" the first row by layer. "found" says whether both
are what was planted and the suspect was confirmed, "load" how many processes were ready to run in the last minute,
bakeoff's own among them. A cause that a switch of bakeoff has is planted by that switch; the others by
`planted/FRAMEWORK_planted`, which is the framework with a fault in one layer. With --results DIR a case that was
finished there is not run again but judged again from its records, so that the same command goes on.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import tempfile
import tomllib
from contextlib import contextmanager
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from results import write

from bakeoff.environments import declared
from bakeoff.environments.interpreters import resolve
from bakeoff.judge.explained import explain
from bakeoff.judge.suspects import top_rows
from bakeoff.race import conductor, explaining
from bakeoff.race.budget import with_budget
from bakeoff.spec.contender import parse_contender, quoted
from bakeoff.spec.errors import BakeoffError
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from collections.abc import Iterator

    from bakeoff.judge.explanation import Explanation, Row

ABOUT = (__doc__ or "").strip().rpartition("\n\n")[2]
"""What the columns are."""

HERE = Path(__file__).parent / "planted"
SUFFIX = "_planted"
"""Of the name of a framework in which a cause can be planted."""

PLANTED = tuple(f"{name}{SUFFIX}" for name in ("torch", "jax", "tensorflow", "jittor"))
DONE = "cases.json"
"""In the results directory: the comparison of each case that was finished."""

OPTIONS = """
[options.plant]
default = "none"
values = ["none", "sleep", "float64", "transposed"]
meaning = "what one layer does in a slower way"

[options.planted_in]
default = "hidden"
free = true
meaning = "the layer's path"
"""


class Case(NamedTuple):
    """A cause, the contenders without and with it, and the row that it has to be."""

    name: str
    workload: str
    quick: str
    slow: str
    kinds: frozenset[str]
    """The kinds of operation that it may be by: what a profile calls a sleep is the framework's own."""
    layer: str = ""
    """The layer that it was planted in; empty where it is in none or in all."""
    size: str = "full"
    batch_size: int | None = None
    """Samples in a batch; None: the size's own."""

    @property
    def switch(self) -> str:
        """Return what has to be turned, as OPTION=VALUE: what the quick one has in place of the slow one's."""
        quick, slow = (_options(one) for one in (self.quick, self.slow))
        return next(f"{name}={value}" for name, value in quick.items() if slow.get(name) != value)


def _options(text: str) -> dict[str, str]:
    """Return the options of a contender."""
    return dict(item.split("=", 1) for item in text.partition(":")[2].split(",") if item)


DISPATCH = frozenset(("host dispatch", "idle", "other"))
DOUBLE = frozenset(("matrix product", "data movement"))
MOVED = frozenset(("data movement",))
CELLS = frozenset(("recurrent", "matrix product", "element-wise", "data movement", "host dispatch"))
COPIES = frozenset(("device copy", "input wait", "data movement", "host dispatch"))


def in_layer(cause: str, plant: str, contender: str, workload: str, layer: str, kinds: frozenset[str]) -> Case:
    """Return the case of a fault in one layer; a contender begins with the framework and may have options."""
    framework, _, options = contender.partition(":")
    more = f"{',' if options else ''}{options}"
    quick, slow = (f"{framework}{SUFFIX}:plant={one},planted_in={layer}{more}" for one in ("none", plant))
    return Case(cause, workload, quick, slow, kinds, "" if framework in KINDS_ALONE else layer)


KINDS_ALONE = ("jittor",)
"""Frameworks whose profiles tell no layers."""

CASES = (
    *(
        in_layer("sleep in a layer", "sleep", one, "mlp-mnist", "hidden", DISPATCH)
        for one in ("torch", "jax", "tensorflow", "jittor")
    ),
    *(
        in_layer("float64 in a layer", "float64", one, "mlp-1024", "layers.0", DOUBLE)
        for one in ("torch", "jax", "tensorflow")
    ),
    *(
        in_layer("transposed input", "transposed", one, "mlp-mnist", "hidden", MOVED)
        # Grappler leaves out two transpositions of which one takes back the other.
        for one in ("torch", "jax", "tensorflow:graph_optimization=off", "jittor")
    ),
    Case(
        "unfused optimiser",
        "mlp-mnist",
        "torch:optimizer_kernel=fused",
        "torch:optimizer_kernel=default",
        frozenset(("optimiser",)),
    ),
    Case("unfused LSTM", "imdb-lstm", "torch:lstm=fused", "torch:lstm=cell", CELLS, size="reduced"),
    # At reduced size, 16 words, TensorFlow's session takes nine tenths of a step, with cells as with blocks.
    Case("unfused LSTM", "imdb-lstm", "tensorflow:lstm=block", "tensorflow:lstm=cell", CELLS, batch_size=16),
    Case(
        "attention by hand",
        "vit-b16",
        "torch:attention=flash",
        "torch:attention=math",
        frozenset(("attention",)),
        size="reduced",
    ),
    *(
        Case("copied batch", str(HERE / "wide_inputs.py"), f"{one}:input=resident", f"{one}:input=per-step", COPIES)
        for one in ("jax", "tensorflow", "jittor")
    ),
    Case(
        "denormals",
        str(HERE / "denormal_maps.py"),
        "torch:denormals=flush",
        "torch:denormals=keep",
        frozenset(("element-wise",)),
    ),
)
"""Every planted cause, in the frameworks that have a way to plant it."""

NOT_PLANTED = {
    "float64 in a layer of Jittor": "its operators of oneDNN take float32 alone",
    "an unfused optimiser in JAX, TensorFlow, Jittor or MLX": "each has one way of its own to update",
    "an unfused LSTM in JAX and Jittor on a processor": "they have the cell alone there",
    "attention by hand in JAX, TensorFlow and Jittor on a processor": "their own is the formula there",
    "a copied batch in PyTorch on a processor": "torch.from_numpy takes over the array's memory",
    "denormals in JAX, TensorFlow and Jittor": "their threads flush them by themselves, or no switch holds",
    "any cause in MLX": "its profile tells nothing",
}
"""What is not planted, and why."""


@contextmanager
def declare(folder: Path) -> Iterator[None]:
    """Have the planted frameworks declared in this process: each one's own declaration with two options more."""
    places = {name: _written(folder, name) for name in PLANTED}
    points = [EntryPoint(name, str(place), declared.ENTRY_POINTS) for name, place in places.items()]
    external, known, read = declared._external, declared.entry_points, declared._read  # noqa: SLF001 - folders in place of packages
    try:
        declared._external = lambda one: read(one.name, places[one.name]) if one.name in places else external(one)  # noqa: SLF001 - as above
        declared.entry_points = lambda group: EntryPoints([*known(group=group), *points])  # type: ignore[assignment]
        yield
    finally:
        declared._external, declared.entry_points = external, known  # noqa: SLF001 - as above


def _written(folder: Path, name: str) -> Path:
    """Return the folder of a planted framework, with its declaration."""
    place = folder / name
    place.mkdir()
    for file in (HERE / name).glob("*.py"):
        (place / file.name).write_bytes(file.read_bytes())
    original = name.removesuffix(SUFFIX)
    own = (declared.frameworks()[original].path / declared.DECLARATION).read_text("utf-8")
    # The first table ends what stands before all tables; a table of an option may follow any other.
    text = own.replace(f'name = "{original}"', f'name = "{name}"', 1) + OPTIONS
    tomllib.loads(text)
    (place / declared.DECLARATION).write_text(text, "utf-8")
    return place


def placed(case: Case) -> Case:
    """Return a case whose planted framework runs where the framework itself is installed."""
    framework = case.slow.partition(":")[0]
    if framework not in PLANTED:
        return case
    original = framework.removesuffix(SUFFIX)
    where = quoted(resolve(parse_contender(original), declared.framework(original)))
    quick, slow = (one.replace(framework, f"{framework}@{where}", 1) for one in (case.quick, case.slow))
    return case._replace(quick=quick, slow=slow)


class Done(NamedTuple):
    """What is kept of a case that was run: the comparison's folder, or why there is none."""

    comparison: str = ""
    failed: str = ""
    load: str = ""


def run(case: Case, results: str, threads: int, budget_s: float | None) -> Done:
    """Race a case, explain it and race its suspects; the race has a third of the time budget."""
    race_s = None if budget_s is None else budget_s / 3.0
    request = Request(
        workload=case.workload,
        contenders=(case.quick, case.slow),
        size=case.size,
        batch_size=case.batch_size,
        data="synthetic",
        threads=threads,
        results=results,
        budget_s=race_s,
    )
    try:
        outcome = conductor.run(request)
        explaining.explain_race(Path(outcome.path), with_budget(request, None if race_s is None else 2.0 * race_s))
    except BakeoffError as error:
        return Done(failed=str(error))
    return Done(outcome.path, load=f"{os.getloadavg()[0]:.0f}")


def judged(case: Case, done: Done) -> dict[str, Any]:
    """Return what the records of a case say."""
    return row(case, explain(Path(done.comparison)) if done.comparison else None, done.failed) | {"load": done.load}


def row(case: Case, found: Explanation | None, failed: str = "") -> dict[str, Any]:
    """Return what was found of one case; or why nothing was."""
    named = {
        "cause": case.name,
        "contender": case.slow,
        "largest": "",
        "row one": "",
        "of the gap": "",
        "layer": "",
        "status": failed or "nothing was traced",
        "found": False,
    }
    if found is None or not found.gaps:
        return named
    gap = found.gaps[0]
    first, layer = next(iter(top_rows(gap)), None), _first(gap.by_layer)
    suspect = next((one for one in found.suspects if one.switch == case.switch and not one.is_control), None)
    is_row = first is not None and _is_of(first, case) and unplaced(gap.second) == case.slow
    is_layer = not case.layer or (layer is not None and layer.layer == case.layer)
    is_confirmed = suspect is not None and suspect.status == "confirmed"
    return named | {
        "largest": _told(gap.by_kind[0]) + (f", {_told(gap.by_layer[0])}" if gap.by_layer else ""),
        "row one": _told(first) if first else "none",
        "of the gap": f"{first.gap_s / gap.gap_s:.0%}" if first and gap.gap_s else "",
        "layer": _told(layer) if layer else "",
        "status": f"{suspect.status}: {suspect.reason}" if suspect else "no suspect",
        "found": is_row and is_layer and is_confirmed,
    }


def unplaced(label: str) -> str:
    """Return a contender's label without the interpreter that it runs in."""
    return re.sub("@[^:]*", "", label)


def _is_of(row: Row, case: Case) -> bool:
    """Return whether a row is what was planted: a kind of operation, or the layer that it was planted in."""
    return row.kind in case.kinds or (row.kind is None and bool(case.layer) and row.layer == case.layer)


def _told(row: Row) -> str:
    """Return what a row is about."""
    return f"{row.layer or row.kind} {row.phase}".strip()


def _first(rows: list[Row]) -> Row | None:
    """Return the first row that is told apart."""
    return next((one for one in rows if one.told_apart), None)


def all_of(cases: list[Case], results: Path, threads: int, budget_s: float | None) -> list[dict[str, Any]]:
    """Return what is found of cases; those that were finished in this results directory are not run again."""
    results.mkdir(parents=True, exist_ok=True)
    file = results / DONE
    known = json.loads(file.read_text("utf-8")) if file.exists() else {}
    rows = []
    for case in cases:
        name = f"{case.name}: {case.slow}"
        if name not in known:
            known[name] = run(placed(case), str(results), threads, budget_s)._asdict()
            file.write_text(json.dumps(known, indent=1), "utf-8")
        rows.append(judged(case, Done(**known[name])))
        print(rows[-1], flush=True)
    return rows


def main() -> None:
    """Run the cases that are asked for; print and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--case", action="append", default=None, help="a name of CASES, or the start of a contender")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=None, help="seconds for each case")
    parser.add_argument("--results", type=Path, default=None, help="a folder that keeps comparisons and what is done")
    parser.add_argument("--output", type=Path, default=None)
    asked = parser.parse_args()
    wanted = [
        case
        for case in CASES
        if asked.case is None or any(case.name == one or case.slow.startswith(one) for one in asked.case)
    ]
    with tempfile.TemporaryDirectory() as folder, declare(Path(folder)):
        results = asked.results or Path(folder) / "results"
        rows = all_of(wanted, results, asked.threads, asked.budget)
    write(rows, f"Planted causes: whether they are the first row and confirmed\n\n{ABOUT}", asked.output)


if __name__ == "__main__":
    main()
