"""What a worker's commands do that no whole trial shows."""

from __future__ import annotations

from contextlib import nullcontext
from types import SimpleNamespace
from typing import Any, cast

import pytest

from bakeoff.trial import handlers
from bakeoff.workloads.load import load

EASED = SimpleNamespace(easing=nullcontext)


@pytest.mark.parametrize("purpose", ["reference", "program", "certify"])
@pytest.mark.parametrize(
    ("workload", "engine", "is_eased"),
    [("cnn-cifar10", EASED, True), ("mlp-mnist", EASED, False), ("cnn-cifar10", SimpleNamespace(), False)],
)
def test_models_with_convolutions_alone_cost_less_in_float64(
    purpose: str,
    workload: str,
    engine: Any,
    is_eased: bool,  # noqa: FBT001 - a case's own
) -> None:
    """The engine says by the trial's purpose how, and may have nothing; a program's model has no weights left."""
    loaded = load(workload)
    opened = SimpleNamespace(trial=SimpleNamespace(purpose=purpose), engine=engine)
    model = SimpleNamespace(build=loaded.build, size=loaded.size("reduced"), weights={})
    with handlers._eased(cast("Any", SimpleNamespace(opened=opened, model=model))) as found:
        assert found == (purpose if is_eased else None)
