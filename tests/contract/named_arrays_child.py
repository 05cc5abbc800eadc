"""Run in a framework's own interpreter: PYTHON named_arrays_child.py JOB.json FOLDER.

Computes the evidence of each trial, takes one pass from each way of input, and asks for a scenario that nobody knows.
Writes evidence.npz, evidence.json and told.json into FOLDER/<the trial's name>.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any

import jittor_quick
import msgspec

from bakeoff.spec.errors import UnsupportedError
from bakeoff.spec.trial import TrialSpec
from bakeoff.trial.evidence import gather, with_spread
from bakeoff.trial.feeding import feed_of, input_pass
from bakeoff.trial.framework import import_engine
from bakeoff.trial.inputs import batches_of
from bakeoff.trial.model import make_model


class Job(msgspec.Struct, frozen=True, kw_only=True):
    """What is asked of this process."""

    variables: dict[str, str]
    trials: list[TrialSpec]
    inputs: list[str]
    """Values of the option `input`."""


def main(job_path: str, out: str) -> None:
    """Do the job."""
    job = msgspec.json.decode(Path(job_path).read_bytes(), type=Job)
    os.environ.update(job.variables)
    jittor_quick.before_import()
    module = import_engine(Path(job.trials[0].framework_path))
    jittor_quick.after_import()
    engine = module.Engine()
    engine.configure(job.trials[0].contender.options)
    for trial in job.trials:
        compute(engine, trial, job.inputs, Path(out) / trial.name)


def compute(engine: Any, trial: TrialSpec, inputs: list[str], folder: Path) -> None:
    """Compute what is asked of one trial."""
    folder.mkdir()
    model, batches = make_model(trial), batches_of(trial)
    step = engine.build(model, "train", trial.contender.options)
    passes = {mode: _passed(step, batches, with_input(trial, mode)) for mode in inputs}
    evidence = gather(engine, step, model, trial, batches, folder)
    for precision in trial.spreads:
        evidence = with_spread(evidence, engine, model, trial, batches, folder, precision=precision)
    (folder / "evidence.json").write_bytes(msgspec.json.encode(evidence))
    told = {"inputs": passes, "refused": refused(engine, model, trial)}
    (folder / "told.json").write_text(json.dumps(told))


def with_input(trial: TrialSpec, mode: str) -> TrialSpec:
    """Return the trial with another way of input."""
    options = trial.contender.options | {"input": mode}
    return msgspec.structs.replace(trial, contender=msgspec.structs.replace(trial.contender, options=options))


def _passed(step: Any, batches: Any, trial: TrialSpec) -> dict[str, Any]:
    """Return what one pass had, and what the outputs of its first batch are off by from those of the same, prepared."""
    seen = input_pass(trial, step, batches)
    feed = feed_of(trial, step, batches)
    first = next(feed)
    difference = abs(step.outputs(first) - step.outputs(step.prepare(feed.read(first)))).max()
    feed.close()
    return msgspec.to_builtins(seen) | {"difference": float(difference)}


def refused(engine: Any, model: Any, trial: TrialSpec) -> str:
    """Return the reason for which the engine refuses a scenario that it does not know; empty where it takes it."""
    try:
        engine.build(model, "sideways", trial.contender.options)
    except UnsupportedError as error:
        return str(error)
    return ""


if __name__ == "__main__":
    main(*sys.argv[1:])
