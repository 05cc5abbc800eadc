"""What a certificate says of a training that diverges: real data that nobody has scaled, and a large learning rate."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakeoff.race import conductor
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.verdict import Certificate

RAW = """
import numpy
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import ArraySpec, Size, Workload

SIZE = Size(batch_size=4, inputs={"x": ArraySpec(shape=(6,))}, targets={"y": ArraySpec(shape=(1,))})
WORKLOAD = Workload(
    name="raw",
    summary="A regression on columns that nobody has scaled.",
    source="A data set of a table, written for this test.",
    sizes={"full": SIZE, "reduced": SIZE},
    optimizer=SGD(learning_rate=0.1),
    scenarios=("train",),
)

def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(6, 1)

        def forward(self, x):
            return self.head(x)

    return Model()

def loss(nn, outputs, targets):
    return nn.mse(outputs, targets)

def data(size, samples, seed):
    drawn = numpy.random.RandomState(seed)
    return {
        "x": drawn.uniform(0, LARGEST, (samples, 6)).astype("float32"),
        "y": drawn.uniform(0, 1, (samples, 1)).astype("float32"),
    }
"""


def certificate(folder: Path, largest: float) -> Certificate:
    """Return PyTorch's certificate on columns of up to this number."""
    path = folder / "raw.py"
    path.write_text(RAW.replace("LARGEST", str(largest)))
    request = Request(
        workload=str(path), contenders=("torch",), size="reduced", threads=1, results=str(folder / "results")
    )
    (found,) = conductor.verify(request)
    return found


@pytest.mark.by_turns
def test_what_float32_cannot_hold_any_more_refuses_nobody(tmp_path: Path) -> None:
    """Losses are held as far as the precision holds them, and the certificate says how far."""
    found = certificate(tmp_path, 100.0)
    assert found.passed, found.reason
    assert found.losses is not None
    assert 2 <= found.losses < 6


@pytest.mark.by_turns
def test_a_training_that_diverges_within_what_the_precision_holds_is_told(tmp_path: Path) -> None:
    """All losses are held, and the certificate says where they go."""
    found = certificate(tmp_path, 3.0)
    assert found.passed, found.reason
    assert found.losses is None
    assert any("training diverges: in 6 steps the reference's loss goes from 16" in one.detail for one in found.checks)


@pytest.mark.by_turns
def test_a_refusal_says_that_training_diverges_and_what_may_mend_it(tmp_path: Path) -> None:
    """Where the reference itself has no finite loss any more, in float64."""
    found = certificate(tmp_path, 1e15)
    assert not found.passed
    assert "training diverges: in 6 steps the reference's loss goes from " in found.reason
    assert found.reason.endswith(
        " to no finite number, which a smaller learning rate may mend, or inputs that are scaled to about 1"
    )


@pytest.mark.by_turns
@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "nn.mse(outputs, targets)",
            "nn.mean(nn.log(0.0 * outputs - 1.0))",
            "the very first loss is no finite number, ",
        ),
        ("return self.head(x)", "return self.head(x * 0.0)", "output 0 of the reference is the same for every sample "),
    ],
)
def test_a_model_that_computes_nothing_is_not_put_down_to_a_framework(
    tmp_path: Path, old: str, new: str, said: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One reason stands in the place of every check that fails for it, and says where to look."""
    monkeypatch.setitem(globals(), "RAW", RAW.replace(old, new))
    found = certificate(tmp_path, 1.0)
    assert not found.passed
    assert found.reason.startswith(said)
    assert "in float64, too, which comes from the model or its data and not from a framework: look for " in found.reason
    assert ";" not in found.reason.partition(": look for ")[2]
