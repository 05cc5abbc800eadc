"""What trackers are sent of a comparison."""

from __future__ import annotations

import json
from pathlib import Path

import msgspec

from bakeoff.judge.comparison import judge_comparison
from bakeoff.spec.verdict import mirrored
from bakeoff.store.results import read_records
from bakeoff.tracking.run import TrackedRun, run_id

RECORD = Path(__file__).parents[1] / "records/mlp-mnist-fada"


def test_a_run_holds_the_figures_of_the_report(recorded: list[TrackedRun]) -> None:
    """One run for each contender, with its step time, its interval, and every verdict as seen from it."""
    outcome = judge_comparison(RECORD)
    assert [run.name for run in recorded] == [one.label for one in outcome.contenders]
    for run, one in zip(recorded, outcome.contenders, strict=True):
        assert one.step_s is not None
        assert run.metrics["step_s"] == one.step_s.estimate
        assert (run.metrics["step_interval_s.low"], run.metrics["step_interval_s.high"]) == (
            one.step_s.low,
            one.step_s.high,
        )
        assert run.group == outcome.comparison.id
        assert run.config["comparison.workload"] == "mlp-mnist"
        assert run.config["machine.processor"] == outcome.comparison.machine["processor"]
        assert run.metrics["certificate.passed"] == 1.0
        assert run.state == "finished"
    first, second = recorded[0].name, recorded[1].name
    mine, theirs = recorded[0].metrics[f"verdict.{second}.ratio"], recorded[1].metrics[f"verdict.{first}.ratio"]
    assert abs(mine * theirs - 1) < 1e-9
    told = {(one.first, one.second): one for one in outcome.pairs}
    pair = told[first, second] if (first, second) in told else mirrored(told[second, first])
    ends = tuple(recorded[0].metrics[f"verdict.{second}.{end}"] for end in ("ratio", "low", "high"))
    assert ends == (pair.ratio, pair.low, pair.high)
    words = {recorded[0].words[f"verdict.{second}"], recorded[1].words[f"verdict.{first}"]}
    assert words in ({"faster", "slower"}, {"equal"}, {"undecided"})


def test_a_run_holds_every_block_as_it_was_recorded(recorded: list[TrackedRun]) -> None:
    """A point for each block in the order of rounds, and in a file all that the records hold of them."""
    records = read_records(RECORD).records.values()
    for run in recorded:
        timed = [one for one in records if one.trial.purpose == "time" and one.trial.contender.label == run.name]
        timed.sort(key=lambda one: one.trial.round_number)
        blocks = [block for record in timed for block in record.blocks]
        assert [point.step for point in run.points] == list(range(len(blocks)))
        assert [point.values["block/elapsed_s"] for point in run.points] == [one.elapsed_ns * 1e-9 for one in blocks]
        assert [point.values["block/step_s"] for point in run.points] == [
            one.elapsed_ns * 1e-9 / len(one.steps_ns) for one in blocks
        ]
        signals = {
            "block/foreign_share": [one.signals.foreign_share for one in blocks],
            "block/steal_share": [one.signals.steal_share for one in blocks],
            "block/cpu_s": [one.signals.cpu_ns * 1e-9 for one in blocks],
            "block/compilations": [one.compilations for one in blocks],
            "block/turn": [one.turn for one in blocks],
            "block/round": [record.trial.round_number for record in timed for _ in record.blocks],
        }
        assert {name: [point.values.get(name) for point in run.points] for name in signals} == signals
        raw = json.loads(run.files["blocks.json"])
        assert [block for one in raw for block in one["blocks"]] == msgspec.to_builtins(blocks)
        assert run.files["chart.png"].startswith(b"\x89PNG")


def test_a_run_has_the_same_id_every_time() -> None:
    """The id tells contenders, comparisons, and comparisons of one name apart, and nothing else."""
    asked = [("a-0001", "2026", "x"), ("a-0001", "2026", "y"), ("a-0001", "2027", "x"), ("b-0001", "2026", "x")]
    ids = [run_id(*one) for one in asked]
    assert len(set(ids)) == len(ids)
    assert ids == [run_id(*one) for one in asked]
    assert all(one.isalnum() and len(one) == 32 for one in ids)
