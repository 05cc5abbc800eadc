"""study.json: what a study asked for, as every version of bakeoff has written it."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from bakeoff.spec.comparison import RULES, Procedure
from bakeoff.spec.errors import StoreError
from bakeoff.spec.request import Request
from bakeoff.spec.study import Point, Study
from bakeoff.store import studies

ASKED = {
    "margin": 0.02,
    "aim": "how-much",
    "max_rounds": 7,
    "budget_s": 90.0,
    "calm_wait_s": 30.0,
    "trial_limit_s": 60.0,
    "seed": 3,
    "epochs": 2,
    "steps": 50,
    "repeats": 4,
}


def test_a_request_stays_flat_on_disk(tmp_path: Path) -> None:
    """Fields of the procedure stand beside the others, as they did before Procedure was a type of its own."""
    request = Request(workload="mlp-mnist", contenders=("fake",), **ASKED)
    stored = studies.new(Study(name="s", title="S", points=[Point(title="p", request=request)]))
    studies.write(tmp_path, stored)
    written = json.loads((tmp_path / "study.json").read_text())
    (point,) = written["study"]["points"]
    assert ASKED.items() <= point["request"].items()
    # Older files have the fields in another order, and lack the newer ones.
    point["request"] = {"workload": "mlp-mnist", "contenders": ["fake"], "batch_size": None, "size": "full", **ASKED}
    (tmp_path / "study.json").write_text(json.dumps(written))
    assert studies.read(tmp_path) == stored


def test_every_field_of_the_procedure_is_asked_for_by_its_name() -> None:
    """What a request says of the procedure is the comparison's procedure, field by field."""
    assert ASKED.keys() | {"rules"} == set(Procedure.__struct_fields__)
    assert msgspec.to_builtins(Request(workload="mlp-mnist", **ASKED).procedure()) == ASKED | {"rules": RULES}


@pytest.mark.parametrize("states", [0, 2])
def test_a_state_belongs_to_each_point(tmp_path: Path, states: int) -> None:
    """Fewer states than points, or more, are a damaged file: it is told, not read by half."""
    stored = studies.new(Study(name="s", title="S", points=[Point(title="p", request=Request(workload="mlp-mnist"))]))
    studies.write(tmp_path, msgspec.structs.replace(stored, states=[studies.PointState()] * states))
    with pytest.raises(StoreError, match=f"have {states} states"):
        studies.read(tmp_path)


def test_a_study_with_its_points_at_other_places_is_another_one(tmp_path: Path) -> None:
    """The same titles at other coordinates are not gone on with."""
    here, there = (
        Study(
            name="s", title="S", points=[Point(title="p", coordinates={"batch": batch}, request=Request(workload="w"))]
        )
        for batch in ("32", "64")
    )
    studies.write(tmp_path / "s-1", studies.new(here))
    assert studies.latest_like(tmp_path, here) is not None
    assert studies.latest_like(tmp_path, there) is None
