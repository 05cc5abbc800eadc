"""How contenders stand: bounds beside 1 and the margin, throughputs, and whose verdicts and readings are whose."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.conftest import JAX, TORCH, outcome, ranked, verdict

from bakeoff.report.sections.figures import summary
from bakeoff.report.sections.verdicts import by_devices
from bakeoff.report.standings import ratio_text, step_parts, throughput
from bakeoff.report.units import SECONDS
from bakeoff.report.words import earlier, machine_line, machines_line
from bakeoff.spec.group import DEVICES
from bakeoff.spec.record import Memory
from bakeoff.spec.verdict import Interval
from bakeoff.stats.intervals import MIN_VALUES

if TYPE_CHECKING:
    from bakeoff.judge.outcome import ContenderOutcome, Outcome


def on_two_devices(one: ContenderOutcome) -> ContenderOutcome:
    """Give a contender as one on two devices, whose label ends in 2."""
    label = f"{one.label}:2"
    contender = msgspec.structs.replace(one.plan.contender, label=label, options={DEVICES: "2"})
    return msgspec.structs.replace(one, label=label, plan=msgspec.structs.replace(one.plan, contender=contender))


@pytest.mark.parametrize(("low", "shown"), [(1.04, "1.15 (1.04 to 1.26)"), (1.06, "1.15 (1.06 to 1.26)")])
def test_rounding_carries_no_bound_across_a_mark(low: float, shown: str) -> None:
    """With a margin of 5 % a ratio from 1.04 on does not read as one from 1.0 on, nor that from 1.06 as from 1.1."""
    assert ratio_text(verdict("torch", "jax", "slower", 1.15, low, 1.26), 0.05) == shown


def test_an_interval_over_magnitudes_is_too_noisy_to_say() -> None:
    """Ends that are more than ten times apart tell not even the magnitude."""
    ends = {9.9e-4: "0.99 to 9.8", 9.7e-4: "too noisy to say"}
    for low, shown in ends.items():
        wide = ranked("torch", Interval(estimate=3e-3, low=low, high=9.8e-3), 0.02, 95)
        assert step_parts(wide, SECONDS[1]) == ("3.0 ms", shown)


def test_the_throughput_of_several_devices_is_of_all_their_samples() -> None:
    """Its interval is that of the step, turned: 32 samples on each of two devices in 1.9 to 2.1 ms."""
    one = ranked("torch", Interval(estimate=2e-3, low=1.9e-3, high=2.1e-3), 0.02, 95)
    both = msgspec.structs.replace(on_two_devices(one), samples_per_s=32_000.0)
    for contender, samples in ((one, 32), (both, 64)):
        found = throughput(contender, 32)
        assert found is not None
        ends = (samples / 2e-3, samples / 2.1e-3, samples / 1.9e-3)
        assert (found.estimate, found.low, found.high) == pytest.approx(ends)


def test_each_number_of_devices_has_its_own_verdicts() -> None:
    """A pair on one device is told once, and not with those on two."""
    several = [on_two_devices(one) for one in (TORCH, JAX)]
    pairs = [verdict("torch", "jax", "slower", 2.0, 1.9, 2.1), verdict("torch:2", "jax:2", "slower", 3.0, 2.9, 3.1)]
    parts = by_devices(outcome([TORCH, JAX, *several], pairs))
    assert {devices: part.verdicts for devices, part in parts.items()} == {1: pairs[:1], 2: pairs[1:]}


def test_memory_is_of_the_device_only_where_it_is_known_of_all() -> None:
    """One column holds one kind of memory: else it is the peak of the whole process for everybody."""
    on_device, on_host = (Memory(peak_bytes=peak, device_peak_bytes=2 * 10**8) for peak in (5 * 10**8, 6 * 10**8))
    sides = [(TORCH, on_device), (JAX, msgspec.structs.replace(on_host, device_peak_bytes=None))]
    found = summary(outcome([msgspec.structs.replace(one, memory=memory) for one, memory in sides], []))
    assert sorted(line.cells[-1] for line in found.lines) == ["500", "600"]
    assert found.heads[-1] == "memory, MB"


def test_a_machine_is_calm_where_every_comparison_was(decided: Outcome) -> None:
    """One of which nothing is known makes that unknown, and those that were busy are counted."""
    calm, busy, unknown = (msgspec.structs.replace(decided, calm=calm) for calm in (True, False, None))
    assert machines_line([calm, calm]).endswith(", calm")
    assert machines_line([calm, unknown]).endswith(", noise unknown")
    assert machines_line([calm, calm, busy]).endswith(", busy in 1 of 3 comparisons")


def test_a_reading_of_this_comparison_is_no_earlier_one(decided: Outcome) -> None:
    """Nor is one of which no comparison is known; that of another one is told with its day and time."""
    here = [("torch", "2026-10-01T08:30:00", decided.comparison.id), ("jax", "2026-10-01T08:30:00", "")]
    assert earlier(here, decided) == ""
    another = [*here, ("tensorflow", "2026-09-30T07:05:09", "another-1a2b")]
    assert earlier(another, decided) == "tensorflow's on 2026-09-30 at 07:05 UTC"


@pytest.mark.parametrize(
    ("ends", "shown"),
    [((0.99, 0.9535, 1.028), "0.990 (0.954 to 1.028)"), ((1.01, 0.975, 1.046), "1.010 (0.975 to 1.046)")],
)
def test_what_is_within_the_margin_reads_so(ends: tuple[float, float, float], shown: str) -> None:
    """With a margin of 5 % an end of 0.9535, above 1 / 1.05, does not read as 0.95, nor one of 1.046 as 1.05."""
    assert ratio_text(verdict("torch", "jax", "equal", *ends), 0.05) == shown


def test_an_interval_without_an_end_is_not_shown() -> None:
    """Where nothing bounds a ratio from above, the ratio stands alone."""
    assert ratio_text(verdict("torch", "jax", "undecided", 1.5, 0.7, float("inf")), 0.05) == "1.50"


def test_a_step_time_has_its_interval_from_the_fewest_rounds_on() -> None:
    """So many rounds that an interval can be computed are enough for one, and one less is not."""
    for rounds, shown in ((MIN_VALUES, "2.0 to 2.2"), (MIN_VALUES - 1, "")):
        one = msgspec.structs.replace(TORCH, rounds=rounds)
        assert step_parts(one, SECONDS[1]) == ("2.1 ms", shown)


def test_a_machine_of_unknown_calm_that_changed_its_speed_is_told_as_both(noisy: Outcome) -> None:
    """Only where it is known to have been calm is the change of speed all that is told."""
    told = {
        calm: machine_line(msgspec.structs.replace(noisy, calm=calm, flagged_rounds=0, foreign_share=None))
        for calm in (True, False, None)
    }
    changed = "AMD EPYC, 2 cores, its speed changed in 2 of 7 rounds"
    assert told == {True: changed, False: f"{changed}, busy", None: f"{changed}, noise unknown"}
