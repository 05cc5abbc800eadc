"""docs/workloads.md tells what was certified at full size as the records of certificates have it."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from bakeoff.workloads.load import load

PAGE = Path(__file__).parents[2] / "docs" / "workloads.md"

FRAMEWORKS = {"PyTorch": "torch", "JAX": "jax", "TensorFlow": "tensorflow", "Jittor": "jittor", "MLX": "mlx"}
SCENARIOS = {"training": "train", "inference": "infer", "per-sample gradients": "per-sample-gradients"}


NAMES = r"`([\w-]+)(?: --size ([\w-]+))?`"
"""How the table names a workload, and a size that is not its full one."""


def rows() -> list[tuple[str, str, str, str]]:
    """Return what, by whom, at which batch and where, of each row of the table."""
    table = PAGE.read_text(encoding="utf-8").partition("| at full size |")[2].partition("\n\n")[0]
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()[2:]]
    return [(what, whom, batch, where) for what, whom, batch, where in cells]


def told() -> list[tuple[str, str, str, list[str], str, Path]]:
    """Return workload, size, scenario, frameworks, batch and record of all that the table names by a workload."""
    found, record = [], PAGE
    for what, whom, batch, where in rows():
        link = re.search(r"\]\(([^)\s]+)", where)
        record = (PAGE.parent / link[1]).resolve() if link else record
        by = [FRAMEWORKS[one] for one in re.findall("|".join(FRAMEWORKS), whom.partition(";")[0])]
        found += [(*one, by or list(FRAMEWORKS.values()), batch, record) for one in subjects(what)]
    return found


def subjects(what: str) -> list[tuple[str, str, str]]:
    """Return each workload of a cell, and its size, with each scenario that is told behind its name."""
    found: list[tuple[str, str, str]] = []
    for names, scenarios in re.findall(r"((?:`[\w -]+`(?:, | and )?)+)([^`]*)", what):
        for name, size in re.findall(NAMES, names):
            every = load(name).workload.scenarios if "every scenario" in scenarios else ()
            each = every or [SCENARIOS[word] for word in SCENARIOS if word in scenarios]
            found += [(name, size or "full", scenario) for scenario in each]
    return found


def passed(record: Path) -> set[tuple[str, str, str, str, int]]:
    """Return workload, size, scenario, contender and batch of each certificate that passed."""
    rows: list[dict[str, Any]] = json.loads(record.with_suffix(".json").read_text(encoding="utf-8"))["rows"]
    return {
        (
            name := row["workload"],
            row["size"],
            row["scenario"],
            row["contender"],
            batch_of(name, row["size"], row["batch"]),
        )
        for row in rows
        if row["passed"] == "yes" and not row["workload"].endswith(".py")
    }


def batch_of(workload: str, size: str, said: str | int) -> int:
    """Return a batch as a number, of which pages and records may say that it is the workload's own."""
    return load(workload).size(size).batch_size if said in {"its own", "their own"} else int(said)


@pytest.mark.parametrize(("workload", "size", "scenario", "frameworks", "batch", "record"), told())
def test_what_was_certified_is_in_its_record(
    workload: str, size: str, scenario: str, frameworks: list[str], batch: str, record: Path
) -> None:
    """Every framework of a row has a certificate that passed, in that scenario and at that batch, in the record."""
    certified = passed(record)
    wanted = {(workload, size, scenario, one, batch_of(workload, size, batch)) for one in frameworks}
    assert wanted <= certified, sorted(wanted - certified)


def test_rows_are_read() -> None:
    """The table's rows are found, and one with two workloads of a scenario each is taken apart; none is passed over."""
    for what, *_ in rows():
        assert subjects(what) or what.startswith("CIFAR's ResNet-18 of the tests"), what
        assert "--" not in re.sub(NAMES, "", what), what
    assert ("rl-venv-ppo", "full", "train") in {one[:3] for one in told()}
    assert subjects("`rl-venv-ppo`, training, and `gcn-arxiv`, inference") == [
        ("rl-venv-ppo", "full", "train"),
        ("gcn-arxiv", "full", "infer"),
    ]
    assert subjects("`mlp-1024`, `mlp-mnist`, in every scenario")[0] == ("mlp-1024", "full", "infer")
    assert subjects("`inceptionv3 --size full-auxiliary`, training") == [("inceptionv3", "full-auxiliary", "train")]
