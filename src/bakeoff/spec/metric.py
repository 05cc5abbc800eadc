"""A workload's own metric: a number that it says of trained parameters, beside the loss and the accuracy."""

from __future__ import annotations

import msgspec


class Metric(msgspec.Struct, frozen=True, kw_only=True):
    """What the number is, which the function `metric(size, parameters)` in the workload's file gives."""

    name: str
    """What a table calls it: "next-state error"."""
    unit: str = ""
    less_is_better: bool = True

    @property
    def title(self) -> str:
        """Return its name, with the unit where it has one: "error, m"."""
        return f"{self.name}, {self.unit}" if self.unit else self.name


class MetricReading(Metric, frozen=True, kw_only=True):
    """The number of the parameters that a trial ended with, which says itself what it is."""

    value: float | None = None
    """None where it is not finite."""
