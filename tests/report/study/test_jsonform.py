from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from tests.report.shown import data_of

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome

PAGE = Path(__file__).parents[3] / "docs" / "json-study.md"


def test_the_page_tells_every_key(batches: StudyOutcome, modes: StudyOutcome) -> None:
    """docs/json-study.md describes exactly the keys of a study's object; a comparison's are another page's."""
    text = PAGE.read_text(encoding="utf-8")
    documented = set(re.findall(r"^\| `([^`]+)`", text, re.MULTILINE))
    there = set()
    for study in (batches, modes):
        made = data_of(study)
        there |= set(made) | {f"study.{key}" for key in made["study"]}
        there |= {f"points[].{key}" for point in made["points"] for key in point}
    assert documented == there


def test_a_point_without_a_comparison_says_why(modes: StudyOutcome) -> None:
    """Where nothing was measured the comparison is null beside its reason; elsewhere it is the whole object."""
    points = data_of(modes)["points"]
    assert points[1]["comparison"] is None
    assert points[1]["reason"].startswith("no contender can race")
    assert points[0]["comparison"]["comparison"]["batch_size"] == 32
    assert points[2]["left_out"]["jax"].endswith("possible: eager, compiled")
