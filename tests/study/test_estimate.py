"""What studies cost elsewhere, from what was measured here and from assumptions that are stated."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.study.conftest import forecast_of
from tests.study.test_reproduce import published, ran

from bakeoff.race.forecast import ContenderCost
from bakeoff.spec.published import PublishedStudy
from bakeoff.spec.study import Study
from bakeoff.study.estimate import (
    A100_WATTS,
    CORE_WATTS,
    JOB_START_S,
    LEAST_STEPS_S,
    CostEstimate,
    Span,
    estimate,
    makespan,
)
from bakeoff.study.foreseen import Foreseen, ForeseenPoint, foreseen
from bakeoff.study.reproduction import declare
from bakeoff.study.run import finished

CORES = 2


def measured(study: Study, costs: dict[str, ContenderCost]) -> Foreseen:
    """Give a study whose only comparison was measured here: 5 rounds."""
    (point,) = study.points
    told = forecast_of(point.request, costs=costs)
    one = ForeseenPoint(title=point.title, basis="measured", low_s=1000.0, high_s=1000.0, forecast=told)
    return Foreseen(study=study, points=[one])


def cost(**changes: float | None) -> ContenderCost:
    """Give what a contender took: certificates 20 s, five rounds of 30 s of which 20 are steps, and 10 s behind."""
    given = ContenderCost(certificates_s=20.0, round_s=30.0, steps_s=20.0, behind_s=10.0, step_s=0.5, watts=None)
    return msgspec.structs.replace(given, **changes)


def places(told: CostEstimate) -> dict[str, Span]:
    """Give the time by place."""
    return {figure.place: figure.seconds for figure in told.figures}


def slow_gpu(within_a100: str = "a page of both") -> PublishedStudy:
    """Give published figures of a GPU that a page shows to be no faster than an A100."""
    given = published()
    machines = tuple(msgspec.structs.replace(one, within_a100=within_a100) for one in given.machines)
    return msgspec.structs.replace(given, machines=machines)


def full() -> Study:
    """Give the study at the document's size: the published steps are 32 ms and 54.5 ms, whole runs have 1000 steps."""
    return declare(slow_gpu(), full=True, device="cpu")


def test_only_steps_shrink_with_a_gpu() -> None:
    """Starting, compiling and certificates take as long there; steps as long as the document's, blocks their least."""
    costs = {"fake": cost(), "fake:step_ms=2": cost(step_s=0.01)}
    told = estimate([measured(full(), costs)], CORES)
    repeats = 3
    faster = 20 + 10 + 5 * (10 + max(LEAST_STEPS_S, 20 * 0.032 / 0.5)) + repeats * (10 + 1000 * 0.032)
    as_here = 20 + 10 + 5 * 30 + repeats * (10 + 1000 * 0.01)
    assert places(told)["one A100"] == pytest.approx((faster + as_here, faster + as_here))
    assert places(told)["this machine"] == (1000.0, 1000.0)
    said = " ".join(told.assumptions)
    assert "assumed no longer than the document's own on its GPU: " in said
    assert "GTX 1070 Ti: a page of both." in said


def test_a_step_of_a_gpu_that_nothing_puts_beside_an_a100_is_taken_for_none(tmp_path: Path) -> None:
    """Of a document of such a GPU, which may be the faster one, nothing is estimated, and that is said by its name."""
    study = declare(slow_gpu(within_a100=""), full=True, device="cpu")
    told = estimate([measured(study, {"fake": cost(), "fake:step_ms=2": cost()})], CORES)
    as_here = 2 * (20 + 10 + 5 * 30 + 3 * (10 + 1000 * 0.5))
    assert places(told)["one A100"] == pytest.approx((as_here, as_here))
    said = " ".join(told.assumptions)
    assert "A step on an A100 is assumed as fast as here" in said
    assert f"no faster than an A100: {published().document.name}, table 4 (GTX 1070 Ti)." in said
    assert [figure.unknown for figure in estimate([foreseen(study, tmp_path)], CORES).figures] == [1] * 4


def test_scaled_down_a_step_is_assumed_as_fast_as_here() -> None:
    """The published step is of another size, and is not used; a round never falls below its blocks' time."""
    costs = {"fake": cost(step_s=1e-3, steps_s=LEAST_STEPS_S / 2), "fake:step_ms=2": cost()}
    scaled = declare(published(), device="cpu")
    told = estimate([measured(scaled, costs)], CORES)
    assert places(told)["one A100"].low == pytest.approx(
        2 * 30
        + 5 * 60
        + sum(3 * (one.round_s - one.steps_s) for one in costs.values()) * bool(scaled.points[0].request.steps)
    )
    assert "assumed as fast as here" in " ".join(told.assumptions)


def test_energy_is_counted_where_it_can_be_and_assumed_where_not() -> None:
    """RAPL's watts where they were read, else a power by cores; a GPU takes its TDP; each is said with its source."""
    read = estimate([measured(full(), {"fake": cost(watts=50.0), "fake:step_ms=2": cost(watts=70.0)})], CORES)
    assert read.figures[0].kwh.low == pytest.approx(1000 / 3600 * 60 / 1000)
    assert "RAPL" in read.assumptions[-1]
    told = estimate([measured(full(), {"fake": cost(), "fake:step_ms=2": cost()})], CORES)
    here, gpu, *_ = told.figures
    assert here.kwh.low == pytest.approx(1000 / 3600 * CORES * CORE_WATTS / 1000)
    assert gpu.kwh.low == pytest.approx(gpu.device_hours.low * A100_WATTS / 1000)
    assert "no counter of energy" in told.assumptions[-1]


def test_where_a_gpu_is_here_it_is_part_of_what_is_said() -> None:
    """A GPU here may be the faster one, and a power by cores leaves it out; its driver's count has it."""
    study = declare(slow_gpu(within_a100=""), full=True, device="cpu")
    assert study.reproduces is not None
    on_gpu = msgspec.structs.replace(study, reproduces=msgspec.structs.replace(study.reproduces, device="cuda"))
    costs = {"fake": cost(), "fake:step_ms=2": cost()}
    said = estimate([measured(on_gpu, costs)], CORES).assumptions
    assert any("upper bounds where the GPU here is no faster than an A100." in one for one in said)
    assert said[-1].endswith("Its GPU is not counted.")
    read = {label: msgspec.structs.replace(one, watts=300.0) for label, one in costs.items()}
    assert "300 W: what RAPL and the GPU's driver counted" in estimate([measured(on_gpu, read)], CORES).assumptions[-1]
    assert not any("GPU is not counted" in one for one in estimate([measured(study, costs)], CORES).assumptions)


def test_on_several_devices_comparisons_run_side_by_side() -> None:
    """Device hours stay, the time is that of the fullest device; a cluster waits for each job to start."""
    told = estimate([measured(full(), {"fake": cost(), "fake:step_ms=2": cost()})] * 10, CORES)
    here, one, eight, cluster = told.figures
    assert (told.comparisons, here.seconds.low) == (10, 10_000.0)
    each_s = one.seconds.low / 10
    assert eight.seconds.low == pytest.approx(2 * each_s)
    assert eight.device_hours == one.device_hours
    assert cluster.seconds.low == pytest.approx(each_s + JOB_START_S)


@pytest.mark.parametrize(
    ("jobs", "devices", "ends"),
    [
        ([], 8, 0.0),
        ([(5, 1), (3, 1), (3, 1)], 2, 6.0),
        ([(4, 2), (1, 1), (1, 1)], 2, 5.0),
        ([(4, 16)], 8, 8.0),
        ([(4, 4)], 1, 16.0),
        ([(3, 1), (3, 1), (5, 1)], 2, 6.0),
        ([(4, 1), (2, 2), (1, 1)], 2, 7.0),
        ([(5, 1), (1, 1)], 2, 5.0),
    ],
)
def test_the_last_of_several_jobs(jobs: list[tuple[float, int]], devices: int, ends: float) -> None:
    """The longest begin first; one that needs several waits for them, or shares fewer for longer."""
    assert makespan(jobs, devices) == ends


BOTH = {"fake": cost(), "fake:step_ms=2": cost()}
AS_HERE_S = 2 * (20 + 10 + 5 * 30 + 3 * (10 + 1000 * 0.5))
"""On an A100 as fast as this machine."""

FASTER_S = 2 * (20 + 10 + 5 * (10 + 20 / 0.5 * 0.032) + 3 * (10 + 1000 * 0.032))
"""Where a published step of 32 ms stands for both."""


def changed(told: Foreseen, **changes: Any) -> Foreseen:
    """Give what was foreseen with another point: fields of its own, and of its forecast."""
    (point,) = told.points
    assert point.forecast is not None
    own = {name: value for name, value in changes.items() if name in ForeseenPoint.__struct_fields__}
    rest = {name: value for name, value in changes.items() if name not in own}
    forecast = msgspec.structs.replace(point.forecast, **rest)
    return msgspec.structs.replace(told, points=[msgspec.structs.replace(point, forecast=forecast, **own)])


def both_as(values_ms: tuple[float, ...], **machine: str) -> PublishedStudy:
    """Give published figures by which both contenders have the same step."""
    given = slow_gpu()
    (declared,) = given.comparisons
    figures = tuple(msgspec.structs.replace(one, values=values_ms, **machine) for one in declared.figures)
    return msgspec.structs.replace(given, comparisons=(msgspec.structs.replace(declared, figures=figures),))


def test_what_is_assumed_of_places_is_what_is_counted_with() -> None:
    """6.25 W a core, 400 W an A100, 100 nodes of 8, 300 s until a job runs: all in the figures, high ends as well."""
    told = estimate([measured(full(), BOTH)] * 801, CORES)
    here, one, eight, cluster = told.figures
    hours = 801 * 1000 / 3600
    assert here.device_hours == pytest.approx((hours, hours))
    assert here.kwh == pytest.approx((hours * 12.5 / 1000, hours * 12.5 / 1000))
    assert one.kwh == pytest.approx(one.device_hours.times(0.4))
    each_s = one.seconds.low / 801
    assert eight.seconds == pytest.approx((101 * each_s, 101 * each_s))
    assert (cluster.place, cluster.seconds) == ("100 nodes", pytest.approx((2 * (each_s + 300), 2 * (each_s + 300))))


def test_however_fast_a_step_is_a_rounds_blocks_last() -> None:
    """Eight turns of 30 and 75 ms, and 150 ms of steps waited for: 0.99 s, which a step of a hundredth does not cut."""
    study = declare(both_as((32.0,)), full=True, device="cpu")
    told = estimate([measured(study, dict.fromkeys(BOTH, cost(step_s=3.2)))], CORES)
    assert places(told)["one A100"].low == pytest.approx(2 * (20 + 10 + 5 * 10.99 + 3 * (10 + 1000 * 0.032)))


def test_what_cannot_be_had_is_in_no_figure_and_no_assumption() -> None:
    """A comparison with a problem is neither counted nor unknown, and what its document published is not told."""
    plain = msgspec.structs.replace(measured(full(), BOTH), study=msgspec.structs.replace(full(), reproduces=None))
    lost = ForeseenPoint(title=full().points[0].title, basis="rough", low_s=0.0, high_s=0.0, problem="no memory")
    told = estimate([plain, Foreseen(study=full(), points=[lost])], CORES)
    assert told == estimate([plain], CORES)
    assert told.comparisons == 1


def test_a_contender_on_two_devices_takes_two_there_and_this_machine_once() -> None:
    """On one A100 it takes twice as long, and twice the hours anywhere; this machine is one, however many it plays."""
    known = measured(full(), BOTH)
    comparison = known.points[0].forecast.comparison  # type: ignore[union-attr]
    first, second = comparison.contenders
    options = second.contender.options | {"devices": "2"}
    wide = msgspec.structs.replace(second, contender=msgspec.structs.replace(second.contender, options=options))
    several = changed(known, comparison=msgspec.structs.replace(comparison, contenders=[first, wide]))
    here, one, eight, _ = estimate([several], CORES).figures
    alone_s = places(estimate([known], CORES))["one A100"].low
    assert (here.seconds, here.device_hours.low) == ((1000.0, 1000.0), pytest.approx(1000 / 3600))
    assert (one.seconds.low, eight.seconds.low) == pytest.approx((2 * alone_s, alone_s))
    assert one.device_hours.low == eight.device_hours.low == pytest.approx(2 * alone_s / 3600)


def test_what_was_measured_at_another_size_is_taken_as_measured() -> None:
    """Its times are as good there, and what is assumed of steps is said; so it is of what has rough times alone."""
    known = measured(full(), BOTH)
    counted, rough = changed(known, basis="counted"), changed(known, basis="rough")
    assert places(estimate([counted], CORES)) == places(estimate([known], CORES))
    for one in (known, counted, rough):
        assert any(said.startswith("A step on an A100 is") for said in estimate([one], CORES).assumptions)
    declared = estimate([changed(known, basis="declared")], CORES).assumptions
    assert not any(said.startswith("A step on an A100 is") for said in declared)


def test_traces_and_rounds_until_the_last_look_are_counted() -> None:
    """Two rounds of traces take as long as rounds; five rounds at least and seven at most make a range, or none."""
    study = msgspec.structs.replace(full(), reproduces=None)
    known = msgspec.structs.replace(measured(full(), BOTH), study=study)
    ranged = changed(known, most_rounds=7, trace_rounds=2)
    low_s = AS_HERE_S + 2 * 2 * 30
    assert places(estimate([ranged], CORES))["one A100"] == pytest.approx((low_s, low_s + 2 * 2 * 30))
    open_ended = changed(known, most_rounds=None, high_s=None)
    for figure in estimate([known, open_ended], CORES).figures:
        assert figure.seconds.high is figure.device_hours.high is figure.kwh.high is None


@pytest.mark.parametrize(
    ("given", "seconds"),
    [
        (both_as((32.0,)), FASTER_S),
        (both_as((1000.0,)), AS_HERE_S),
        (msgspec.structs.replace(both_as((32.0,)), rows=tuple(
            msgspec.structs.replace(one, device="cpu") for one in slow_gpu().rows)), AS_HERE_S),
    ],
)  # fmt: skip
def test_a_published_step_counts_where_a_gpu_took_it_and_it_is_shorter(given: PublishedStudy, seconds: float) -> None:
    """A slower one, and one that a processor took, leave the step as it is here."""
    told = estimate([measured(declare(given, full=True, device="cpu"), BOTH)], CORES)
    assert places(told)["one A100"].low == pytest.approx(seconds)


def test_a_published_step_is_not_used_where_steps_are_smaller_here() -> None:
    """Scaled down, a step is assumed as fast as here also where the document's GPU is no faster than an A100."""
    scaled = declare(both_as((32.0,)), device="cpu")
    told = estimate([measured(scaled, BOTH)], CORES)
    whole_s = places(told)["one A100"].low - 2 * (20 + 10 + 5 * 30)
    assert whole_s >= 0
    assert "as fast as here" in " ".join(told.assumptions)
    assert "no longer than the document's own" not in " ".join(told.assumptions)


def test_of_two_gpus_the_shorter_step_is_taken_and_each_is_said_once() -> None:
    """Both are no faster than an A100, so that it takes no longer than the faster of them."""
    given = both_as((32.0,))
    (declared,), (machine,) = given.comparisons, given.machines
    quicker = tuple(msgspec.structs.replace(one, values=(16.0,), machine="newer") for one in declared.figures)
    slower = tuple(msgspec.structs.replace(one, machine=machine.name) for one in declared.figures)
    both = msgspec.structs.replace(
        given,
        machines=(machine, msgspec.structs.replace(machine, name="newer")),
        comparisons=(msgspec.structs.replace(declared, figures=(*quicker, *slower)),),
    )
    told = estimate([measured(declare(both, full=True, device="cpu"), BOTH)] * 2, CORES)
    each_s = 20 + 10 + 5 * (10 + max(LEAST_STEPS_S, 20 / 0.5 * 0.016)) + 3 * (10 + 1000 * 0.016)
    assert places(told)["one A100"].low == pytest.approx(2 * 2 * each_s)
    said = " ".join(told.assumptions)
    assert f"faster than an A100: newer: a page of both; {machine.name}: a page of both." in said


def test_where_one_row_alone_has_a_published_step_nothing_follows(tmp_path: Path) -> None:
    """A comparison that was never run needs the step of each contender, and then takes a minute of each beside runs."""
    given = slow_gpu()
    known = estimate([foreseen(full(), tmp_path)], CORES)
    assert places(known)["one A100"] == (pytest.approx(2 * 60 + 3 * (32 + 54.5)), None)
    (declared,) = given.comparisons
    half = msgspec.structs.replace(
        given, comparisons=(msgspec.structs.replace(declared, figures=declared.figures[:1]),)
    )
    told = estimate([foreseen(declare(half, full=True, device="cpu"), tmp_path)], CORES)
    assert [figure.unknown for figure in told.figures] == [1] * 4


@pytest.mark.parametrize("changes", [{"other": "another network"}, {"unit": "tokens/s"}])
def test_of_other_work_or_no_time_nothing_follows_for_a_gpu(tmp_path: Path, changes: dict[str, Any]) -> None:
    """A published step of another network, or words a second, are not taken for a step's time: it is in no figure."""
    given = slow_gpu()
    changed = [msgspec.structs.replace(one, **changes) for one in given.comparisons]
    study = declare(msgspec.structs.replace(given, comparisons=tuple(changed)), full=True, device="cpu")
    told = estimate([foreseen(study, tmp_path)], CORES)
    assert [figure.unknown for figure in told.figures] == [1] * 4


def test_what_cannot_race_here_takes_no_part_of_the_declared_minutes(tmp_path: Path) -> None:
    """A comparison that is left out, and a row whose framework is not here, leave the rest its own part of the time."""
    given = published()
    (whole,) = given.comparisons
    absent = msgspec.structs.replace(whole, name="jittor alone", rows=("jittor",), figures=())
    scaled = declare(msgspec.structs.replace(given, comparisons=(whole, absent)), device="cpu")
    (told,) = foreseen(scaled, tmp_path).points
    assert told.low_s == told.high_s == 60.0 * given.minutes * 2 / 4


def test_before_a_study_its_time_is_told_by_what_it_declares_then_by_what_was_measured(tmp_path: Path) -> None:
    """Nothing known: the study's minutes, and of its full size nothing; after a run its own times, with whole runs."""
    scaled = declare(published(), device="cpu")
    (told,) = foreseen(scaled, tmp_path).points
    assert (told.basis, told.low_s, told.high_s) == ("declared", *[60.0 * published().minutes * 2 / 3] * 2)
    (unknown,) = foreseen(full(), tmp_path).points
    assert (unknown.basis, unknown.high_s) == ("rough", None)
    whole = estimate([foreseen(full(), tmp_path)], CORES)
    assert [figure.unknown for figure in whole.figures] == [1, 0, 0, 0]
    assert whole.figures[1].seconds == (pytest.approx(120 + 3 * (32 + 54.5)), None)
    outcome = ran(published(), tmp_path)
    (known,) = foreseen(scaled, tmp_path).points
    assert known.basis == "measured"
    assert known.forecast is not None
    assert known.low_s > outcome.outcomes[0].rounds * (known.forecast.round_s or 0) * 0.9
    assert all(0 < one.steps_s <= one.round_s for one in known.forecast.costs.values())
    assert [known.forecast.costs[label].step_s for label in ("fake", "fake:step_ms=2")] == pytest.approx(
        [1e-3, 2e-3], rel=0.2
    )
    (resized,) = foreseen(full(), tmp_path).points
    assert resized.basis == "counted"
    assert resized.forecast is not None
    works = [one.work.macs for one in (resized.forecast.comparison, known.forecast.comparison) if one.work]
    ratio = works[0] / works[1]
    assert ratio > 2
    assert resized.forecast.costs["fake"].step_s == pytest.approx(known.forecast.costs["fake"].step_s * ratio)
    assert resized.low_s > 3 * 1000 * 3e-3 * ratio * 0.8
    assert [figure.unknown for figure in estimate([foreseen(full(), tmp_path)], CORES).figures] == [0] * 4
    quick = msgspec.structs.replace(
        scaled,
        points=[
            msgspec.structs.replace(one, request=msgspec.structs.replace(one.request, self_test=False))
            for one in scaled.points
        ],
    )
    assert finished(quick, tmp_path) == [True]
    done = foreseen(quick, tmp_path, finished=[True])
    assert (done.finished, done.points) == (1, [])
