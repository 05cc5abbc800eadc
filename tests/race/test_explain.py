"""Explanations of whole comparisons, with the scripted framework, whose parts are known."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.race.inline import InlineWorker

from bakeoff.cli.dryrun_explain import tell
from bakeoff.frameworks.fake import tracing
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.explained import explain
from bakeoff.judge.explanation import Explanation
from bakeoff.judge.gap import less_in
from bakeoff.race import conductor
from bakeoff.race.again import request_again
from bakeoff.race.counterfactual import gaps_to_fastest, lacks_traces
from bakeoff.race.forecast_why import forecast_why
from bakeoff.race.stages import explain as stage
from bakeoff.report.sections.why import headline
from bakeoff.spec.errors import StoreError, UsageError
from bakeoff.spec.group import replica_folder
from bakeoff.store.files import read_comparison, read_end, read_record, write_record
from bakeoff.store.results import read_records
from bakeoff.trial.explain import TRACE_FOLDER

PARTS = "convolution/forward/stem/6;normalisation/forward/stem/2;optimiser/optimiser//1;idle///1"
SCRIPT = f"step_ms=2,parts={PARTS}"
PLANTED = "planted=data movement/backward/stem,planted_ms=0.5"


@pytest.fixture
def explained(request_of: Any) -> Any:
    """Give a function that races contenders and explains them."""

    def run(*contenders: str, **asked: Any) -> Explanation:
        request = request_of(*contenders, **{"max_rounds": 3} | asked)
        outcome = conductor.run(request, launch=InlineWorker, probe_s=0.001, also=[stage.wanted])
        return explain(Path(outcome.path))

    return run


def test_a_planted_part_is_the_first_row_and_rows_have_the_gap_as_their_sum(explained: Any) -> None:
    """What one contender does more is found by kind and by layer; the others' rows differ by nothing."""
    found = explained(f"fake:{SCRIPT}", f"fake:{SCRIPT},{PLANTED}")
    (gap,) = found.gaps
    assert (gap.first_s, gap.second_s) == pytest.approx((0.002, 0.0025))
    for rows in (gap.by_kind, gap.by_layer):
        assert sum(row.second_s - row.first_s for row in rows) == pytest.approx(gap.gap_s)
        assert sum(row.first_s for row in rows) == pytest.approx(gap.first_s)
        assert [row.told_apart for row in rows] == [True, *([False] * (len(rows) - 1))]
    kind, layer = gap.by_kind[0], gap.by_layer[0]
    assert (kind.kind, kind.phase, kind.first_s) == ("data movement", "backward", 0)
    assert kind.second_s == pytest.approx(0.0005)
    assert kind.second_launches == 1
    assert (layer.kind, layer.phase, layer.layer) == (None, "backward", "stem")
    assert {row.kind for row in gap.by_layer if not row.layer} == {"optimiser", "idle"}


def test_parts_that_change_their_kind_are_summed(explained: Any) -> None:
    """Of a contender whose convolutions are products instead, convolutions take less, and both together the same."""
    found = explained(f"fake:{SCRIPT}", f"fake:{SCRIPT.replace('convolution', 'matrix product')}")
    records = list(read_records(Path(found.outcome.path)).records.values())
    before, after = (one.label for one in found.outcome.contenders)
    less = partial(less_in, outcome=found.outcome, records=records, before=before, after=after)
    assert less({"convolution"}).estimate == pytest.approx(0.0012)
    assert less({"convolution", "matrix product"}).estimate == pytest.approx(0.0, abs=1e-9)
    assert less({"convolution"}, after="nobody") is None


def test_five_rounds_are_traced_and_never_twice(explained: Any) -> None:
    """Trials have a folder of their own kind, plain blocks beside profiled ones, and raw traces that can be opened."""
    found = explained("fake:trace_cost=0.25", "fake:step_ms=2")
    folder = Path(found.outcome.path)
    assert sorted(path.name for path in folder.glob("explain*fake*step*")) == [
        f"explain{number}-fake-step_ms=2" for number in range(1, 6)
    ]
    one = found.profiles[0]
    assert (one.level, one.rounds, one.reason) == ("layers", 5, "")
    assert one.profiled_ratio == pytest.approx(1.25)
    assert (len(one.files), one.notes) == (5, ["these events are scripted"])
    assert all(Path(file).read_text(encoding="utf-8").split() == ["1250000"] * 15 for file in one.files)
    traced = read_record(folder / "explain1-fake-step_ms=2").traced
    assert traced is not None
    assert ([len(block) for block in traced.plain_ns], traced.steps, traced.kept) == ([15, 15], 30, 16)
    assert sum(share.share for share in traced.shares) == pytest.approx(1)
    records = {path: path.read_bytes() for path in folder.glob("*/record.json")}
    comparison = read_comparison(folder)
    conductor.add(folder, request_again(folder, comparison, budget_s=None), [stage.wanted], launch=InlineWorker)
    assert {path: path.read_bytes() for path in folder.glob("*/record.json")} == records


def test_a_comparison_that_was_run_before_is_explained_in_its_folder(race: Any) -> None:
    """Its verdict and why it ended stay; contenders that are the same twice keep their labels."""
    outcome = race("fake", "fake", max_rounds=3)
    folder = Path(outcome.path)
    ended = read_end(folder)
    assert all("budget" in one.reason for one in explain(folder).profiles)
    conductor.add(folder, request_again(folder, outcome.comparison, budget_s=60), [stage.wanted], launch=InlineWorker)
    found = explain(folder)
    assert [(gap.first, gap.second) for gap in found.gaps] == [("fake", "fake (2)")]
    assert judge_comparison(folder).verdicts == outcome.verdicts
    assert (read_end(folder), found.outcome.rounds) == (ended, 3)


def test_what_was_compared_is_not_mixed_with_anything_else(race: Any, request_of: Any) -> None:
    """Another contender is refused, and so is a file that only the results folder names."""
    outcome = race("fake", max_rounds=1)
    folder, comparison = Path(outcome.path), outcome.comparison
    with pytest.raises(StoreError, match="are not what they were"):
        conductor.add(folder, request_of("fake:step_ms=2"), [stage.wanted], launch=InlineWorker)
    (plan,) = comparison.contenders
    strange = type(plan.contender)(framework="fake", label="fake", environment="./elsewhere")
    plans = [type(plan)(contender=strange, interpreter="", framework_path="")]
    moved = type(comparison)(
        **{name: getattr(comparison, name) for name in comparison.__struct_fields__} | {"contenders": plans}
    )
    with pytest.raises(UsageError, match="name workload and contenders again"):
        request_again(folder, moved, budget_s=None)


def test_a_profile_of_kinds_alone_gives_no_layers(explained: Any) -> None:
    """The pair has its table of kinds; one that sees nothing is run once, and says why."""
    found = explained("fake", "fake:trace_level=kinds", "fake:trace_level=none")
    assert [(one.level, one.rounds) for one in found.profiles] == [("layers", 5), ("kinds", 5), ("none", 0)]
    (gap,) = found.gaps
    assert (bool(gap.by_kind), gap.by_layer) == (True, [])
    assert found.profiles[2].reason == "the script says so"
    traced = [record for record in read_records(Path(found.outcome.path)).records.values() if record.traced]
    assert [record.traced.plain_ns and record.traced.level for record in traced].count("none") == 1


def test_a_framework_without_a_tracer_says_so(explained: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A folder need not have a tracing.py; and a profiler that breaks off costs its own trial alone."""
    monkeypatch.setattr("bakeoff.trial.built.make_tracer", lambda _: None)
    (profile,) = explained("fake").profiles
    assert (profile.level, profile.reason) == ("none", "bakeoff does not read this framework's profiler")
    monkeypatch.undo()

    def broken(*_: Any) -> None:
        msg = "no profile"
        raise RuntimeError(msg)

    monkeypatch.setattr(tracing.Tracer, "trace", broken)
    (profile,) = explained("fake").profiles
    assert profile.reason == "its traced trial did not come to its end: failed: RuntimeError: no profile"


def test_a_spent_budget_leaves_no_time_for_traces(explained: Any) -> None:
    """The race comes first; that nothing was traced is said."""
    found = explained("fake", "fake:step_ms=2", budget_s=1e-6)
    assert (found.gaps, found.outcome.rounds >= 1) == ([], True)
    assert all(one.reason.startswith("no trial of it was traced: the time budget was spent") for one in found.profiles)


def test_ready_made_models_are_not_traced(explained: Any) -> None:
    """They have no layers of the workload's, which is the reason."""
    found = explained("fake", "fake:tier=native")
    assert "ready-made" in found.profiles[1].reason
    assert found.profiles[0].rounds == 5


AGREEING = f"{SCRIPT};communication/backward/stem/2.5,step_ms_by_device=0.25"
"""A step of 2 ms on one device, and of 2.5 ms on two, of which 0.5 ms are collectives."""


@pytest.mark.parametrize("sync", ["ddp", "mirrored"])
def test_what_a_step_takes_more_on_several_devices_is_its_collectives(explained: Any, sync: str) -> None:
    """The gap to the same contender on one device has a row for them, and the report of the race their share."""
    found = explained(f"fake:{AGREEING},sync={sync}", f"fake:{AGREEING},sync={sync},devices=2")
    (gap,) = found.gaps
    assert (gap.first_s, gap.second_s) == pytest.approx((0.002, 0.0025))
    row = gap.by_kind[0]
    assert (row.kind, row.phase, row.first_s) == ("communication", "", 0)
    assert (row.second_s, row.told_apart) == (pytest.approx(0.0005), True)
    assert all(one.second_s == pytest.approx(one.first_s) for one in gap.by_kind[1:])
    assert "on communication" in headline(found)
    assert gaps_to_fastest(found) == [], "no switch takes away what agreeing costs"
    (scaling,) = found.outcome.scalings
    assert scaling.collectives == pytest.approx(0.2)
    assert scaling.collectives_interval is not None


def test_replicas_run_the_same_traced_steps_and_the_first_ones_files_stay(explained: Any) -> None:
    """Every replica is traced, so that none waits for one that is slowed; raw files of the others are not kept."""
    (profile,) = explained("fake:devices=2").profiles
    assert (profile.level, profile.rounds, len(profile.files)) == ("layers", 5, 5)
    folder = Path(profile.files[0]).parents[1]
    traced = [read_record(place).traced for place in (folder, folder / replica_folder(1))]
    assert [one.steps if one else 0 for one in traced] == [30, 30]
    assert not (folder / replica_folder(1) / TRACE_FOLDER).exists()


def test_other_numbers_of_devices_are_another_contenders_gap(explained: Any) -> None:
    """A contender on one device and another one on two are not held against each other."""
    found = explained("fake", "fake:step_ms=2,devices=2")
    assert [one.rounds for one in found.profiles] == [5, 5]
    assert found.gaps == []


def test_waiting_for_batches_is_a_part_of_its_own(explained: Any) -> None:
    """A contender whose batches take their time to come spends it on them, and so much more than one that has them."""
    (gap,) = explained("fake", "fake:input=per-step,input_ms=0.5").gaps
    assert (gap.by_kind[0].kind, gap.by_kind[0].told_apart) == ("input wait", True)
    assert gap.by_kind[0].second_s == pytest.approx(0.0005)


def test_what_is_never_traced_again_is_not_foreseen(explained: Any) -> None:
    """One that could see nothing in its first trial has no second one, so that a dry run tells of none."""
    told = forecast_why(Path(explained("fake", "fake:trace_level=none").outcome.path))
    assert (told.traces, told.checks) == (0, [])


def test_where_nobody_is_ranked_no_trace_is_said_to_be_there(
    explained: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    """A dry run of an explanation says so, and does not call its traces complete."""
    folder = Path(explained("fake").outcome.path)
    for trial in folder.glob("r0*"):
        shutil.rmtree(trial)
    tell(folder)
    said = capsys.readouterr().out
    assert "None of its contenders is ranked: nothing is run." in said
    assert "traces" not in said


def test_a_traced_trial_that_was_killed_is_run_again(explained: Any) -> None:
    """What may have passed is no answer: a dry run foresees the trial, and the next explanation runs it."""
    folder = Path(explained("fake", "fake:step_ms=2").outcome.path)
    assert not lacks_traces(folder)
    last = folder / "explain5-fake-step_ms=2"
    write_record(last, msgspec.structs.replace(read_record(last), outcome="killed", reason="by somebody", traced=None))
    assert lacks_traces(folder)
    assert forecast_why(folder).traces == 1
    request = request_again(folder, read_comparison(folder), budget_s=None)
    conductor.add(folder, request, [stage.wanted], launch=InlineWorker)
    assert not lacks_traces(folder)
    assert [one.rounds for one in explain(folder).profiles] == [5, 5]
