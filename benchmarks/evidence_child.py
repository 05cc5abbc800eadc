"""Run in a framework's interpreter by honest.py: the evidence of many trials in one process.

    PYTHON evidence_child.py TRIALS.json      with PYTHONPATH to bakeoff's sources

A trial whose folder holds evidence already is left out. What fails is written down in its folder, and the next goes on.
"""

from __future__ import annotations

import gc
import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.trial import TrialSpec
from bakeoff.trial.evidence import gather, with_spread
from bakeoff.trial.framework import make_engine
from bakeoff.trial.inputs import batches_of
from bakeoff.trial.model import make_model

if TYPE_CHECKING:
    from bakeoff.frameworks.engine import Engine


def compute(engine: Engine, trial: TrialSpec, folder: Path) -> None:
    """Gather one trial's evidence."""
    options = trial.contender.options
    engine.configure(options)
    model, batches = make_model(trial), batches_of(trial)
    step = engine.build(model, trial.scenario, options)
    evidence: Any = gather(engine, step, model, trial, batches, folder)
    for precision in trial.spreads:
        evidence = with_spread(evidence, engine, model, trial, batches, folder, precision=precision)
    (folder / "evidence.json").write_bytes(msgspec.json.encode(evidence))


def main(path: str) -> None:
    """Compute every trial of a file: pairs of a folder and what is asked."""
    trials = msgspec.json.decode(Path(path).read_bytes(), type=list[tuple[str, TrialSpec]])
    engine, _ = make_engine(Path(trials[0][1].framework_path))
    for folder, trial in trials:
        if not (Path(folder) / "evidence.json").exists():
            Path(folder).mkdir(parents=True, exist_ok=True)
            try:
                compute(engine, trial, Path(folder))
            except Exception:  # noqa: BLE001 - it is a finding of this benchmark
                (Path(folder) / "failed.txt").write_text(traceback.format_exc())
        print(folder, flush=True)
        gc.collect()


if __name__ == "__main__":
    main(sys.argv[1])
