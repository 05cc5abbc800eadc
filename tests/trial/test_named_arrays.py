"""Batches of several named arrays go the whole way through the worker, by the scripted framework."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from weakref import ReferenceType, ref

import msgspec
import numpy as np
import pytest

from bakeoff import data
from bakeoff.certify.certificate import certify
from bakeoff.certify.checks import Exhibit
from bakeoff.spec import protocol
from bakeoff.spec.batch import Batch
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.record import Record
from bakeoff.spec.scenario import SCENARIOS, ScenarioSpec
from bakeoff.spec.trial import CERTIFY_STEPS, FEW_CERTIFY_STEPS, Inputs, TrialSpec
from bakeoff.store.files import TRIAL_FILE, read_record, write_trial
from bakeoff.trial import built as trial_built
from bakeoff.trial import handlers
from bakeoff.trial.evidence import Gathering, accuracy_of, gather, with_spread
from bakeoff.trial.framework import import_engine
from bakeoff.trial.inputs import Batches
from bakeoff.trial.model import make_model
from bakeoff.trial.updates import Updates
from bakeoff.trial.worker import TrialProcess
from bakeoff.workloads.load import load

WORKLOAD = load(Path(__file__).parents[1] / "contract" / "contract_cases" / "named_arrays.py")
SIZE = WORKLOAD.size("full")
MOVED = protocol.MeasureSpread(precision="float32")


@pytest.fixture
def trial(trial_of: Any, fake: Path, fakes_options: dict[str, str], tmp_path: Path) -> TrialSpec:
    """Return a trial of the workload with two inputs and two targets."""
    data.prepare(None, WORKLOAD.workload, SIZE, SIZE.batch_size, 3, tmp_path / "named")
    spec = msgspec.json.decode((trial_of(fake, **fakes_options) / TRIAL_FILE).read_bytes(), type=TrialSpec)
    return msgspec.structs.replace(
        spec,
        workload_path=str(WORKLOAD.path),
        workload_name=WORKLOAD.workload.name,
        size="full",
        batch_size=SIZE.batch_size,
        inputs_path=str(tmp_path / "named"),
        spreads=(MOVED.precision,),
    )


def recorded(trial: TrialSpec, folder: Path, purpose: str, mode: str, *commands: protocol.Command) -> Record:
    """Run a trial of a purpose, with a way of input, to its record."""
    contender = msgspec.structs.replace(trial.contender, options=trial.contender.options | {"input": mode})
    write_trial(folder, msgspec.structs.replace(trial, purpose=purpose, contender=contender))
    worker = TrialProcess(folder, started_ns=1)
    for answer in (worker.start(), *(worker.obey(command) for command in (protocol.Build(), *commands))):
        assert not isinstance(answer, protocol.Failed), answer
    worker.obey(protocol.Quit())
    return read_record(folder)


def test_the_declared_arrays_are_drawn_and_written_by_name(trial: TrialSpec) -> None:
    """Each array has its own type, shape and range; inputs.json says which are inputs and which are targets."""
    folder = Path(trial.inputs_path)
    inputs = msgspec.json.decode((folder / "inputs.json").read_bytes(), type=Inputs)
    assert (inputs.inputs, inputs.targets) == (("tokens", "length"), ("curve", "label"))
    batch = Batches(folder).at(0)
    shapes = {name: (array.shape, array.dtype) for name, array in batch.arrays.items()}
    assert shapes == {
        "tokens": ((6, 12), np.int32),
        "length": ((6, 1), np.float32),
        "curve": ((6, 3, 4), np.float32),
        "label": ((6,), np.int32),
    }
    tokens = Batches(folder).samples().inputs["tokens"]
    assert (tokens.min(), tokens.max()) == (0, 19)


def test_a_certificate_covers_every_array_that_is_fed(trial: TrialSpec, tmp_path: Path) -> None:
    """The pass through the contender's own way of input holds samples by all their arrays."""
    record = recorded(trial, tmp_path / "certify", "certify", "pipeline", protocol.Certify(), MOVED)
    assert record.evidence is not None
    seen = record.evidence.input_pass
    assert seen is not None
    assert (seen.missing, seen.unexpected, seen.in_order) == (0, 0, False)
    with np.load(tmp_path / "certify" / "evidence.npz", allow_pickle=False) as arrays:
        exhibit = Exhibit(label="fake", evidence=record.evidence, arrays=dict(arrays))
    certificate = certify(exhibit, exhibit, workload=WORKLOAD.workload, size=SIZE, scenario="train", steps=6)
    assert certificate.passed, certificate.reason


def test_the_step_of_the_evidence_is_gone_before_draws_are_made(
    trial: TrialSpec, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It holds as much as four copies of the parameters; what was in force is in the record all the same."""
    built: list[ReferenceType[Any]] = []
    alive: list[bool] = []

    def make(*given: Any) -> Any:
        step = made(*given)
        built.append(ref(step))
        return step

    def spread(*given: Any, **asked: Any) -> Any:
        alive.extend(one() is not None for one in built)
        return with_spread(*given, **asked)

    made = trial_built._built
    monkeypatch.setattr(trial_built, "_built", make)
    monkeypatch.setattr(handlers, "with_spread", spread)
    record = recorded(trial, tmp_path / "certify", "certify", "pipeline", protocol.Certify(), MOVED)
    assert alive == [False]
    assert record.settings["precision"] == "float32"


def test_a_draw_takes_the_first_gradients_alone(
    trial: TrialSpec, fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its parameters after each step are compared, and a pass for each step's gradients would be one for nothing."""
    engine = import_engine(fake).Engine()
    engine.configure(trial.contender.options)
    model, batches = make_model(trial), Batches(Path(trial.inputs_path))
    step = engine.build(model, "train", trial.options)
    evidence = gather(engine, step, model, trial, batches, tmp_path)
    asked: list[Any] = []
    gradients = type(step).gradients

    def counted(self: Any, batch: Any) -> Any:
        asked.append(batch)
        return gradients(self, batch)

    monkeypatch.setattr(type(step), "gradients", counted)
    found = with_spread(evidence, engine, model, trial, batches, tmp_path, precision="float64")
    assert len(asked) == 1
    assert len(found.spreads["float64"].trajectory) == trial.certify_steps + 1


@pytest.mark.parametrize(
    ("changed", "passes"),
    [
        ({"purpose": "program", "certify_steps": FEW_CERTIFY_STEPS}, 1),
        ({"purpose": "program", "certify_steps": CERTIFY_STEPS}, CERTIFY_STEPS + 1),
        ({"purpose": "certify", "certify_steps": FEW_CERTIFY_STEPS}, FEW_CERTIFY_STEPS + 1),
    ],
)
def test_a_large_program_computes_its_first_gradients_alone(
    trial: TrialSpec, fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changed: dict[str, Any], passes: int
) -> None:
    """Where its steps lead is held; what is timed has a pass for each step's gradients, as has a small program."""
    engine = import_engine(fake).Engine()
    engine.configure(trial.contender.options)
    trial = msgspec.structs.replace(trial, **changed)
    step = engine.build(make_model(trial), "train", trial.options)
    gradients, asked = type(step).gradients, list[Any]()
    monkeypatch.setattr(type(step), "gradients", lambda *given: (asked.append(given), gradients(*given))[1])
    evidence = gather(engine, step, make_model(trial), trial, Batches(Path(trial.inputs_path)), tmp_path)
    assert len(asked) == passes
    assert evidence.own_gradients == (1 if passes == 1 else None)
    rows = [value for name, value in np.load(tmp_path / "evidence.npz").items() if name.startswith("update/")]
    assert rows
    for one in rows:
        assert len(one) == 2 * trial.certify_steps + 3
        assert all(np.array_equal(later, one[1]) for later in one[3::2]) or passes > 1


def test_a_large_program_of_per_sample_gradients_computes_those_of_each_step(trial: TrialSpec, fake: Path) -> None:
    """Where its steps lead is not held where each framework adds noise of its own."""
    engine = import_engine(fake).Engine()
    engine.configure(trial.contender.options)
    trial = msgspec.structs.replace(trial, purpose="program", certify_steps=FEW_CERTIFY_STEPS)
    model, batches = make_model(trial), Batches(Path(trial.inputs_path))
    step = engine.build(model, "train", trial.options)
    for scenario, alone in (("train", True), ("per-sample-gradients", False), ("infer", False)):
        asked = msgspec.structs.replace(trial, scenario=scenario)
        assert Gathering(engine, step, model, asked, batches).first_alone is alone


def test_where_first_gradients_stand_alone_each_step_has_their_norm(trial: TrialSpec, fake: Path) -> None:
    """By which they are clipped: evidence has as many norms as updates."""
    engine = import_engine(fake).Engine()
    engine.configure(trial.contender.options)
    step = engine.build(make_model(trial), "train", trial.options)
    kept, batch = Updates(step, clips=True, first_alone=True), Batches(Path(trial.inputs_path)).at(0)
    for _ in range(3):
        kept.before(batch)
        step.run(batch)
        kept.after()
    norms = kept.arrays()["norm"]
    assert norms.shape == (3,)
    assert len({*norms}) == 1


def test_a_sample_whose_targets_are_anothers_is_missed(trial: TrialSpec, tmp_path: Path) -> None:
    """One array that comes with another sample's others is seen."""
    options = trial.contender.options | {"wrong": "inputs"}
    wrong = msgspec.structs.replace(trial, contender=msgspec.structs.replace(trial.contender, options=options))
    record = recorded(wrong, tmp_path / "wrong", "certify", "per-step", protocol.Certify())
    assert record.evidence is not None
    assert record.evidence.input_pass is not None
    assert (record.evidence.input_pass.missing, record.evidence.input_pass.unexpected) == (1, 1)


def test_what_a_scenario_owes_is_gathered(
    trial: TrialSpec, fake: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table says which evidence is computed: gradients also of a scenario that trains nothing, and no losses."""
    spec = ScenarioSpec(verb="differentiates", trains=False, evidence=frozenset({"outputs", "gradients"}))
    monkeypatch.setitem(SCENARIOS, "sideways", spec)
    engine = import_engine(fake).Engine()
    engine.configure(trial.contender.options)
    model = make_model(trial)
    step = engine.build(model, "train", trial.contender.options)
    asked = msgspec.structs.replace(trial, scenario="sideways")
    evidence = gather(engine, step, model, asked, Batches(Path(trial.inputs_path)), tmp_path)
    with np.load(tmp_path / "evidence.npz", allow_pickle=False) as arrays:
        kinds = {name.partition("/")[0] for name in arrays.files}
    assert (kinds, evidence.losses) == ({"output", "gradient"}, [])


@pytest.mark.parametrize("mode", ["resident", "per-step", "pipeline"])
def test_a_timed_trial_runs_on_them(trial: TrialSpec, tmp_path: Path, mode: str) -> None:
    """Steps are timed, and one batch of another size is made for a search."""
    block = protocol.RunBlock(lead=1, steps=2, turn=0)
    assert recorded(trial, tmp_path / mode, "time", mode, block).blocks[0].steps_ns
    larger = msgspec.structs.replace(trial, batch_size=1000)
    record = recorded(larger, tmp_path / f"{mode}-1000", "batch", mode, protocol.MeasureMemory(steps=1))
    assert record.memory is not None


def test_an_unknown_scenario_is_refused(trial: TrialSpec, fake: Path) -> None:
    """The scripted engine has a step for what it knows, and for nothing else."""
    engine = import_engine(fake).Engine()
    with pytest.raises(UnsupportedError, match="no step for the scenario 'sideways'; it has train, infer"):
        engine.build(make_model(trial), "sideways", trial.contender.options)


class Answers:
    """A step whose outputs are given."""

    def __init__(self, outputs: Any) -> None:
        """Take the outputs of every sample."""
        self.given = outputs

    def prepare(self, batch: Batch) -> Batch:
        """Keep the batch."""
        return batch

    def outputs(self, batch: Batch) -> Any:
        """Return the outputs that belong to the batch's numbers."""
        return self.given[batch.inputs["number"]]


@pytest.mark.parametrize(
    ("targets", "shape", "expected"),
    [
        ({"label": np.array([0, 1, 2, 0, 0])}, (5, 3), 3 / 5),
        ({"words": np.tile(np.array([0, 1]), (5, 1))}, (5, 2, 3), 1 / 2),
        ({"curve": np.zeros((5, 3), np.float32)}, (5, 3), None),
        ({"words": np.zeros((5, 2), np.int32)}, (5, 3), None),
        ({"label": np.zeros(5, np.int32), "other": np.zeros(5, np.int32)}, (5, 3), None),
    ],
)
def test_accuracy_is_that_of_labels(targets: Any, shape: tuple[int, ...], expected: float | None) -> None:
    """The share of labels with the largest output, one or several a sample; None where targets are no labels."""
    outputs = np.zeros(shape)
    outputs[..., 0] = 1.0
    test = Batch({"number": np.arange(5)}, targets)
    assert accuracy_of(Answers(outputs), test, batch_size=2) == expected  # type: ignore[arg-type]
