from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from tests.report.shown import data_of

from bakeoff.report.pages import page_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from bakeoff.judge.outcome import Outcome

DOCUMENT = Path(__file__).parents[2] / "docs" / "json.md"
FREE = {"machine", "excluded", "contenders[].options", "contenders[].settings", "contenders[].versions"}
FREE |= {"contenders[].inherited", "contenders[].late.early", "contenders[].late.late", "ledger[].values"}
"""Objects whose keys are names of things."""


def paths(value: Any, path: str = "") -> Iterator[str]:
    """Give the path of every key."""
    if isinstance(value, dict) and path not in FREE:
        for key, item in value.items():
            below = f"{path}.{key}" if path else key
            yield below
            yield from paths(item, below)
    if isinstance(value, list):
        for item in value:
            yield from paths(item, f"{path}[]")


def test_documentation_and_object_agree(each: Callable[[], list[Outcome]]) -> None:
    """Every key is documented in docs/json.md, and every documented key is there."""
    documented = set(re.findall(r"^\| `([\w.\[\]]+)` \|", DOCUMENT.read_text(), re.MULTILINE))
    found = {path for outcome in each() for path in paths(data_of(outcome))}
    assert found == documented


def test_every_outcome_is_json(each: Callable[[], list[Outcome]]) -> None:
    """Any outcome is plain JSON, which comes back as it was."""
    for outcome in each():
        made = page_of(outcome).data
        assert json.loads(json.dumps(made, allow_nan=False)) == made == data_of(outcome)


def test_unknown_is_null(bare: Outcome) -> None:
    """What is not known is null, and its key is there."""
    contender = data_of(bare)["contenders"][0]
    assert contender["step_s"] is None
    assert set(contender["memory"].values()) == {None, ""}


def test_infinity_is_null(undecided: Outcome) -> None:
    """A number that JSON cannot say is null."""
    pair = msgspec.structs.replace(undecided.verdicts[0], high=math.inf)
    made = data_of(msgspec.structs.replace(undecided, verdicts=[pair]))
    assert made["verdicts"][0]["high"] is None


def test_too_few_rounds_is_no_verdict(early: Outcome) -> None:
    """Below three rounds a program reads "no verdict" too."""
    assert data_of(early)["verdicts"][0]["verdict"] == "no verdict"
