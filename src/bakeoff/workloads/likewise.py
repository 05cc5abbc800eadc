"""What a workload's functions do over shapes, as one hash, which is the same in every process that runs them.

A file may ask which framework is there, what the environment holds or what time it is, and then make other layers or do
more in one contender's process. What it computes may be the same number, or be drawn at another rate, so that no
certificate sees it. Each worker holds what it finds to what the comparison was fixed with.
"""

from __future__ import annotations

import hashlib
import re
from typing import TYPE_CHECKING, Any

import msgspec

from bakeoff.spec.errors import ModelFileError
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.workloads.interpreter import on_shapes, stepping, vocabulary
from bakeoff.workloads.losses import given_inputs
from bakeoff.workloads.mistakes import contained
from bakeoff.workloads.shape_functions import Counter
from bakeoff.workloads.shapes import in_loss
from bakeoff.workloads.steady import noting

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.load import LoadedWorkload

_REAL = re.compile(r"-?\d+\.\d+(?:e[+-]?\d+)?|-?\d+e[+-]?\d+")
"""How Python writes a real number."""


def steps_sha256(loaded: LoadedWorkload, size: Size, scenario: Scenario) -> str:
    """Return the hash of the layers, functions and operators that a size's model and loss take, one after another.

    And of what the file declares, which it may read from another one. Empty where they cannot be run on the size's own
    batch: then a race of another batch is not held to anything.
    """
    return _sha256(_REAL.sub(_rounded, what) for what in _told(loaded, size, scenario, arrays=False))


def numbers_sha256(loaded: LoadedWorkload, size: Size, scenario: Scenario) -> str:
    """Return the hash of the same with every number and every array of NumPy's to the last bit; empty as there.

    For this process alone: other versions of libraries have other last bits. A file may read what it computes with from
    another one, whose text is in no hash: a table, the edges of a graph, its own settings.
    """
    return _sha256(_told(loaded, size, scenario, arrays=True))


def _told(loaded: LoadedWorkload, size: Size, scenario: Scenario, *, arrays: bool) -> list[str]:
    """Return what a file declares, and what its functions do over shapes; empty where they cannot be run there."""
    with noting(loaded.build.__code__.co_filename, arrays=arrays) as notes:
        if not runs_over_shapes(loaded, size, scenario):
            return []
    # Lines are left out: Python's versions differ in those of a call that stands on several.
    return [msgspec.json.encode(loaded.workload).decode(), *(note.what for note in notes)]


def _sha256(told: Iterable[str]) -> str:
    """Return the hash of texts; empty for none."""
    text = "\n".join(told)
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest() if text else ""


def check_likewise(loaded: LoadedWorkload, size: Size, scenario: Scenario, before: str) -> None:
    """Raise ModelFileError where a workload does something else here than where the hash `before` was taken."""
    if before and steps_sha256(loaded, size, scenario) != before:
        msg = (
            f"the workload's file {loaded.path} makes other layers or computes something else in this process than "
            "where the comparison was fixed, and a model is the same for all: it must not ask which framework, "
            "process, environment, clock or version it runs with, nor go by the order of a set or by what an earlier "
            "pass left in the file"
        )
        raise ModelFileError(msg)


def _rounded(found: re.Match[str]) -> str:
    """Write a real number with so few digits that libraries of mathematics agree on them."""
    return f"{float(found[0]):.6g}"


def runs_over_shapes(
    loaded: LoadedWorkload, size: Size, scenario: Scenario, before_next: Callable[[], None] | None = None
) -> bool:
    """Run the model in evaluation and, in training, once more and the loss; return whether they came to their end.

    With `before_next`, which is called between them, follows the next step of the same model.
    """
    try:
        _run(loaded, size, scenario, before_next)
    except KeyboardInterrupt:
        raise
    except BaseException:  # noqa: BLE001 - whatever a user's file raises, SystemExit among it
        return False
    return True


def _run(loaded: LoadedWorkload, size: Size, scenario: Scenario, before_next: Callable[[], None] | None) -> None:
    """Run them; raise what the file raises."""
    step = stepping(loaded.build, size, Counter(), trains=False)
    step()
    if SCENARIOS[scenario].trains and loaded.loss is not None:
        step = _training(loaded, given_inputs(loaded.loss), size)
        step()
    if before_next is not None:
        before_next()
        step()


def _training(loaded: LoadedWorkload, loss: Callable[..., Any], size: Size) -> Callable[[], None]:
    """Return what runs one model in training, and the loss."""
    run = stepping(loaded.build, size, Counter(), trains=True)
    counter = Counter()
    counter.is_built = True
    inputs, targets = (on_shapes(arrays, size) for arrays in (size.sample.inputs | size.collected, size.sample.targets))

    def step() -> None:
        outputs = run()
        token = in_loss.set(size.batch_size)
        try:
            with contained():
                loss(vocabulary(counter, trains=True), outputs, targets, inputs)
        finally:
            in_loss.reset(token)

    return step
