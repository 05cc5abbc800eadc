"""A step that collects does so once, by the parameters before it, and then updates on what it has collected."""

from __future__ import annotations

from typing import Any

from bakeoff.frameworks.collecting import Collecting


class Plain:
    """A training step of one parameter; an update adds what is collected and one."""

    def __init__(self) -> None:
        """Begin at zero."""
        self.parameter = 0
        self.given: list[Any] = []

    def run(self, batch: Any) -> None:
        """Update, and note what was given."""
        inputs, _ = batch
        self.given.append(inputs)
        self.parameter += inputs["seen"] + 1

    def gradients(self, batch: Any) -> Any:
        """Return what an update would add."""
        return batch[0]["seen"] + 1


class Step(Collecting, Plain):
    """Three updates on ten times the parameter."""

    updates = 3

    def collected(self, inputs: Any) -> dict[str, Any]:
        """Collect by the present parameter."""
        return {"seen": 10 * self.parameter + inputs["x"]}


BATCH = ({"x": 1}, {})


def test_all_updates_of_a_step_are_on_what_was_collected_once() -> None:
    """A step collects by the parameters before its first update, and every update of it takes that."""
    step = Step()
    step.run(BATCH)
    assert step.given == [{"x": 1, "seen": 1}] * 3
    step.run(BATCH)
    assert step.given[3:] == [{"x": 1, "seen": 61}] * 3


def test_a_step_is_its_parts() -> None:
    """Running the parts one by one does what running the batch does, and the gradients of a part are the update's."""
    whole, parted = Step(), Step()
    whole.run(BATCH)
    for part in parted.parts(BATCH):
        before = parted.parameter
        gradient = parted.gradients(part)
        parted.run(part)
        assert parted.parameter == before + gradient
    assert (parted.parameter, parted.given) == (whole.parameter, whole.given)
