"""Pictures of gaps that are not like others: one part, parts that make up for each other, many, with long names."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.explained.conftest import row

from bakeoff.judge.explanation import Explanation, Gap, Row
from bakeoff.report.forms.drawings import drawing
from bakeoff.report.pages import page_of
from bakeoff.report.pictures import NARROW, WIDE
from bakeoff.report.pictures.waterfall import MOST_BARS, bars
from bakeoff.spec.explained import OperationKind

KINDS: tuple[OperationKind, ...] = OperationKind.__args__  # type: ignore[attr-defined]
LONG = "encoder.transformer_layers.11.multi_head_attention_with_rotary_positions.output_projection"


def parts(*pairs_ms: tuple[float, float], layer: str = "layers.{}") -> Gap:
    """Make a gap of parts with these times on both sides, each one kind of operation in a layer of its own."""
    kinds: list[Row] = []
    layers: list[Row] = []
    for place, (first_ms, second_ms) in enumerate(pairs_ms):
        times = (first_ms * 1e-3, second_ms * 1e-3)
        kinds.append(row((KINDS[place], "forward", ""), *times, told_apart=True, half_s=1e-5))
        layers.append(row((None, "forward", layer.format(place)), *times, told_apart=True, half_s=1e-5))
    first_s, second_s = sum(one.first_s for one in kinds), sum(one.second_s for one in kinds)
    return Gap(first="torch", second="jax", first_s=first_s, second_s=second_s, by_kind=kinds, by_layer=layers)


@pytest.mark.parametrize(
    ("gap", "width"),
    [
        (parts((1.0, 3.0), layer="net"), WIDE),
        (parts((5.0, 8.0), (8.0, 5.0)), WIDE),
        (parts((9.0, 0.0), (0.0, 2.0), (0.0, 8.0)), NARROW),
        (parts(*((1.0, 1.0 + place % 5) for place in range(len(KINDS)))), WIDE),
        (parts((1.0, 3.0), (2.0, 1.0), layer=f"{LONG}.{{}}.linear"), NARROW),
    ],
    ids=["one part", "no gap", "large parts of both signs", "many parts", "long names"],
)
def test_every_gap_is_drawn_from_one_step_to_the_other(explained: Explanation, gap: Gap, width: int) -> None:
    """Bars lead from the first step to the second one, and both pictures have the width that they were asked for."""
    way = bars(gap)
    assert len(way) <= MOST_BARS + 1
    assert (way[0].start_s, way[-1].end_s) == pytest.approx((gap.first_s, gap.second_s))
    page = page_of(msgspec.structs.replace(explained, gaps=[gap], suspects=[]))
    found = [drawing(one.picture.draw(width), name="one", is_on_page=True) for one in page.sections if one.picture]
    assert [one.title for one in found] == ["From torch to jax", "Where in the model: jax against torch"]
    assert all(abs(one.width - width) <= 12 for one in found)
