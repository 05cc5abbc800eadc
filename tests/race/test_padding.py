from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.race import conductor, prepare
from bakeoff.report.sections.padding import padding_line
from bakeoff.spec.errors import ModelFileError, UsageError
from bakeoff.store.results import read_records

FILE = """
from bakeoff.spec.batch import ArraySpec, Law
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

SIZE = Size(
    batch_size=4,
    inputs={{
        "x": ArraySpec(shape=(40, 8), length="count"),
        "count": ArraySpec(dtype="int32", low=1, high=41, law=Law(mean=16, deviation=8)),
    }},
    classes=3,
)
WORKLOAD = Workload(
    name="ragged", summary="", source="", sizes={{"full": SIZE}}, optimizer=SGD(learning_rate=0.1)
)


def build(nn, size):
    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.hidden = nn.Linear(8, 64)
            self.head = nn.Linear(64, 3)
            {declared}

        def forward(self, batch):
            return self.head(nn.mean(nn.relu(self.hidden(batch["x"]){used}), 1))

    return Model()


def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""


@pytest.fixture
def ragged(tmp_path: Path) -> str:
    """Give a workload whose samples are sequences of different lengths."""
    (tmp_path / "ragged.py").write_text(FILE.format(declared="", used=""))
    return str(tmp_path / "ragged.py")


def raced(request_of: Any, workload: str, *contenders: str, **asked: Any) -> Any:
    """Run a whole comparison in this process; return its outcome and its records by name."""
    request = msgspec.structs.replace(request_of(*contenders), workload=workload, size="full", **asked)
    outcome = conductor.run(request, launch=InlineWorker, probe_s=0.001)
    return outcome, read_records(Path(outcome.path)).records


@pytest.mark.parametrize("padding", ["longest", "buckets:4"])
def test_every_timed_part_holds_every_shape(request_of: Any, ragged: str, padding: str) -> None:
    """Blocks, fenced parts and warm-ups are whole passes over the shapes, and no timed part compiles."""
    contenders = ("fake:mode=compiled,compile_ms=5", "fake:step_ms=20,mode=compiled")
    outcome, records = raced(request_of, ragged, *contenders, padding=padding, max_rounds=2, epochs=2, repeats=1)
    data = outcome.comparison.data
    shapes = len({tuple(one.items()) for one in data.shapes()})
    assert shapes > 2
    timed = [record for record in records.values() if record.trial.purpose == "time"]
    assert len(timed) == 4
    for record in timed:
        assert record.trial.pass_steps == data.batches == 16
        assert len(record.warm_steps_ns) >= 2 * 16
        assert len(record.fenced_steps_ns) % 16 == 0
        assert record.compilations == shapes
        assert {len(block.steps_ns) % 16 for block in record.blocks} == {0}
        assert {block.compilations for block in record.blocks} == {0}
        assert len({block.first_step for block in record.blocks}) == 1
    assert len({len(block.steps_ns) for record in timed for block in record.blocks}) == 1
    assert [one.status for one in outcome.contenders] == ["ranked", "ranked"]
    whole = outcome.contenders[0].whole
    assert whole is not None
    assert [run.compilations for run in whole.runs] == [[shapes, 0]]
    said = padding_line(data)
    assert f"{data.batches} batches of {shapes} shapes; real are " in said
    (sequence,) = data.sequences.items()
    assert f"{sequence[1].real:,} of {sequence[1].real + sequence[1].padding:,} entries of {sequence[0]} (" in said


def test_workers_one_after_another_time_the_same_batches(
    request_of: Any, ragged: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without neighbours each would time as many steps as suit it: of other shapes, another amount of work."""
    monkeypatch.setattr("bakeoff.race.stages.stage.RaceState.why_apart", lambda *_: "the test says so")
    contenders = ("fake:step_ms=0.5", "fake:step_ms=5")
    _, records = raced(request_of, ragged, *contenders, padding="longest", max_rounds=1)
    timed = [record for record in records.values() if record.trial.purpose == "time"]
    assert len({len(block.steps_ns) for record in timed for block in record.blocks}) == 1
    fixed = raced(request_of, ragged, *contenders, max_rounds=1)[1]
    steps = {len(block.steps_ns) for one in fixed.values() if one.trial.purpose == "time" for block in one.blocks}
    assert len(steps) == 2


def test_work_is_that_of_the_batches(request_of: Any, ragged: str) -> None:
    """What a step computes is counted over the shapes that there are, which the speed of light is held against."""
    works = {}
    for padding in ("fixed", "longest"):
        request = msgspec.structs.replace(request_of("fake"), workload=ragged, size="full", padding=padding)
        with prepare.prepared(request) as (comparison, _):
            works[padding] = comparison.work.macs
            entries = comparison.data.entries
    per_entry, head = 4 * 8 * 64 * 2, 4 * 64 * 3 * 3
    assert works["fixed"] == 40 * per_entry + head
    assert works["longest"] == pytest.approx(sum(entries["x"]) / 16 * per_entry + head, abs=1)


def test_models_that_shapes_do_not_fit(request_of: Any, tmp_path: Path) -> None:
    """A model that takes one length alone is refused with its line, before anything is started."""
    text = FILE.format(declared="self.places = nn.Parameter((1, 40, 64))", used=" + self.places")
    (tmp_path / "ragged.py").write_text(text)
    request = msgspec.structs.replace(request_of("fake"), workload=str(tmp_path / "ragged.py"), size="full")
    with prepare.prepared(request):
        pass
    with (
        pytest.raises(ModelFileError, match=r"ragged\.py:\d+: in forward"),
        prepare.prepared(msgspec.structs.replace(request, padding="longest")),
    ):
        pass


def test_ways_of_input_that_have_one_shape(request_of: Any, ragged: str) -> None:
    """A framework's own loader has batches of one shape: it is refused where they are to differ."""
    request = msgspec.structs.replace(request_of("fake", "fake:input=pipeline"), workload=ragged, size="full")
    prepare.checked(request)
    with pytest.raises(UsageError, match=r"padding longest.*fake:input=pipeline would take"):
        prepare.checked(msgspec.structs.replace(request, padding="longest"))
