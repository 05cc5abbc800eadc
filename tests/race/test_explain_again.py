"""The command that explains a comparison, where its folder alone is not enough."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.judge.explain_again import explaining_command
from bakeoff.race.again import request_again
from bakeoff.spec.errors import UsageError


def as_own(comparison: Any, command: str) -> Any:
    """Return a comparison as of a file of a user's own, and as it was asked for by this command."""
    workload = msgspec.structs.replace(comparison.workload, name="mine")
    return msgspec.structs.replace(comparison, workload=workload, workload_path="/x/mine.py", command=command)


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "bakeoff run mine.py torch 'jax:mode=compiled' --seed 3 --budget 20s --why --size=reduced",
            "bakeoff explain mine.py torch jax:mode=compiled --seed 3 --size=reduced --resume",
        ),
        ("bakeoff explain mine.py torch jax --resume --budget=5m", "bakeoff explain mine.py torch jax --resume"),
        ("bakeoff run mine.py torch jax --how-much", "bakeoff explain mine.py torch jax --resume"),
        ("bakeoff run mine.py --direction torch jax", "bakeoff explain mine.py torch jax --resume"),
        ("bakeoff run mine.py torch jax --until-sure", "bakeoff explain WORKLOAD CONTENDER [CONTENDER...] --resume"),
        ("bakeoff run mine.py torch jax --layer head", "bakeoff explain WORKLOAD CONTENDER [CONTENDER...] --resume"),
        ("", "bakeoff explain WORKLOAD CONTENDER [CONTENDER...] --resume"),
        ("bakeoff run 'mine.py", "bakeoff explain WORKLOAD CONTENDER [CONTENDER...] --resume"),
    ],
)
def test_a_race_of_an_own_file_is_explained_by_what_was_raced(race: Any, command: str, told: str) -> None:
    """Its folder does not start the file; the refusal has the command that does, with all that was asked for."""
    outcome = race("fake", max_rounds=1)
    own = as_own(outcome.comparison, command)
    with pytest.raises(UsageError) as refused:
        request_again(Path(outcome.path), own, budget_s=None)
    assert str(refused.value).endswith(f"name workload and contenders again:\n  {told}")
    assert "was run with /x/mine.py" in str(refused.value)
    if "WORKLOAD" not in told:
        assert explaining_command(own, outcome.path) == told


def test_a_race_of_what_is_shipped_is_explained_by_its_folder(race: Any) -> None:
    """The shortest command that does it."""
    outcome = race("fake", max_rounds=1)
    assert explaining_command(outcome.comparison, "some folder") == "bakeoff explain 'some folder'"
