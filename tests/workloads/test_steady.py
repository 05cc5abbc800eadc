"""A model or a loss that would compute something else in its next step is told, with its line, beforehand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bakeoff.spec.errors import ModelFileError
from bakeoff.workloads.interpreter import check_model
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.spec.scenario import Scenario

MODEL = """
import itertools, time
import numpy as np
from bakeoff.spec.batch import ArraySpec
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size, Workload

{top}
SIZE = Size(batch_size=4, inputs={{"x": ArraySpec(shape=(12, 6))}}, targets={{"y": ArraySpec(dtype="int32", high=5)}})
WORKLOAD = Workload(
    name="mine", summary="mine", source="test", sizes={{"full": SIZE}}, optimizer=SGD(learning_rate=0.1)
)


def build(nn, size):
    around = {around}

    class Model(nn.Module):
        def __init__(self):
            super().__init__()
            self.cell = nn.GRUCell(6, 6)
            self.other = nn.GRUCell(6, 6)
            self.head = nn.Linear(6, 5)

        def forward(self, x):
            def step(state, one):
                {step}
                return state, state

            last, _ = nn.scan(step, x[:, 0] * 0.0, x)
            {forward}
            return self.head(last)

    return Model()


def loss(nn, outputs, targets):
    value = nn.cross_entropy(outputs, targets)
    {loss}
    return value
"""

STEP = "state = self.cell(one, state)"


def check(folder: Path, scenario: Scenario = "train", **parts: str) -> None:
    """Check a model of which these parts are others than usual."""
    usual = {"top": "", "around": "None", "step": STEP, "forward": "pass", "loss": "pass"}
    path = folder / "mine.py"
    path.write_text(MODEL.format(**usual | parts))
    loaded = load(str(path))
    check_model(loaded, loaded.size("full"), scenario)


UNSTEADY = {
    "a counter of the file in the loss": (
        {"top": "N = {'n': 0}", "loss": "N['n'] += 1; value = value * (1.0 if N['n'] > 300 else 0.5)"},
        r"in loss: N is \{'n': \d\} after one step and \{'n': \d\} after the next",
    ),
    "a global of the file": (
        {"top": "N = 0", "loss": "global N; N += 1"},
        r"in loss: N is \d after one step and \d after the next",
    ),
    "an iterator of the file": (
        {"top": "N = itertools.count()", "loss": "value = value * min(1.0, (1 + next(N)) / 100)"},
        r"in loss: a number 0\.\d+ in one step, and a number 0\.\d+ in the next",
    ),
    "a default": (
        {
            "forward": "last = last * 1.0",
            "top": "def more(n=[0]): n[0] += 1; return n[0]",
            "loss": "value = value * more()",
        },
        r"in loss: a number \d in one step, and a number \d in the next",
    ),
    "a list around the class": (
        {"around": "[0]", "forward": "around[0] += 1"},
        r"in forward: around is \[\d+\] after one step and \[\d+\] after the next",
    ),
    "an array of NumPy's": (
        {"around": "np.zeros(1)", "forward": "around[0] += 1"},
        r"in forward: around is \[\d\.0\] after one step and \[\d\.0\] after the next",
    ),
    "an object of the file's own class": (
        {"top": "class Steps: n = 0\nSTEPS = Steps()", "loss": "STEPS.n += 1"},
        r"in loss: STEPS is \{'n': \d\} after one step and \{'n': \d\} after the next",
    ),
    "a class of the file": (
        {"top": "class Steps: n = 0", "loss": "Steps.n += 1"},
        r"in loss: Steps\.n is \d after one step and \d after the next",
    ),
    "an attribute of a function": (
        {"top": "def more(): more.n = getattr(more, 'n', 0) + 1", "forward": "more()"},
        r"in forward: more: n is \d after one step and \d after the next",
    ),
    "another layer": (
        {
            "around": "iter(range(9))",
            "forward": "last = last + (self.cell, self.other)[next(around) % 2](x[:, 0], last)",
        },
        r"in forward: nn\.GRUCell (cell|other) in one step, and nn\.GRUCell (cell|other) in the next",
    ),
    "a clock": (
        {"loss": "value = value * time.perf_counter()"},
        r"in loss: a number \d.* in one step, and a number \d",
    ),
    "a generator with a seed outside": (
        {"top": "R = np.random.default_rng(0)", "forward": "last = last * float(R.random())"},
        r"in forward: a number 0\.\d+ in one step, and a number 0\.\d+ in the next",
    ),
    "what is computed at all": (
        {"around": "iter(range(9))", "forward": "last = nn.tanh(last) if next(around) % 2 else nn.relu(last)"},
        r"in forward: nn\.(tanh|relu) .* in one step, and nn\.(tanh|relu) .* in the next",
    ),
    "a counter in the step of a loop": (
        {"around": "[0]", "step": f"around[0] += 1; {STEP} * (1.0 if around[0] % 12 < 8 else 0.5)"},
        r"the step of nn\.scan has a number 1\.0 at the first place and a number 0\.5 at place \d+ \(line 27\)",
    ),
}


@pytest.mark.parametrize("case", UNSTEADY)
def test_what_changes_from_step_to_step_is_told(tmp_path: Path, case: str) -> None:
    """A compiled step runs Python once, and a loop of a framework's own its step once."""
    parts, told = UNSTEADY[case]
    with pytest.raises(ModelFileError, match=rf"mine\.py:\d+: {'in forward: ' if 'scan' in told else ''}(?:{told})"):
        check(tmp_path, **parts)


@pytest.mark.parametrize(
    "used",
    [
        *("last = around[0] * 1.0", "last = nn.tanh(around[0])", "last = nn.concat([around[0], last], 0)[:4]"),
        *("last = self.other(x[:, 0], around[0])", "last = last + around[0]", "last = around[0][:, :]"),
    ],
)
def test_an_array_of_a_loops_step_outside_of_it_is_told(tmp_path: Path, used: str) -> None:
    """In JAX it would be a tracer that has leaked."""
    with pytest.raises(
        ModelFileError, match=r"mine\.py:\d+: in forward: .* was made in a step of nn\.scan and is used"
    ):
        check(tmp_path, around="[None]", step=f"{STEP}; around[0] = state", forward=used)


def test_a_scan_within_a_scan_takes_what_is_around_it(tmp_path: Path) -> None:
    """Arrays of the outer step belong to the inner one, too."""
    step = "state = nn.scan(lambda s, o: (self.cell(o, s) + state * 0.0, s), state, x)[0]"
    check(tmp_path, step=step, forward="last = last * 1.0")


def test_inference_is_run_twice_too(tmp_path: Path) -> None:
    """A compiled step of inference runs Python once as well."""
    with pytest.raises(ModelFileError, match=r"in forward: around is \[\d+\] after one step"):
        check(tmp_path, scenario="infer", around="[0]", forward="around[0] += 1")


@pytest.mark.parametrize(
    "parts",
    [
        {},
        {"top": "SCALE = 0.5", "loss": "value = value * SCALE"},
        {"top": "KNOWN = {}", "loss": "value = value * KNOWN.setdefault('scale', 0.5)"},
        {"around": "[0]", "forward": "around[0] = 3; last = last * around[0]"},
        {"forward": "last = last * float(np.random.default_rng(0).random())"},
        {"step": f"{STEP} * 0.5 + one * (1.0 - 0.5)"},
        {"forward": "for scale in (0.5, 0.25): last = last * scale"},
        {"top": "LAST = [None]", "loss": "LAST[0] = object()"},
        {"top": "HOOKS = {}", "loss": "HOOKS['act'] = lambda value: value"},
        {"top": "class Odd:\n    def __repr__(self): raise ValueError\nODD = [Odd()]"},
        {"top": "LONG = 10**6000"},
        {"top": "LOOP = []\nLOOP.append(LOOP)"},
        {"top": "TABLE = np.zeros((4000, 1000))", "around": "TABLE"},
        {
            "top": "from functools import lru_cache\n@lru_cache\ndef half(n): return n / 2",
            "loss": "value = value * half(1)",
        },
        {
            "top": "from functools import cache\n@cache\ndef act(nn): return nn.tanh",
            "forward": "last = act(nn)(last)",
            "loss": "value = value + act(nn)(value)",
        },
    ],
)
def test_what_is_the_same_in_each_step_passes(tmp_path: Path, parts: dict[str, str]) -> None:
    """Constants, what is remembered once, and a seed where it is drawn."""
    check(tmp_path, **parts)
