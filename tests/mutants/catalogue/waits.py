"""Faults of waits, and of clocks that an engine brings, in the frameworks beside PyTorch.

Steps are long where a wait is asked about: of a block of short ones a step is less than the self-test allows, and
fetching a result may honestly take as long as one.
"""

from __future__ import annotations

from functools import partial

from catalogue.mutant import Mutant

in_jax, in_tensorflow, in_mlx, in_jittor = (
    partial(Mutant, framework, "clock", "engine.py") for framework in ("jax", "tensorflow", "mlx", "jittor")
)

FETCHED = {"timer of long steps": "fetching"}
OF_INFERENCE = {"timer of inference": "fetching"}
"""MLX makes the caller wait when ten operations are under way, so that little is left of a training step."""

IMPLICIT = "on a processor a call of TensorFlow's returns when its results exist, so that there is nothing to wait for"
UNSEEN = {"mlp-mnist/train": ""}

JAX_RUN = "        self._state, self._loss = self._advance(self._state, batch)\n"
JAX_WAIT = "        jax.block_until_ready((self._state, self._loss))\n"

TENSORFLOW_RUN = "        self._last = self._run(*batch)\n"
TENSORFLOW_WAIT = "        elif self._last is not None:\n            self._finished()\n"
LATE = """\
        elif getattr(self, "_before", None) is not None:
            self._before.numpy()
"""

MLX_RUN = "        self._results = self._forward(batch[0])\n"
MLX_WAIT = "        mx.eval(self._results)\n"

JITTOR_RUN = "        inputs, targets = batch\n        self._loss = self._loss_of(nn, "
JITTOR_WAIT = """\
        \"\"\"Return when all that was noted is computed.\"\"\"
        jt.sync_all(True)  # noqa: FBT003 - wait for the device, too
"""

LATE_JITTOR = """\
        before = getattr(self, "_before", None)
        jt.sync([] if before is None else [before])
"""

SHORT = """\
import time
virtual_clock = lambda: time.perf_counter_ns() * 9 // 10
"""

HIDDEN = """\
import time
from bakeoff.trial import framework, opened
framework.monotonic = opened.monotonic = lambda: time.perf_counter_ns() * 9 // 10
"""

BEGINS = {
    "jax": "_MODES = (",
    "mlx": "_MODES = (",
    "jittor": "_FEATURE_MAP_AXES = 4",
}
"""Where a module's own code begins."""


def _kept(loss: str, run: str) -> tuple[str, str]:
    """Return the change by which a step keeps what the step before it has given."""
    return run, f"        self._before = getattr(self, {loss!r}, None)\n{run}"


WAITS = [
    in_jax(
        "wait waits for the step before",
        [_kept("_loss", JAX_RUN), (JAX_WAIT, '        jax.block_until_ready(getattr(self, "_before", None))\n')],
        {"timer of long steps": "profiler or fetching"},
    ),
    in_tensorflow("waiting does nothing", [(TENSORFLOW_WAIT, "")], UNSEEN, IMPLICIT),
    in_tensorflow(
        "wait waits for the step before",
        [_kept("_last", TENSORFLOW_RUN), (TENSORFLOW_WAIT, LATE)],
        UNSEEN,
        IMPLICIT,
    ),
    in_mlx("waiting does nothing", [(MLX_WAIT, "        return\n")], OF_INFERENCE),
    in_mlx(
        "wait waits for the step before",
        [
            _kept("_results", MLX_RUN),
            (MLX_WAIT, '        mx.eval(getattr(self, "_before", self._results))\n'),
        ],
        OF_INFERENCE,
    ),
    in_jittor("waiting does nothing", [(JITTOR_WAIT, "        return\n")], FETCHED),
    in_jittor(
        "wait waits for the step before",
        [
            _kept("_loss", JITTOR_RUN),
            (
                JITTOR_WAIT,
                LATE_JITTOR,
            ),
        ],
        FETCHED,
    ),
    in_jittor(
        "wait waits for the loss alone",
        [(JITTOR_WAIT, '        jt.sync([self._loss] if hasattr(self, "_loss") else [], True)\n')],
        FETCHED,
    ),
]

CLOCKS = [
    *(
        Mutant(
            framework,
            "clock",
            "engine.py",
            "the clock is a tenth short",
            [(begins, SHORT + begins)],
            {"race": "tie"},
        )
        for framework, begins in BEGINS.items()
    ),
    *(
        Mutant(
            framework,
            "clock",
            "engine.py",
            "the clock is a tenth short, and passes for the machine's",
            [(begins := BEGINS[framework], HIDDEN + begins)],
            {"race": "tie"},
        )
        for framework in ("mlx",)
    ),
]

MUTANTS = [*WAITS, *CLOCKS]
