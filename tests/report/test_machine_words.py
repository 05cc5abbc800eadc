from __future__ import annotations

import pytest

from bakeoff.measure.system_settings import Facts
from bakeoff.report.words import advice, machine_text, remarks, timed_region

SERVER: Facts = {
    "numa_nodes": 2,
    "numa_balancing": "on",
    "governor": "schedutil",
    "address_layout": "fixed",
}


def test_what_may_decide_is_remarked_with_its_reason() -> None:
    """Fixed addresses, and pages that move between nodes, are warnings; a clock that follows the load is advice."""
    addresses, nodes = remarks(SERVER)
    assert "not randomised" in addresses
    assert "2 NUMA nodes" in nodes
    assert remarks(SERVER | {"numa_nodes": 1, "address_layout": "random"}) == []
    assert "governor schedutil" in advice(SERVER)[0]
    assert advice(SERVER | {"governor": "performance"}) == []


def test_nothing_is_remarked_of_unknown_settings() -> None:
    """Where the system does not show its settings, there is neither a warning nor advice."""
    unknown: Facts = dict.fromkeys(SERVER)
    assert remarks(unknown) == advice(unknown) == []


def test_the_timed_region_says_where_batches_come_from() -> None:
    """One way of input for all is said once; where contenders differ, each way names those that have it."""
    assert "the batch is on the device already;" in timed_region({})
    assert "one batch is copied from NumPy's memory to the device;" in timed_region({"a": "per-step", "b": "per-step"})
    mixed = timed_region({"a": "resident", "b": "pipeline", "c": "pipeline"})
    assert "the batch is on the device already (a), or one batch is taken from the framework's own loader" in mixed
    assert "put on the device (b, c);" in mixed


@pytest.mark.parametrize("governor", ["ondemand", "conservative", "schedutil", "powersave"])
def test_every_governor_that_does_not_hold_the_clock_is_told(governor: str) -> None:
    """Where the clock follows the load, or stays low, a fixed one gives narrower intervals."""
    assert f"(governor {governor})" in advice(SERVER | {"governor": governor})[0]


def test_a_machine_is_told_with_the_cores_that_may_be_used() -> None:
    """Two of eight are two; one is one core; where nothing says which may be used, all are told."""
    facts = {"processor": "AMD EPYC", "cores": 8, "usable_cores": 2}
    assert machine_text(facts) == "AMD EPYC, 2 cores"
    assert machine_text(facts | {"usable_cores": 1}) == "AMD EPYC, 1 core"
    assert machine_text(facts | {"usable_cores": None}) == "AMD EPYC, 8 cores"
