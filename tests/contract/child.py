"""Run in a framework's own interpreter: compute what the contract's tests ask of one contender, one work after another.

    PYTHON child.py JOB.json REQUEST_FD ANSWER_FD      with PYTHONPATH to bakeoff's sources and this folder

Each line of requests names a piece of work and a file; its arrays are written there, and a line of answers follows. The
framework is imported once. What fails is answered with its traceback, so that one failure does not hide the rest.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import tempfile
import time
import traceback
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, NamedTuple

import jittor_quick
import msgspec
import numpy as np
from contract_cases import attention_dropout, dropout, lowered, normal, steady, traced
from contract_cases.cases import CASES
from contract_cases.messages import Answer, Job, Request
from contract_cases.optimizers import OPTIMIZERS, STEADY
from contract_cases.vocabulary import batch_of, labels

import bakeoff.frameworks
from bakeoff.certify.probe import probe_gradients, probe_parameters, probed
from bakeoff.frameworks.engine import Engine, Model, Samples
from bakeoff.measure.peaks import matrix
from bakeoff.spec.batch import labelled
from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.trial import TrialSpec
from bakeoff.spec.vocabulary import VOCABULARY
from bakeoff.spec.workload import Size
from bakeoff.trial.evidence import EVIDENCE_FILE, gather, with_spread
from bakeoff.trial.framework import import_engine, set_denormals
from bakeoff.trial.inputs import Batches
from bakeoff.trial.model import make_model
from bakeoff.workloads import plan

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from types import ModuleType

SAMPLES = 24
"""How many samples a way of input has; a multiple of the batch size below."""

LARGE = (65_536, 64)
"""The shape of an array whose squares, added one by one in float32, lose far more than a rounding."""

PRODUCT = 32
"""Rows of a product's matrices."""

SIZE = Size(batch_size=4, input_shape=(5,), classes=3)


def main(job_path: str, request_fd: str, answer_fd: str) -> None:
    """Import the framework, then answer every request until there are no more."""
    job = msgspec.json.decode(Path(job_path).read_bytes(), type=Job)
    os.environ.update(job.variables)
    jittor_quick.before_import()
    made = _made(job)
    with os.fdopen(int(request_fd), "rb") as requests, os.fdopen(int(answer_fd), "wb", buffering=0) as answers:
        for line in requests:
            request = msgspec.json.decode(line, type=Request)
            answer = _answered(made, job, request)
            answers.write(msgspec.json.encode(answer) + b"\n")


class Made(NamedTuple):
    """An engine, and every piece of work by name, but for the evidence of workloads."""

    engine: Engine
    work: dict[str, Callable[[], dict[str, Any]]]


def _made(job: Job) -> Made:
    """Make the engine of a framework's folder."""
    set_denormals(job.options)
    module = import_engine(Path(job.folder))
    jittor_quick.after_import()
    engine: Engine = module.Engine()
    engine.configure(job.options)
    return Made(engine, _work(engine, job))


def _answered(made: Made, job: Job, request: Request) -> Answer:
    """Do one piece of work and write its arrays."""
    try:
        if request.folder:
            with _forgotten(Path(job.folder).name):
                made = _made(msgspec.structs.replace(job, folder=request.folder))
                arrays = _done(made, request)
        else:
            arrays = _done(made, request)
        np.savez(request.path, **arrays)
    except UnsupportedError as error:
        return Answer(hole=str(error))
    except Exception:  # noqa: BLE001 - whatever it is, it is the answer
        return Answer(fault=traceback.format_exc())
    return Answer()


def _done(made: Made, request: Request) -> dict[str, Any]:
    """Do one piece of work."""
    if request.trial is None:
        return made.work[request.name]()
    work = {"steady": _steady, "lowered": _lowered, "traced": _traced}.get(request.name.partition("/")[0], _trial)
    return work(made.engine, request.trial)


@contextmanager
def _forgotten(framework: str) -> Iterator[None]:
    """Have a framework's folder imported anew, from elsewhere; the framework itself stays imported."""
    name = f"{bakeoff.frameworks.__name__}.{framework}"
    own = _modules(name)
    _drop(own)
    try:
        yield
    finally:
        _drop(_modules(name))
        sys.modules.update(own)


def _modules(name: str) -> dict[str, ModuleType]:
    """Return the imported modules of a package."""
    return {found: module for found, module in sys.modules.items() if found == name or found.startswith(f"{name}.")}


def _drop(modules: dict[str, ModuleType]) -> None:
    """Forget that modules are imported."""
    for name in modules:
        del sys.modules[name]


def _planted(engine: Engine, job: Job, plant: str) -> dict[str, Any]:
    """Return the traces of a model without and with a planted cause."""
    return traced.planted(Path(job.folder).name, engine, job.options, plant)


def _work(engine: Engine, job: Job) -> dict[str, Callable[[], dict[str, Any]]]:
    """Return every piece of work by name, but for the evidence of workloads."""
    work: dict[str, Callable[[], dict[str, Any]]] = {
        "names": lambda: _names(Path(job.folder)),
        "versions": lambda: {name: np.array(value, "U") for name, value in engine.versions().items()},
        "compilation": lambda: _compilation(engine, job.options),
        "peaks": lambda: _peaks(engine),
        "scheduled": lambda: _scheduled(engine, job.options),
        "sleeping": lambda: traced.sleeping(Path(job.folder).name, engine, job.options),
        **{f"planted/{plant}": partial(_planted, engine, job, plant) for plant in ("sleep", "float64", "transposed")},
        "tf32": lambda: {name: np.array(value) for name, value in engine.measured_tf32().items()},
    }
    work |= {f"case/{name}": lambda name=name: _case(engine, job.options, name) for name in CASES}
    work |= {f"reference/{name}": lambda name=name: _case(engine, job.options, name, own=True) for name in CASES}
    work |= {
        f"dropout/{rate}": lambda rate=rate: _dropout(engine, job.options, dropout.build(rate))
        for rate in dropout.RATES
    }
    work["dropout in a scan"] = lambda: _dropout(engine, job.options, dropout.build_in_scan)
    work |= {
        f"attention dropout/{rate}": lambda rate=rate: _dropout(
            engine, job.options, attention_dropout.build(rate), attention_dropout
        )
        for rate in attention_dropout.RATES
    }
    work["normal"] = lambda: _normal(engine, job.options)
    work |= {
        f"stochastic/{rate}": lambda rate=rate: _dropout(engine, job.options, dropout.build(rate, "StochasticDepth"))
        for rate in dropout.BY_SAMPLE
    }
    work |= {f"optimizer/{name}": lambda name=name: _optimizer(engine, name) for name in OPTIMIZERS}
    work["clipped"] = lambda: _clipped(engine)
    ways = {value: job.options | {"input": value} for value in ("per-step", "pipeline")}
    ways["hand"] = job.options | {"input": "pipeline", "loader": "hand"}
    for name in ("linear", "conv2d"):
        work |= {
            f"input/{way}/{name}": lambda asked=asked, name=name: _input(engine, asked, job, name)
            for way, asked in ways.items()
        }
    return work


def _names(folder: Path) -> dict[str, Any]:
    """Return which names the framework's vocabulary lacks, and which it has beyond the agreed ones."""
    module = sys.modules[f"bakeoff.frameworks.{folder.name}.nn"]
    return {
        "lacking": np.array([name for name in VOCABULARY if not hasattr(module, name)], "U"),
        "of the reference": np.array(
            [name for name, one in getattr(module, "reference_layers", {}).items() if one is not getattr(module, name)],
            "U",
        ),
        "beyond": np.array([name for name in getattr(module, "__all__", ()) if name not in VOCABULARY], "U"),
    }


def _case(engine: Engine, options: dict[str, str], name: str, *, own: bool = False) -> dict[str, Any]:
    """Compute outputs, loss, gradients and running statistics of one case, with `own` by the reference's own layers."""
    case = CASES[name]

    def build(nn: Any, size: Size) -> Any:
        del size
        layers = getattr(nn, "reference_layers", {}) if own else {}
        return case.build(SimpleNamespace(**vars(nn) | layers) if layers else nn)

    model = Model(
        build=build,
        loss=case.loss or (lambda nn, outputs, targets: nn.cross_entropy(outputs, targets)),
        size=SIZE,
        optimizer=SGD(learning_rate=0.0),
        weights=plan.weights(build, SIZE, 0),
        state=plan.state_values(build, SIZE, 0),
    )
    step = engine.build(model, "train", options)
    batch = step.prepare(batch_of(case))
    found: dict[str, Any] = {"outputs": step.outputs(batch)}
    if case.deterministic:
        found |= {f"gradient/{key}": value for key, value in step.gradients(batch).items()}
        found |= {f"before/{key}": value for key, value in step.state().items()}
        step.run(batch)
        step.wait()
        found["loss"] = step.result()
        found |= {f"after/{key}": value for key, value in step.state().items()}
        found["unbiased"] = np.array(engine.running_variance == "unbiased")
    return found


def _compilation(engine: Engine, options: dict[str, str]) -> dict[str, Any]:
    """Return what was traced and compiled before and after three steps, the third of another shape; -1 is unknown."""
    case = CASES["linear"]
    model = Model(
        build=lambda nn, size: case.build(nn) if size else None,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=SGD(learning_rate=0.0),
        weights=plan.weights(lambda nn, size: case.build(nn) if size else None, SIZE, 0),
    )
    step = engine.build(model, "train", options)
    batch = step.prepare(labelled(case.x, labels(case.x)))
    other = step.prepare(labelled(case.x[:-1], labels(case.x)[:-1]))
    readings = [step.compilation()]
    durations_ns = []
    for one in (batch, batch, other):
        began = time.perf_counter_ns()
        step.run(one)
        step.wait()
        durations_ns.append(time.perf_counter_ns() - began)
        readings.append(step.compilation())
    told = [[getattr(reading, name) for name in ("trace_ns", "compile_ns", "count")] for reading in readings]
    return {"told": [[-1 if value is None else value for value in line] for line in told], "first_ns": durations_ns[0]}


def _peaks(engine: Engine) -> dict[str, Any]:
    """Return the first row of a product that was run twice, and the first value of an array of ones after two sums."""
    left, right = matrix(PRODUCT, 1), matrix(PRODUCT, 2)
    probes = [engine.product(left, right), engine.sums(1000)]
    for probe in probes:
        probe.run(None)
        probe.run(None)
        probe.wait()
    product, total = (probe.read() for probe in probes)
    return {"product": product, "expected": left[0].astype(np.float64) @ right, "sum": total[0]}


def _input(engine: Engine, options: dict[str, str], job: Job, name: str) -> dict[str, Any]:
    """Read two epochs from a framework's own way of input, and train on the first batch of the third."""
    case = CASES[name]
    shape = case.x.shape[1:]
    samples = Samples(
        arrays=labelled(
            np.arange(SAMPLES * int(np.prod(shape)), dtype=np.float32).reshape(SAMPLES, *shape),
            np.arange(SAMPLES, dtype=np.int32) % SIZE.classes,
        ),
        batch_size=SIZE.batch_size,
        seed=3,
    )
    step = engine.build(_model(case), "train", options)
    module = importlib.import_module(f"bakeoff.frameworks.{Path(job.folder).name}.input")
    feed = module.feed(step, samples, options)
    raw = [*islice(feed, 2 * SAMPLES // SIZE.batch_size)]
    epochs = raw[: len(raw) // 2], raw[len(raw) // 2 :]
    kept = set.intersection(*({id(array) for batch in epoch for array in _arrays_of(batch)} for epoch in epochs))
    given = [feed.read(batch) for batch in raw]
    last = next(feed)
    processes, settings = feed.processes(), feed.settings()
    losses = [_loss(step, batch) for batch in (last, step.prepare(feed.read(last)))]
    feed.close()
    return {
        "x": np.concatenate([batch.inputs["x"] for batch in given]),
        "y": np.concatenate([batch.targets["y"] for batch in given]),
        "samples_x": samples.arrays.inputs["x"],
        "samples_y": samples.arrays.targets["y"],
        "losses": losses,
        "kept": np.array(len(kept)),
        "left": np.array([pid for pid in processes if _is_running(pid)], int),
        "call": np.array(str(settings["input_call"]), "U"),
    }


def _arrays_of(batch: Any) -> Iterator[Any]:
    """Yield the arrays of a batch as a step takes it."""
    if isinstance(batch, tuple | list):
        for part in batch:
            yield from _arrays_of(part)
    elif isinstance(batch, dict):
        yield from _arrays_of([*batch.values()])
    else:
        yield batch


def _model(case: Any) -> Model:
    """Return a case's model as a workload has it."""

    def build(nn: Any, size: Size) -> Any:
        del size
        return case.build(nn)

    return Model(
        build=build,
        loss=lambda nn, outputs, targets: nn.cross_entropy(outputs, targets),
        size=SIZE,
        optimizer=SGD(learning_rate=0.0),
        weights=plan.weights(build, SIZE, 0),
    )


def _loss(step: Any, batch: Any) -> float:
    """Return the loss of a batch."""
    step.run(batch)
    step.wait()
    return float(step.result())


def _is_running(pid: int) -> bool:
    """Return whether a process still runs after five seconds; one that has ended, but was not waited for, does not."""
    for _ in range(50):
        try:
            state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
        except OSError:
            return False
        if state == "Z":
            return False
        time.sleep(0.1)
    return True


def _dropout(engine: Engine, options: dict[str, str], build: Any, case: Any = dropout) -> dict[str, Any]:
    """Return the outputs in evaluation, the losses of steps that change nothing, and how far a step moves elements."""
    found = _drawn(engine, options, build, case)
    return {"outputs": found["outputs"], "losses": found["losses"], "moved": found["moved/each"]}


def _normal(engine: Engine, options: dict[str, str]) -> dict[str, Any]:
    """Return the same of RandomNormal: how far a step moves the parameters that its draws are multiplied with."""
    return _drawn(engine, options, normal.build, normal)


def _drawn(engine: Engine, options: dict[str, str], build: Any, case: Any) -> dict[str, Any]:
    """Return what a model that draws gives for inputs of zeros, in evaluation and in training."""
    weights = plan.weights(build, SIZE, 0)
    x, y = np.zeros((case.BATCH, 5), np.float32), np.zeros(case.BATCH, np.int32)
    still, moving = (
        engine.build(
            Model(build=build, loss=case.loss, size=SIZE, optimizer=SGD(learning_rate=step), weights=weights),
            "train",
            options,
        )
        for step in (0.0, 1.0)
    )
    batch = still.prepare(labelled(x, y))
    losses = []
    for _ in range(case.STEPS):
        still.run(batch)
        still.wait()
        losses.append(still.result())
    before = moving.parameters()
    moving.run(moving.prepare(labelled(x, y)))
    moving.wait()
    after = moving.parameters()
    moved = {f"moved/{name}": before[name] - after[name] for name in before}
    return {"outputs": still.outputs(batch), "losses": losses, **moved}


def _clipped(engine: Engine) -> dict[str, Any]:
    """Clip one large gradient to a norm of one; return the norm of what a rate of one makes of zeros."""
    gradient = np.random.RandomState(0).standard_normal(LARGE)
    optimizer = SGD(learning_rate=1.0, clip_norm=1.0)
    (after,) = engine.optimize(optimizer, {"table": np.zeros(LARGE)}, [{"table": gradient}])
    return {"norm": np.linalg.norm(np.asarray(after["table"], np.float64))}


def _optimizer(engine: Engine, name: str) -> dict[str, Any]:
    """Apply one optimiser to given gradients, and return the parameters after each step."""
    optimizer = OPTIMIZERS[name]
    gradients = probe_gradients(optimizer.clip_norm)
    states = engine.optimize(probed(optimizer), probe_parameters(optimizer), gradients)
    return {f"optimizer/{t}/{key}": value for t, state in enumerate(states) for key, value in state.items()}


def _steady(engine: Engine, trial: TrialSpec) -> dict[str, Any]:
    """Repeat steps of one workload from a snapshot, with the dropout that it has."""
    step = engine.build(make_model(trial), trial.scenario, trial.contender.options)
    batches = Batches(Path(trial.inputs_path))
    return steady.repeated(step, [step.prepare(batches.at(index)) for index in range(batches.count)])


def _scheduled(engine: Engine, options: dict[str, str]) -> dict[str, Any]:
    """Repeat steps from a snapshot by an optimiser with all that there is, within the fall of its schedule."""
    case = CASES["linear"]
    model = msgspec.structs.replace(_model(case), optimizer=STEADY)
    step = engine.build(model, "train", options)
    batches = [step.prepare(labelled(case.x * scale, labels(case.x))) for scale in (1, 2, 3)]
    return steady.repeated(step, batches)


def _lowered(engine: Engine, trial: TrialSpec) -> dict[str, Any]:
    """Return the products in a workload's training step as a GPU's compiler gets it; the options name a precision."""
    model, batches, options = make_model(trial), Batches(Path(trial.inputs_path)), trial.contender.options
    found = lowered.products(
        trial.contender.framework,
        engine,
        options["precision"],
        lambda: engine.build(model, "train", options),
        lambda step: step.prepare(batches.at(0)),
    )
    return {"products": np.array(found, "U")}


def _traced(engine: Engine, trial: TrialSpec) -> dict[str, Any]:
    """Trace a workload's steps; what is compared with those without scopes is run without them, too."""
    model, options, batches = make_model(trial), trial.contender.options, Batches(Path(trial.inputs_path))
    work = traced.compared if trial.name.startswith("compared/") else traced.traced
    given = [batches.at(index) for index in range(batches.count)]
    return work(trial.contender.framework, engine, model, options, given)


def _trial(engine: Engine, trial: TrialSpec) -> dict[str, Any]:
    """Gather the evidence of one workload in one scenario, as a worker does."""
    model = make_model(trial)
    step = engine.build(model, trial.scenario, trial.contender.options)
    folder = Path(trial.inputs_path)
    with tempfile.TemporaryDirectory() as found:
        evidence = gather(engine, step, model, trial, Batches(folder), Path(found))
        for precision in trial.spreads:
            evidence = with_spread(evidence, engine, model, trial, Batches(folder), Path(found), precision=precision)
        arrays = dict(np.load(Path(found) / EVIDENCE_FILE, allow_pickle=False))
    texts = {"evidence": msgspec.json.encode(evidence).decode(), "settings": json.dumps(step.settings())}
    return {name: np.array(text, "U") for name, text in texts.items()} | arrays


if __name__ == "__main__":
    main(*sys.argv[1:])
