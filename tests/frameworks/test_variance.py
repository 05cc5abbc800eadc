"""What loses digits, and what a refused certificate says of it: JAX's variances in one pass, sums in bfloat16."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from bakeoff.environments.declared import framework
from bakeoff.judge.certificate import _why_rounded, certificate_of
from bakeoff.race import conductor
from bakeoff.race.model_calls import with_more_exact
from bakeoff.race.prepare import checked
from bakeoff.spec.request import Request
from bakeoff.spec.verdict import Certificate, Check
from bakeoff.store.files import read_comparison
from bakeoff.store.results import read_records
from bakeoff.workloads.load import load

COLUMNS = """\
import numpy

from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

def of(batch):
    return Size(batch_size=batch, inputs={"x": ArraySpec(shape=(6,))}, targets={"y": ArraySpec(shape=(1,))})

WORKLOAD = Workload(
    name="columns", summary="a table whose columns are not centred, normalised by the batch", source="a table of cars",
    sizes={"full": of(256), "reduced": of(32)}, optimizer=SGD(learning_rate=1e-2),
)

def data(size, samples, seed):
    drawn = numpy.random.default_rng(seed)
    columns = drawn.normal(size=(samples, 6)) * [1, 1, 5, 10, 100, 2000] + [0, 5, 100, 2020, 5000, 2e5]
    return {"x": columns.astype("float32"), "y": drawn.normal(size=(samples, 1)).astype("float32")}

def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm, self.hidden, self.head = nn.BatchNorm(6), nn.Linear(6, 32), nn.Linear(32, 1)

        def forward(self, x):
            return self.head(nn.relu(self.hidden(self.norm(x))))

    return Model()

def loss(nn, outputs, targets):
    return nn.mse(outputs, targets)
"""


def request(folder: Path, *contenders: str, workload: str = "") -> Request:
    """Return what is asked of these contenders in the model of columns, or in a workload."""
    path = folder / "columns.py"
    path.write_text(COLUMNS)
    return Request(
        workload=workload or str(path),
        contenders=contenders,
        size="reduced",
        threads=1,
        results=str(folder / "results"),
    )


@pytest.mark.by_turns
def test_one_pass_is_refused_where_it_loses_digits_and_two_are_certified(tmp_path: Path) -> None:
    """The refusal says that the code is the same in float64, and which setting would lose fewer digits."""
    fast, exact = conductor.verify(request(tmp_path, "jax", "jax:variance=two-pass"))
    assert exact.passed, exact.reason
    assert not fast.passed
    assert "in float64 the same code passes: it differs in float32 alone" in fast.reason
    assert fast.reason.endswith("jax:variance=two-pass would lose fewer digits")
    folder = next((tmp_path / "results").glob("columns-*"))
    records = read_records(folder).records
    in_force = {
        one.trial.contender.label: one.settings["variance"]
        for one in records.values()
        if one.trial.contender.framework == "jax" and one.settings
    }
    assert in_force == {"jax": "one-pass", "jax:variance=two-pass": "two-pass"}
    comparison = read_comparison(folder)
    plan = msgspec.structs.replace(comparison.contenders[0], more_exact=())
    assert not certificate_of(comparison, records, folder, plan).reason.endswith("digits")


def test_what_loses_fewer_digits_is_known_where_a_model_calls_it(tmp_path: Path) -> None:
    """Of a model that normalises by variances where it trains; not of one that does not, nor of what runs with it."""
    asked = request(tmp_path, "jax", "jax:variance=two-pass")
    loaded, plans, _ = checked(asked)
    assert [plan.more_exact for plan in plans] == [("variance=two-pass",), ()]
    without = load("mlp-mnist")
    again = with_more_exact(plans, without, without.size("reduced"), "train")
    assert [plan.more_exact for plan in again] == [(), ()]
    # In evaluation a BatchNorm takes no variance of the batch.
    in_inference = with_more_exact(plans, loaded, loaded.size("reduced"), "infer")
    assert [plan.more_exact for plan in in_inference] == [(), ()]


def test_the_value_that_loses_fewest_digits_is_one_of_the_option() -> None:
    """Of every option that names one."""
    for name in ("jax", "jittor"):
        named = {key: one for key, one in framework(name).info.options.items() if one.exact}
        assert named
        assert all(one.exact in one.values for one in named.values())


SUMS = (
    COLUMNS[: COLUMNS.index("def data")].replace("shape=(6,)", "shape=(4096, 2)")
    + """\
def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.each, self.head = nn.Linear(2, 2), nn.Linear(2, 1)

        def forward(self, x):
            return self.head(nn.mean(self.each(x), 1))

    return Model()

def loss(nn, outputs, targets):
    return nn.mse(outputs, targets)
"""
)


@pytest.mark.by_turns
def test_a_long_sum_in_bfloat16_is_refused_and_says_why(tmp_path: Path) -> None:
    """JAX and TensorFlow add up the gradient of a bias over 131,072 places in bfloat16; PyTorch does so in float32."""
    path = tmp_path / "sums.py"
    path.write_text(SUMS)
    asked = request(tmp_path, "torch", "jax", "tensorflow", workload=str(path))
    right, *wrong = conductor.verify(msgspec.structs.replace(asked, options={"precision": "bfloat16"}))
    assert right.passed, right.reason
    for one, said in zip(wrong, ("JAX adds it up", "Keras' layers add it"), strict=True):
        assert "gradient/each.bias" in one.reason
        assert f"it differs in bfloat16 alone; where it is that of a bias: {said}" in one.reason


def test_what_is_known_to_be_rounded_off_goes_by_the_options(tmp_path: Path) -> None:
    """In bfloat16 and not in float32; and it is told only where that check has failed, and not in float64 as well."""
    _, plans, _ = checked(request(tmp_path, "jax", "jax:precision=bfloat16"))
    assert [list(plan.rounding) for plan in plans] == [[], ["gradients"]]
    failed = Check(name="gradients", stage="timed", passed=False, detail="0.7")
    cases = [((failed,), 1), ((failed, msgspec.structs.replace(failed, stage="program")), 0), ((), 0)]
    plan = msgspec.structs.replace(plans[1], more_exact=())
    for checks, count in cases:
        found = Certificate(contender="jax", reference="torch", passed=False, checks=checks)
        assert len(_why_rounded(plan, found)) == count
