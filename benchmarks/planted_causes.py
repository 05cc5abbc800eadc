"""Planted causes: each has to be the first row of the explanation, and confirmed by the race with its switch turned.

    python benchmarks/planted_causes.py [--case NAME ...] [--budget 600] [--output benchmarks/results/planted-causes]

Each case races a contender beside the same one with a cause planted, in fresh processes, and explains the gap as
`bakeoff explain` does. "row one" is the first row by kind of operation that is told apart, "of the gap" its share,
"layer" the first row by layer; "found" says whether both are what was planted and the suspect was confirmed. A cause
that a switch of bakeoff has is planted by that switch; the others by `planted/torch_planted`, which is PyTorch with a
fault in one layer.
"""

from __future__ import annotations

import argparse
import re
import tempfile
import tomllib
from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from results import write

from bakeoff.environments import declared
from bakeoff.environments.interpreters import resolve
from bakeoff.judge.explained import explain
from bakeoff.race import conductor, explaining
from bakeoff.race.budget import with_budget
from bakeoff.spec.contender import parse_contender, quoted
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from bakeoff.judge.explanation import Explanation, Row

HERE = Path(__file__).parent / "planted"
PLANTED = "torch_planted"

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

    @property
    def switch(self) -> str:
        """Return what has to be turned, as OPTION=VALUE: what the quick one has in place of the slow one's."""
        quick, slow = (_options(one) for one in (self.quick, self.slow))
        return next(f"{name}={value}" for name, value in quick.items() if slow.get(name) != value)


def _options(text: str) -> dict[str, str]:
    """Return the options of a contender."""
    return dict(item.split("=", 1) for item in text.partition(":")[2].split(",") if item)


DISPATCH = frozenset(("host dispatch", "idle", "other"))
CELLS = frozenset(("recurrent", "matrix product", "element-wise", "data movement", "host dispatch"))
COPIES = frozenset(("device copy", "input wait", "data movement", "host dispatch"))

CASES = (
    Case("sleep in a layer", "mlp-mnist", f"{PLANTED}:plant=none", f"{PLANTED}:plant=sleep", DISPATCH, "hidden"),
    Case(
        "float64 in a layer",
        "mlp-1024",
        f"{PLANTED}:plant=none,planted_in=layers.0",
        f"{PLANTED}:plant=float64,planted_in=layers.0",
        frozenset(("matrix product", "data movement")),
        "layers.0",
    ),
    Case(
        "transposed input",
        "mlp-mnist",
        f"{PLANTED}:plant=none",
        f"{PLANTED}:plant=transposed",
        frozenset(("data movement",)),
        "hidden",
    ),
    Case(
        "unfused optimiser",
        "mlp-mnist",
        "torch:optimizer_kernel=fused",
        "torch:optimizer_kernel=default",
        frozenset(("optimiser",)),
    ),
    Case("unfused LSTM", "imdb-lstm", "torch:lstm=fused", "torch:lstm=cell", CELLS, size="reduced"),
    Case("unfused LSTM", "imdb-lstm", "tensorflow:lstm=block", "tensorflow:lstm=cell", CELLS, size="reduced"),
    Case(
        "attention by hand",
        "vit-b16",
        "torch:attention=flash",
        "torch:attention=math",
        frozenset(("attention",)),
        size="reduced",
    ),
    Case("copied batch", "mlp-1024", "torch:input=resident", "torch:input=per-step", COPIES),
    Case("copied batch", "mlp-1024", "jax:input=resident", "jax:input=per-step", COPIES),
    Case("copied batch", "mlp-1024", "tensorflow:input=resident", "tensorflow:input=per-step", COPIES),
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
    "sleep, float64 or a transposed input in a layer of JAX or TensorFlow": "their compilers rewrite what is planted: "
    "XLA and Grappler drop transpositions that cancel and move casts, and a call back into Python ends a fusion",
    "an unfused optimiser in JAX, TensorFlow, Jittor or MLX": "each has one way of its own to update",
    "an unfused LSTM in JAX and Jittor on a processor": "they have the cell alone there",
    "attention by hand in JAX and TensorFlow on a processor": "their own is the formula there",
    "denormals in JAX and TensorFlow": "their threads flush them by themselves",
    "any cause in Jittor or MLX": "their profiles tell kinds of operation at most, or nothing",
}
"""What is not planted, and why."""


def declare(folder: Path) -> None:
    """Have torch_planted declared in this process: PyTorch's own declaration with two options more."""
    place = folder / PLANTED
    place.mkdir()
    for file in (HERE / PLANTED).glob("*.py"):
        (place / file.name).write_bytes(file.read_bytes())
    own = declared.frameworks()["torch"].path / declared.DECLARATION
    text = own.read_text("utf-8").replace('name = "torch"', f'name = "{PLANTED}"', 1) + OPTIONS
    tomllib.loads(text)
    (place / declared.DECLARATION).write_text(text, "utf-8")
    point = EntryPoint(PLANTED, str(place), declared.ENTRY_POINTS)
    external, points = declared._external, declared.entry_points  # noqa: SLF001 - a folder in place of a package
    read = declared._read  # noqa: SLF001 - likewise
    declared._external = lambda one: read(PLANTED, place) if one.name == PLANTED else external(one)  # noqa: SLF001 - as above
    declared.entry_points = lambda group: EntryPoints([*points(group=group), point])  # type: ignore[assignment]


def placed(case: Case) -> Case:
    """Return a case whose planted framework runs where PyTorch is installed."""
    if not case.slow.startswith(PLANTED):
        return case
    where = quoted(resolve(parse_contender("torch"), declared.framework("torch")))
    quick, slow = (one.replace(PLANTED, f"{PLANTED}@{where}", 1) for one in (case.quick, case.slow))
    return case._replace(quick=quick, slow=slow)


def explained(case: Case, results: str, threads: int, budget_s: float | None) -> Explanation:
    """Race a case, explain it and race its suspects; the race has a third of the time budget."""
    race_s = None if budget_s is None else budget_s / 3.0
    request = Request(
        workload=case.workload,
        contenders=(case.quick, case.slow),
        size=case.size,
        data="synthetic",
        threads=threads,
        results=results,
        budget_s=race_s,
    )
    outcome = conductor.run(request)
    explaining.explain_race(Path(outcome.path), with_budget(request, None if race_s is None else 2.0 * race_s))
    return explain(Path(outcome.path))


def row(case: Case, found: Explanation) -> dict[str, Any]:
    """Return what was found of one case."""
    named = {
        "cause": case.name,
        "contender": re.sub("@[^:]*", "", case.slow),
        "row one": "",
        "of the gap": "",
        "layer": "",
    }
    if not found.gaps:
        return named | {"status": "nothing was traced", "found": False}
    gap = found.gaps[0]
    kind, layer = _first(gap.by_kind), _first(gap.by_layer)
    suspect = next((one for one in found.suspects if one.switch == case.switch and not one.is_control), None)
    is_row = kind is not None and kind.kind in case.kinds and gap.second == case.slow
    is_layer = not case.layer or (layer is not None and layer.layer == case.layer)
    is_confirmed = suspect is not None and suspect.status == "confirmed"
    return named | {
        "row one": f"{kind.kind} {kind.phase}".strip() if kind else "none",
        "of the gap": f"{(kind.second_s - kind.first_s) / gap.gap_s:.0%}" if kind and gap.gap_s else "",
        "layer": f"{layer.layer or layer.kind} {layer.phase}" if layer else "",
        "status": f"{suspect.status}: {suspect.reason}" if suspect else "no suspect",
        "found": is_row and is_layer and is_confirmed,
    }


def _first(rows: list[Row]) -> Row | None:
    """Return the first row that is told apart."""
    return next((one for one in rows if one.told_apart), None)


def main() -> None:
    """Run the cases that are asked for; print and write what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", action="append", default=None, help="a name of CASES, or the start of a contender")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--budget", type=float, default=None, help="seconds for each case")
    parser.add_argument("--output", type=Path, default=None)
    asked = parser.parse_args()
    wanted = [
        case
        for case in CASES
        if asked.case is None or any(case.name == one or case.slow.startswith(one) for one in asked.case)
    ]
    with tempfile.TemporaryDirectory() as folder:
        declare(Path(folder))
        wanted = [placed(case) for case in wanted]
        rows = [row(case, explained(case, f"{folder}/results", asked.threads, asked.budget)) for case in wanted]
    write(rows, "Planted causes: whether they are the first row and confirmed", asked.output)


if __name__ == "__main__":
    main()
