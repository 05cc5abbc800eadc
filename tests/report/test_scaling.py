"""What a report says of several devices beside one."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
from tests.report.shown import data_of, printed

from bakeoff.report.sections import scaling
from bakeoff.spec.group import BOUND_TO
from bakeoff.spec.verdict import Interval

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome


def test_the_headline_is_the_efficiency(on_two: Outcome) -> None:
    """The answer is the share of so many times the throughput of one device, with its interval, not who is faster."""
    text = " ".join(printed(on_two).split())
    assert "torch:devices=2 has 82 % of 2 times the throughput of one device (95 % CI 79 to 85 %" in text
    assert "is faster" not in text
    assert "18.0 (15.0 to 21.0)" in text
    assert data_of(on_two)["scaling"]["contenders"][0]["overhead_interval"] == [0.15, 0.21]


def test_what_a_processor_shows_is_said(on_two: Outcome) -> None:
    """Devices that are shares of a processor are said to be that, and so are more replicas than cores."""
    said = scaling.cautions(on_two)
    assert scaling.SHARED in said
    few = msgspec.structs.replace(on_two.comparison, machine={"usable_cores": 1})
    assert any(
        "2 replicas on 1 core" in one for one in scaling.cautions(msgspec.structs.replace(on_two, comparison=few))
    )


def test_nothing_is_said_of_one_device(decided: Outcome) -> None:
    """Without a contender on several devices there is no section, no caution, and null for programs."""
    assert not scaling.table(decided).lines
    assert not scaling.cautions(decided)
    assert data_of(decided)["scaling"] is None


def test_an_overhead_without_an_interval_is_shown_as_the_efficiency_is(on_two: Outcome) -> None:
    """Too few rounds leave an estimate of both or of neither; with the batch shared out there is no overhead."""
    early = msgspec.structs.replace(on_two.scalings[0], efficiency=None, efficiency_estimate=0.13, overhead=None)
    found = msgspec.structs.replace(on_two, scalings=[early])
    assert scaling.table(found).lines[0].cells[-3:] == ["13", "", "87"]
    strong = msgspec.structs.replace(found.comparison, scaling="strong")
    assert scaling.table(msgspec.structs.replace(found, comparison=strong)).lines[0].cells[-3:] == ["13", "", ""]


def test_time_in_collectives_is_told_where_a_profiler_names_them(on_two: Outcome) -> None:
    """A column and its meaning, with the interval over traced rounds; neither is there without a trace."""
    assert scaling.TRACED not in scaling.table(on_two).heads
    assert scaling.IN_COLLECTIVES not in scaling.notes(on_two)
    interval = Interval(estimate=0.12, low=0.1, high=0.14)
    known = msgspec.structs.replace(on_two.scalings[0], collectives=0.12, collectives_interval=interval)
    found = msgspec.structs.replace(on_two, scalings=[known])
    assert scaling.table(found).heads[-1] == scaling.TRACED
    assert scaling.table(found).lines[0].cells[-1] == "12.0 (10.0 to 14.0)"
    assert scaling.IN_COLLECTIVES in scaling.notes(found)
    told = data_of(found)["scaling"]["contenders"][0]
    assert (told["collectives"], told["collectives_interval"]) == (0.12, [0.1, 0.14])
    few = msgspec.structs.replace(known, collectives_interval=None)
    assert scaling.table(msgspec.structs.replace(on_two, scalings=[few])).lines[0].cells[-1] == "12.0"


def test_a_share_just_below_0_has_no_sign(on_two: Outcome) -> None:
    """An overhead that rounds to 0 is 0.0, on whichever side of it it was; one that does not keeps its sign."""
    near = Interval(estimate=-0.0004, low=-0.012, high=0.0004)
    found = msgspec.structs.replace(on_two, scalings=[msgspec.structs.replace(on_two.scalings[0], overhead=near)])
    assert scaling.table(found).lines[0].cells[-1] == "0.0 (-1.2 to 0.0)"
    early = msgspec.structs.replace(on_two.scalings[0], efficiency=None, efficiency_estimate=1.003, overhead=None)
    assert scaling.table(msgspec.structs.replace(on_two, scalings=[early])).lines[0].cells[-1] == "0"


def test_what_links_the_gpus_is_told(on_two: Outcome) -> None:
    """Where NVML has told it of the GPUs of all devices; else the section says nothing of that."""
    assert not any("Between the GPUs" in one for one in scaling.notes(on_two))
    machine = on_two.comparison.machine | {"gpu_links": "NVLink, one NUMA node"}
    linked = msgspec.structs.replace(on_two.comparison, machine=machine)
    assert "Between the GPUs, by NVML: NVLink, one NUMA node." in scaling.notes(
        msgspec.structs.replace(on_two, comparison=linked)
    )


def test_the_processors_of_each_replica_are_told(on_two: Outcome) -> None:
    """Where replicas are bound to processors of their own, the section says to which; else it says nothing of that."""
    assert not any("processors" in one for one in scaling.notes(on_two)[1:])
    single, both = on_two.contenders
    bound = [
        msgspec.structs.replace(one, settings=one.settings | {BOUND_TO: cores})
        for one, cores in ((single, "0"), (both, "0; 1"))
    ]
    said = scaling.notes(msgspec.structs.replace(on_two, contenders=bound))[-1]
    assert said.endswith("in the order of the replicas: torch (0), torch:devices=2 (0; 1).")


def test_a_contender_without_a_named_device_is_on_the_processor(on_two: Outcome) -> None:
    """Without the option it runs on the processor, and its devices are shares of that."""
    one, both = on_two.contenders
    options = {name: value for name, value in both.plan.contender.options.items() if name != "device"}
    contender = msgspec.structs.replace(both.plan.contender, options=options)
    both = msgspec.structs.replace(both, plan=msgspec.structs.replace(both.plan, contender=contender))
    assert scaling.SHARED in scaling.cautions(msgspec.structs.replace(on_two, contenders=[one, both]))


def test_as_many_replicas_as_cores_take_no_turns(on_two: Outcome) -> None:
    """Each has a core of its own; of several contenders the one on most devices tells."""
    assert scaling.cautions(on_two) == [scaling.SHARED]
    (two,) = on_two.scalings
    more = msgspec.structs.replace(on_two, scalings=[two, msgspec.structs.replace(two, devices=4)])
    assert any("4 replicas on 2 cores: they take turns" in one for one in scaling.cautions(more))
