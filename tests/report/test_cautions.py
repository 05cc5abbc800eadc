from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import msgspec
import pytest

from bakeoff.judge.counters import BlockCounters
from bakeoff.judge.light import light_of
from bakeoff.report.pages.comparison import cautions
from bakeoff.report.sections.counters import fault_notes
from bakeoff.report.sections.gpu import gpu_table
from bakeoff.report.sections.light import light_table
from bakeoff.report.sections.memory import device_memory_table, memory_table
from bakeoff.report.sections.noise import noise_line
from bakeoff.spec.peaks import Work
from bakeoff.spec.record import Memory
from bakeoff.spec.selftest import TimerVerdict
from bakeoff.stats.dependence import Resemblance
from bakeoff.stats.levels import LevelRatio

if TYPE_CHECKING:
    from pathlib import Path

    from bakeoff.judge.outcome import Outcome


def test_a_machine_s_settings_that_may_decide_are_warnings(decided: Outcome) -> None:
    """An address layout that is the same in every process is told with its reason."""
    fixed = msgspec.structs.replace(decided.comparison, machine={"address_layout": "fixed"})
    said = cautions(msgspec.structs.replace(decided, comparison=fixed))
    assert any("Addresses are not randomised" in sentence for sentence in said)
    assert not cautions(decided)


def test_faults_that_waited_for_a_disk_are_told(decided: Outcome) -> None:
    """They are counted for each contender; unknown and none are no warning."""

    def said(faults: int | None) -> list[str]:
        first, *others = decided.contenders
        slow = msgspec.structs.replace(first, counters=BlockCounters(major_faults=faults))
        return cautions(msgspec.structs.replace(decided, contenders=[slow, *others]))

    (sentence,) = said(3)
    assert sentence.startswith("torch: 3 page faults within its blocks had to wait for a disk")
    assert said(None) == said(0) == []


def test_the_clock_is_told_where_it_is_known(decided: Outcome) -> None:
    """One clock is one number, several are a range, an unknown one is not mentioned."""
    told = [
        noise_line(msgspec.structs.replace(decided, clock_mhz=clock))
        for clock in ((2500.0, 2500.0), (2000.0, 3500.0), None)
    ]
    assert told[0].endswith("at the ends of trials: 2,500 MHz.")
    assert "2,000 to 3,500 MHz" in told[1]
    assert "MHz" not in told[2]


def test_a_ratio_of_means_at_the_end_of_an_interval_is_no_warning(decided: Outcome) -> None:
    """Rounding, and what is within the margin of equality, is nothing that a reader has to know; more is a warning."""

    def said(mean: float) -> str:
        pair = msgspec.structs.replace(decided.verdicts[0], ratio=1.2, low=1.2, high=1.2, ratio_of_means=mean)
        return "\n".join(cautions(msgspec.structs.replace(decided, verdicts=[pair])))

    assert said(1.2000000000000004) == said(1.212) == ""
    assert "1.27 by mean step times, 1.20 by medians" in said(1.27)


def test_different_ways_to_choose_algorithms_stand_beside_the_verdict(decided: Outcome) -> None:
    """Where defaults differ on a GPU, the warning names each contender's way and the option that makes them alike."""

    def said(ways: tuple[str, str], least: int = 50) -> str:
        contenders = [
            msgspec.structs.replace(one, settings={"conv_algorithm": way})
            for one, way in zip(decided.contenders, ways, strict=False)
        ]
        work = Work(macs=100, least_macs=least, parameters=1, trains=True)
        comparison = msgspec.structs.replace(decided.comparison, work=work)
        found = cautions(msgspec.structs.replace(decided, contenders=contenders, comparison=comparison))
        return "\n".join(sentence for sentence in found if "lgorithms of convolutions" in sentence)

    text = said(("heuristic", "profiling"))
    assert "torch by heuristics and jax by trying them" in text
    assert "conv_algorithm=profiling" in text
    assert said(("profiling", "profiling")) == ""
    assert said(("heuristic", "profiling"), least=100) == ""  # a model without convolutions over several points


def test_a_batch_that_every_step_copies_is_told(decided: Outcome) -> None:
    """Where a framework reads back that its batch is not all on the GPU, a warning names the contender."""

    def said(*, value: bool | None) -> list[str]:
        first, *others = decided.contenders
        read = msgspec.structs.replace(first, settings={"batch_on_gpu": value})
        return [one for one in cautions(msgspec.structs.replace(decided, contenders=[read, *others])) if "batch" in one]

    (sentence,) = said(value=False)
    assert sentence.startswith("torch: a part of its batch lies in the memory of the host")
    assert said(value=True) == said(value=None) == []


def test_a_round_that_was_lost_is_told(decided: Outcome) -> None:
    """A contender that has times, and whose process was killed in one round, is named with the round and the reason."""
    first, *others = decided.contenders
    hurt = msgspec.structs.replace(first, lost_rounds={3: "killed: replica 1: killed by SIGKILL"})
    said = "\n".join(cautions(msgspec.structs.replace(decided, contenders=[hurt, *others])))
    assert f"{first.label} was lost in round 3, which counts for nothing of it (killed: replica 1: killed" in said


def test_certificates_alone_are_no_unfinished_race(decided: Outcome) -> None:
    """What `bakeoff verify` leaves has no command to go on with, and no numbers that could be interim."""
    started = msgspec.structs.replace(decided, ended="unfinished")
    assert any("with --resume goes on" in sentence for sentence in cautions(started))
    asked = msgspec.structs.replace(decided.comparison, command="")
    (said,) = cautions(msgspec.structs.replace(started, comparison=asked, rounds=0))
    assert said.startswith("Nothing is timed in these records: they are certificates alone")


def test_a_verify_that_was_ended_is_not_called_certificates(decided: Outcome) -> None:
    """Records that lack evidence of a contender, which no race began, are told as what a `bakeoff verify` left."""
    first, *others = decided.contenders
    begun = msgspec.structs.replace(first, status="pending", certificate=None)
    asked = msgspec.structs.replace(decided.comparison, command="")
    left = {"ended": "unfinished", "comparison": asked, "rounds": 0, "contenders": [begun, *others]}
    (said,) = cautions(msgspec.structs.replace(decided, **left))
    assert said.startswith("Nothing is timed in these records, and not every certificate is there")


@pytest.mark.parametrize("command", ["", "bakeoff run mlp-mnist"])
def test_a_race_that_was_killed_in_its_first_round_is_no_certificate_alone(
    decided: Outcome, tmp_path: Path, command: str
) -> None:
    """A folder of a round says that it was raced, also where no command line asked for it: --resume goes on."""
    (tmp_path / "r01-torch").mkdir()
    asked = msgspec.structs.replace(decided.comparison, command=command)
    killed = msgspec.structs.replace(decided, ended="unfinished", comparison=asked, rounds=0, path=str(tmp_path))
    (said,) = [one for one in cautions(killed) if "certificates alone" in one or "--resume" in one]
    assert said.startswith("The race was interrupted before its first round had ended")


@pytest.mark.parametrize("outcome", ["passed", "untold"])
def test_a_timer_that_could_not_be_tested_is_told(decided: Outcome, outcome: Literal["passed", "untold"]) -> None:
    """A busy machine leaves a self-test without an answer, which refuses nobody: so the reader is told."""
    first, *others = decided.contenders
    timer = TimerVerdict(contender=first.label, outcome=outcome, reason="doubling: twice the steps take 1.4 to 3.1")
    said = cautions(msgspec.structs.replace(decided, contenders=[msgspec.structs.replace(first, timer=timer), *others]))
    found = [one for one in said if "self-test was inconclusive" in one]
    assert len(found) == (outcome == "untold")
    assert all(first.label in one and "twice the steps take 1.4 to 3.1" in one for one in found)


def test_the_hottest_of_all_rounds_is_told(noisy: Outcome) -> None:
    """A GPU that was cool at first has been as hot as it became."""
    first, *others = noisy.contenders
    (state,) = first.gpu
    cool = msgspec.structs.replace(state, round_number=2, temperature_c=60, clock_mhz=1200.0)
    for order in ([state, cool], [cool, state]):
        several = msgspec.structs.replace(first, gpu=order)
        (line,) = gpu_table(msgspec.structs.replace(noisy, contenders=[several, *others])).lines
        assert line.cells[1] == "1,100 of 1,500 MHz"
        assert line.cells[3] == "81 degrees Celsius"


def test_a_gpu_s_rounds_are_told_by_their_means_and_the_most_of_all_else(noisy: Outcome) -> None:
    """Clock and power by their means beside the highest limit; every reason, and the most other processes."""
    first, *others = noisy.contenders
    (state,) = first.gpu
    second = msgspec.structs.replace(
        state, clock_mhz=1960.0, clock_limit_mhz=1980, power_w=70.5, slowed=["power limit"], other_processes=3
    )
    for order in ([state, second], [second, state]):
        several = msgspec.structs.replace(first, gpu=order)
        (line,) = gpu_table(msgspec.structs.replace(noisy, contenders=[several, *others])).lines
        assert line.cells[1:3] == ["1,480 of 1,980 MHz", "66 W"]
        assert line.cells[4:] == ["power limit and thermal limit, by software", "3"]


def test_a_gpu_that_was_held_back_is_told_by_the_rounds_in_which_it_was(noisy: Outcome) -> None:
    """Limit, reasons and heat are theirs, and not those of a round whose clock was high enough."""
    first, *others = noisy.contenders
    (low,) = first.gpu
    high = msgspec.structs.replace(
        low, clock_mhz=1485.0, clock_limit_mhz=1980, temperature_c=99, slowed=["thermal limit, by hardware"]
    )
    cooler = msgspec.structs.replace(low, temperature_c=70, slowed=["power brake"])
    for order in ([low, cooler, high], [high, cooler, low]):
        several = msgspec.structs.replace(first, gpu=order)
        said = cautions(msgspec.structs.replace(noisy, contenders=[several, *others]))
        (held,) = [one for one in said if "the GPU's clock was below" in one]
        assert "below 75 % of its 1,500 MHz in 2 of 3 rounds (power brake and thermal limit, by software); 81" in held


@pytest.mark.parametrize(
    ("changed", "cells"),
    [
        ({}, ["5.7 MB", "27 %", "9.9 GB/s (torch, 2026-10-17)"]),
        ({"cache_bytes": 1 << 30}, ["0 B", "none needed", "9.9 GB/s (torch, 2026-10-17)"]),
        ({"bytes_per_s": None}, ["5.7 MB", "unknown", "unknown"]),
        ({"cache_bytes": None}, ["unknown", "unknown", "9.9 GB/s (torch, 2026-10-17)"]),
    ],
)
def test_a_share_of_memory_that_is_not_told_is_unknown_or_not_needed(
    lit: Outcome, changed: dict[str, None], cells: list[str]
) -> None:
    """None is needed where caches hold all; of an unknown peak, or unknown caches, nothing is known."""
    work = Work(macs=10**6, least_macs=10**6, parameters=407_050, state=814_100, batch_bytes=100_480, trains=True)
    one = lit.contenders[0]
    assert one.light is not None
    light = light_of(work, msgspec.structs.replace(one.light.peak, **changed), one.median_step_s)
    (line,) = light_table(msgspec.structs.replace(lit, contenders=[msgspec.structs.replace(one, light=light)])).lines
    assert line.cells[5:] == cells


def test_clocks_that_were_set_by_hand_for_one_contender_alone_are_told(noisy: Outcome) -> None:
    """A round whose clocks differ favours one of them, unless the lower one draws all the power that it may."""

    def said(slowed: list[str]) -> bool:
        sides = []
        for one, clock_mhz in zip(noisy.contenders, (1400.0, 1500.0), strict=True):
            (state,) = noisy.contenders[0].gpu
            state = msgspec.structs.replace(state, clock_mhz=clock_mhz, slowed=slowed if clock_mhz < 1500 else [])
            sides.append(msgspec.structs.replace(one, gpu=[state]))
        told = cautions(msgspec.structs.replace(noisy, contenders=sides))
        return any("clock differed between contenders by more than 2 % in 1 round" in one for one in told)

    assert said(["clocks set by hand"])
    assert said([])
    assert not said(["power limit"])
    assert not said(["clocks set by hand", "power limit"])


@pytest.mark.parametrize(("clock_mhz", "is_told"), [(1460.0, True), (1475.0, False)])
def test_clocks_two_percent_apart_are_told(noisy: Outcome, clock_mhz: float, *, is_told: bool) -> None:
    """1,500 MHz are 2.7 % more than 1,460, and 1.7 % more than 1,475."""
    (state,) = noisy.contenders[0].gpu
    states = [msgspec.structs.replace(state, clock_mhz=clock, slowed=[]) for clock in (clock_mhz, 1500.0)]
    sides = [msgspec.structs.replace(one, gpu=[it]) for one, it in zip(noisy.contenders, states, strict=True)]
    told = cautions(msgspec.structs.replace(noisy, contenders=sides))
    assert any("clock differed between contenders" in one for one in told) == is_told


@pytest.mark.parametrize(
    ("malloc", "faults", "expected"),
    [("settled", 1.2, "option"), ("fresh", 560.2, "option"), ("keep", 1.2, "told"), ("settled", 0.9, "")],
)
def test_memory_that_is_fetched_again_is_told_with_what_keeps_it(
    decided: Outcome, malloc: str, faults: float, expected: str
) -> None:
    """From more than a page fault a step on; the option is offered to whose malloc gives memory back alone."""
    first, *others = decided.contenders
    some = BlockCounters(minor_faults_per_step=faults)
    one = msgspec.structs.replace(first, counters=some, settings=first.settings | {"malloc": malloc})
    said = " ".join(fault_notes(msgspec.structs.replace(decided, contenders=[one, *others])))
    assert ("page faults a step" in said) == bool(expected)
    assert ("the option malloc=keep" in said) == (expected == "option")


@pytest.mark.parametrize(
    ("peaks_bytes", "told"),
    [([], "unknown"), ([3 * 10**9], "1 process, no interval"), ([3 * 10**9, 10**9, 2 * 10**9], "1.0 GB to 3.0 GB, 3")],
)
def test_the_least_and_the_most_of_all_processes_stand_beside_a_peak(
    decided: Outcome, peaks_bytes: list[int], told: str
) -> None:
    """In whatever order they ran; one process is no interval, and none is unknown."""
    first, *others = decided.contenders
    one = msgspec.structs.replace(first, memory_peaks_bytes=peaks_bytes)
    table = memory_table(msgspec.structs.replace(decided, contenders=[one, *others]))
    (line,) = [line for line in table.lines if line.cells[0] == first.label]
    assert (table.heads[3], line.cells[3]) == ("from to, processes", told)


def test_rounds_that_follow_each_other_are_told_with_what_chance_gives(decided: Outcome) -> None:
    """Their ratio, and the one that rounds in random orders seldom stay below: two numbers."""
    found = Resemblance(ratio=0.61, low=1.3, rounds=14, contenders=2)
    (said,) = cautions(msgspec.structs.replace(decided, resemblance=found))
    assert "(von Neumann ratio 0.61 over 14 rounds; the same rounds in random orders give less than 1.3 in 5 %" in said


def test_who_is_refused_for_its_speed_has_no_caution_beside_that(lit: Outcome) -> None:
    """A peak that may be too low is told of those that are ranked; who is refused has its own reason."""
    *others, fast = lit.contenders
    assert fast.light is not None
    light = msgspec.structs.replace(fast.light, finding="2 times the peak")
    for status, told in (("ranked", 1), ("refused", 0)):
        one = msgspec.structs.replace(fast, light=light, status=status)
        said = cautions(msgspec.structs.replace(lit, contenders=[*others, one]))
        assert sum("faster than this machine's peak as it was measured: 2 times the peak" in it for it in said) == told


@pytest.mark.parametrize(("then", "otherwise"), [(1.1, 0.9), (0.909, 1.111)])
def test_a_pair_that_changes_sides_with_the_speed_is_told_slower_first(
    noisy: Outcome, then: float, otherwise: float
) -> None:
    """Which comes first is told by the usual speed: there its ratio is above 1, whatever it is in the other turns."""
    assert noisy.levels is not None
    moved = LevelRatio(first="torch", second="jax", then=then, otherwise=otherwise)
    levels = msgspec.structs.replace(noisy.levels, ratios=[moved])
    said = " ".join(cautions(msgspec.structs.replace(noisy, levels=levels)))
    first, second = ("torch", "jax") if otherwise > 1 else ("jax", "torch")
    assert f"{first} over {second} is 0.91 in these turns and 1.1 in the others" in said


def test_what_the_allocator_held_stands_under_its_own_heads(decided: Outcome) -> None:
    """The process, live, reserved: three numbers; why the first is missing is told where it is missing alone."""
    first, *others = decided.contenders
    options = first.plan.contender.options | {"device": "cuda"}
    on_gpu = msgspec.structs.replace(
        first.plan, contender=msgspec.structs.replace(first.plan.contender, options=options)
    )
    known = Memory(
        device_peak_bytes=10**9, device_reserved_bytes=2 * 10**9, device_process_bytes=3 * 10**9, device_reason="why"
    )
    for memory, process in (
        (known, "3.0 GB"),
        (msgspec.structs.replace(known, device_process_bytes=None), "unknown (why)"),
    ):
        one = msgspec.structs.replace(first, plan=on_gpu, memory=memory)
        (line,) = device_memory_table(msgspec.structs.replace(decided, contenders=[one, *others])).lines
        assert line.cells == [first.label, process, "1.0 GB", "2.0 GB", "unknown"]


@pytest.mark.parametrize(("calm", "flagged"), [(True, 1), (False, 0), (False, 2)])
def test_a_machine_is_not_calm_by_its_load_or_by_a_round(decided: Outcome, *, calm: bool, flagged: int) -> None:
    """Either is told, with how many rounds were disturbed."""
    (said,) = cautions(msgspec.structs.replace(decided, calm=calm, flagged_rounds=flagged))
    assert said.startswith(f"The machine was not calm: other processes were busy in parts of {flagged} of 7 rounds")


def test_a_certificate_without_checks_is_not_there_yet(decided: Outcome) -> None:
    """A contender that waits, with a certificate of which nothing was checked, lacks its evidence."""
    first, *others = decided.contenders
    assert first.certificate is not None
    empty = msgspec.structs.replace(first.certificate, checks=(), passed=False)
    begun = msgspec.structs.replace(first, status="pending", certificate=empty)
    asked = msgspec.structs.replace(decided.comparison, command="")
    left = {"ended": "unfinished", "comparison": asked, "rounds": 0, "contenders": [begun, *others]}
    (said,) = cautions(msgspec.structs.replace(decided, **left))
    assert said.startswith("Nothing is timed in these records, and not every certificate is there")


@pytest.mark.parametrize(("clock_mhz", "is_told"), [(1124.0, True), (1125.0, False)])
def test_a_clock_below_three_quarters_of_its_own_is_told(noisy: Outcome, clock_mhz: float, *, is_told: bool) -> None:
    """1,125 of 1,500 MHz are three quarters, and not below them."""
    first, *others = noisy.contenders
    for slowed in (["thermal limit, by software"], []):  # which the driver may not tell
        state = msgspec.structs.replace(first.gpu[0], clock_mhz=clock_mhz, slowed=slowed)
        told = cautions(
            msgspec.structs.replace(noisy, contenders=[msgspec.structs.replace(first, gpu=[state]), *others])
        )
        assert any("the GPU's clock was below 75 % of its 1,500 MHz" in one for one in told) == is_told


@pytest.mark.parametrize(
    ("stopped", "why"),
    [("", "not finished"), ("budget", "the time budget has ended"), ("rounds", "all rounds are done")],
)
def test_a_size_that_is_known_too_widely_is_told_with_why(decided: Outcome, stopped: str, why: str) -> None:
    """Also while the race still goes on."""
    pair = msgspec.structs.replace(decided.verdicts[0], wide=True, stopped=stopped)
    told = cautions(msgspec.structs.replace(decided, verdicts=[pair]))
    assert any(f"the size is known less narrowly than was asked for ({why})" in one for one in told)
