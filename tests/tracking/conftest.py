"""What tests of trackers share: runs of a comparison that was really recorded, read once."""

from __future__ import annotations

from pathlib import Path

import pytest

from bakeoff.acceptance.redacted import Redactor
from bakeoff.tracking.content import runs_of
from bakeoff.tracking.run import TrackedRun

RECORD = Path(__file__).parents[1] / "records/mlp-mnist-fada"
"""A comparison as it was really recorded."""


@pytest.fixture(scope="session")
def recorded() -> list[TrackedRun]:
    """Return the runs of a comparison that is over, with its picture."""
    return runs_of(RECORD, Redactor({}))
