"""Run in a framework's interpreter: certify steps with planted faults against the same framework in float64, as JSON.

PYTHON mutants_child.py TRIALS.json    with the trials of the reference and of the contender, two by two

Only the first loss is held, as of full sizes: what a step does after its forward pass has to be seen by other checks.
"""

from __future__ import annotations

import contextlib
import io
import json
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np

from bakeoff.certify.certificate import certify
from bakeoff.certify.checks import Exhibit
from bakeoff.spec.trial import TrialSpec
from bakeoff.trial.evidence import EVIDENCE_FILE, gather, with_spread
from bakeoff.trial.framework import import_engine
from bakeoff.trial.inputs import Batches
from bakeoff.trial.model import make_model
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from collections.abc import Callable


def later(first: Any, then: Any) -> Any:
    """Return a run that is faultless in its first call."""
    calls = []

    def run(batch: Any) -> None:
        calls.append(None)
        (first if len(calls) == 1 else then)(batch)

    return run


def every_second(run: Any) -> Any:
    """Return a run of which every second call does nothing."""
    calls = []

    def skipping(batch: Any) -> None:
        calls.append(None)
        if len(calls) % 2:
            run(batch)

    return skipping


def half(batch: Any) -> Any:
    """Return the first half of a batch."""
    return tuple(part[: len(part) // 2] for part in batch)


def torch_training(step: Any) -> dict[str, Any]:  # noqa: C901 - one small function a fault
    """Return each fault in training by its name, as the function in the place of `run`."""
    import torch

    optimizer, run = step._optimizer, step.run

    def differentiated(batch: Any, *, clear: bool = True) -> None:
        if clear:
            optimizer.zero_grad()
        step._loss = step._loss_of(*batch)
        step._loss.backward()

    def head_only(batch: Any) -> None:
        differentiated(batch)
        for parameter in list(step._network.parameters())[:-2]:
            parameter.grad = None
        optimizer.step()

    def stale(batch: Any) -> None:
        differentiated(batch, clear=False)
        optimizer.step()

    def reduced(batch: Any) -> None:
        with torch.autocast("cpu", torch.bfloat16):
            run(batch)

    def mislabelled(batch: Any) -> None:
        run((batch[0], torch.roll(batch[1], 1, 0)))

    def slowly(batch: Any) -> None:
        for group in optimizer.param_groups:
            group["lr"] *= 0.5
        run(batch)
        for group in optimizer.param_groups:
            group["lr"] *= 2.0

    def without_decay(batch: Any) -> None:
        if len(optimizer.param_groups) == 1:
            (group,) = optimizer.param_groups
            flat = [parameter for parameter in group["params"] if parameter.ndim == 1]
            group["params"] = [parameter for parameter in group["params"] if parameter.ndim != 1]
            same = {name: value for name, value in group.items() if name != "params"}
            optimizer.add_param_group(same | {"params": flat, "weight_decay": 0.0})
        run(batch)

    return {
        "honest": run,
        "no-update": differentiated,
        "every-second": every_second(run),
        "head-only": head_only,
        "half-the-rate": slowly,
        "half-the-batch-later": later(run, lambda batch: run(half(batch))),
        "stale-gradients": stale,
        "bfloat16-later": later(run, reduced),
        "wrong-labels-later": later(run, mislabelled),
        "no-decay-of-norms": without_decay,
    }


def torch_inference(step: Any) -> dict[str, Any]:
    """Return each fault in inference by its name, as the function in the place of `run`."""
    import torch

    run = step.run

    def reduced(batch: Any) -> None:
        with torch.autocast("cpu", torch.bfloat16):
            run(batch)

    return {
        "honest": run,
        "nothing-later": later(run, lambda _: None),
        "half-the-batch": lambda batch: run(half(batch)),
        "bfloat16": reduced,
    }


def jax_training(step: Any) -> dict[str, Any]:
    """Return a step of JAX that does not keep its parameters, and a faultless one."""
    import jax
    import jax.numpy as jnp

    def forgetful(batch: Any) -> None:
        _, step._loss = step._advance(jax.tree.map(jnp.copy, step._state), batch)

    return {"honest": step.run, "parameters-not-kept": forgetful}


FAULTS: dict[tuple[str, str], Callable[[Any], dict[str, Any]]] = {
    ("torch", "train"): torch_training,
    ("torch", "infer"): torch_inference,
    ("jax", "train"): jax_training,
}


def exhibit(trial: TrialSpec, fault: str) -> Exhibit:
    """Return the evidence of a trial whose step has this fault."""
    options = trial.contender.options
    engine: Any = import_engine(Path(trial.framework_path)).Engine()
    engine.configure(options)
    model = make_model(trial)
    step = engine.build(model, trial.scenario, options)
    step.run = FAULTS[trial.contender.framework, trial.scenario](step)[fault]
    with tempfile.TemporaryDirectory() as folder:
        evidence = gather(engine, step, model, trial, Batches(Path(trial.inputs_path)), Path(folder))
        for precision in trial.spreads:
            sides = engine, model, trial, Batches(Path(trial.inputs_path)), Path(folder)
            evidence = with_spread(evidence, *sides, precision=precision)
        arrays = dict(np.load(Path(folder) / EVIDENCE_FILE, allow_pickle=False))
    return Exhibit(label=fault, evidence=evidence, arrays=arrays, precision=options["precision"])


def certificates(reference: TrialSpec, contender: TrialSpec) -> dict[str, Any]:
    """Return the checks that each fault fails, and how far the faultless step's are from what is allowed."""
    loaded = load(contender.workload_path)
    expected = exhibit(reference, "honest")
    options = contender.contender.options
    engine: Any = import_engine(Path(contender.framework_path)).Engine()
    engine.configure(options)
    step = engine.build(make_model(contender), contender.scenario, options)
    found: dict[str, Any] = {}
    for fault in FAULTS[contender.contender.framework, contender.scenario](step):
        certificate = certify(
            exhibit(contender, fault),
            expected,
            workload=loaded.workload,
            size=loaded.size("reduced"),
            scenario=contender.scenario,
            steps=contender.certify_steps + 1,
        )
        held = [check for check in certificate.checks if check.name in ("update", "ran")]
        room = min(check.allowed / check.error if check.error else 1e9 for check in held)
        found[fault] = {"failed": [check.name for check in certificate.checks if not check.passed], "room": room}
    return found


def main(trials: str) -> None:
    """Certify every pair of trials."""
    pairs = msgspec.json.decode(Path(trials).read_bytes(), type=dict[str, tuple[TrialSpec, TrialSpec]])
    with contextlib.redirect_stdout(io.StringIO()):
        found = {name: certificates(*pair) for name, pair in pairs.items()}
    sys.stdout.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])
