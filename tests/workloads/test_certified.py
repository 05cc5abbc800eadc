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
SCENARIOS = {"training": "train", "inference": "infer"}


def told() -> list[tuple[str, str, list[str], str, Path]]:
    """Return workload, scenario, frameworks, batch and record of all that the table names by a workload."""
    table = PAGE.read_text(encoding="utf-8").partition("| at full size |")[2].partition("\n\n")[0]
    found, record = [], PAGE
    for line in table.splitlines()[2:]:
        what, whom, batch, where = (cell.strip() for cell in line.strip("|").split("|"))
        link = re.search(r"\]\(([^)\s]+)", where)
        record = (PAGE.parent / link[1]).resolve() if link else record
        by = [FRAMEWORKS[one] for one in re.findall("|".join(FRAMEWORKS), whom.partition(";")[0])]
        found += [(*one, by or list(FRAMEWORKS.values()), batch, record) for one in subjects(what)]
    return found


def subjects(what: str) -> list[tuple[str, str]]:
    """Return each workload of a cell with each scenario that is told behind its name."""
    found: list[tuple[str, str]] = []
    for names, scenarios in re.findall(r"((?:`[\w-]+`(?:, | and )?)+)([^`]*)", what):
        for name in re.findall(r"`([\w-]+)`", names):
            every = load(name).workload.scenarios if "every scenario" in scenarios else ()
            found += [(name, one) for one in every or (SCENARIOS[word] for word in SCENARIOS if word in scenarios)]
    return found


def passed(record: Path) -> set[tuple[str, str, str, int]]:
    """Return workload, scenario, contender and batch of each certificate of full size that passed."""
    rows: list[dict[str, Any]] = json.loads(record.with_suffix(".json").read_text(encoding="utf-8"))["rows"]
    return {
        (row["workload"], row["scenario"], row["contender"], batch_of(row["workload"], str(row["batch"])))
        for row in rows
        if row["size"] == "full" and row["passed"] == "yes" and not row["workload"].endswith(".py")
    }


def batch_of(workload: str, said: str) -> int:
    """Return a batch as a number, of which pages and records may say that it is the workload's own."""
    return load(workload).size("full").batch_size if said in {"its own", "their own"} else int(said)


@pytest.mark.parametrize(("workload", "scenario", "frameworks", "batch", "record"), told())
def test_what_was_certified_is_in_its_record(
    workload: str, scenario: str, frameworks: list[str], batch: str, record: Path
) -> None:
    """Every framework of a row has a certificate that passed, in that scenario and at that batch, in the record."""
    certified = passed(record)
    wanted = {(workload, scenario, one, batch_of(workload, batch)) for one in frameworks}
    assert wanted <= certified, sorted(wanted - certified)


def test_rows_are_read() -> None:
    """The table's rows are found, and one with two workloads of a scenario each is taken apart."""
    assert ("rl-venv-ppo", "train") in {one[:2] for one in told()}
    assert subjects("`rl-venv-ppo`, training, and `gcn-arxiv`, inference") == [
        ("rl-venv-ppo", "train"),
        ("gcn-arxiv", "infer"),
    ]
    assert subjects("`mlp-1024`, `mlp-mnist`, in every scenario")[0] == ("mlp-1024", "infer")
