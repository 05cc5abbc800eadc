"""What a sample has so many of, such as environment steps, is told a second beside the samples."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.shown import data_of

from bakeoff.report.sections.figures import summary

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def test_environment_steps_a_second_stand_beside_the_samples(decided: Outcome) -> None:
    """Where the size says that a sample has ten of them, they are ten times the samples; else nothing is said."""
    assert not [head for head in summary(decided).heads if "environment" in head]
    workload, name = decided.comparison.workload, decided.comparison.size
    size = msgspec.structs.replace(workload.sizes[name], contains={"environment steps": 10})
    workload = msgspec.structs.replace(workload, sizes={name: size})
    rolled = msgspec.structs.replace(decided, comparison=msgspec.structs.replace(decided.comparison, workload=workload))
    table = summary(rolled)
    place = table.heads.index("samples/s")
    assert table.heads[place + 1] == "environment steps/s"
    for line in table.lines:
        samples, contained = (float(cell.replace(",", "")) for cell in line.cells[place : place + 2])
        assert contained == pytest.approx(10 * samples, rel=0.1)
    rates = data_of(rolled)["contained_per_s"]["environment steps"]
    assert rates == {one.label: 10 * one.samples_per_s for one in rolled.contenders if one.status == "ranked"}
