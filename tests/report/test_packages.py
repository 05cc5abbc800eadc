from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from tests.report.shown import markdown

from bakeoff.report.sections.settings import version_table

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def test_a_race_between_versions_names_each(noisy: Outcome) -> None:
    """A package that contenders have in several versions is named with all of them, and with whose each is."""
    told = [{"jax": "0.9.2", "numpy": "2.4.6", "nvidia-cudnn-cu13": "9.28"}, {"jax": "0.10.2", "numpy": "2.4.6"}]
    contenders = [
        msgspec.structs.replace(one, versions=versions, label=label)
        for one, versions, label in zip(noisy.contenders, told, ("jax@0.9.2", "jax@0.10.2"), strict=False)
    ]
    outcome = msgspec.structs.replace(noisy, contenders=contenders, verdicts=[])
    text = markdown(outcome)
    assert "jax 0.9.2 (jax@0.9.2) and 0.10.2 (jax@0.10.2), numpy 2.4.6" in text
    # A GPU has dozens of libraries: they stand in the environment's table alone.
    assert "nvidia-cudnn-cu13" not in text
    assert "nvidia-cudnn-cu13" in [line.cells[0] for line in version_table(outcome).lines]
