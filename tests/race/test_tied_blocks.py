"""Timed blocks do what their steps do that are waited for one by one: what faults leave out, and what is honest."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.frameworks.fake import engine
from bakeoff.judge.tied import why_untied
from bakeoff.store.results import read_records

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.race.conftest import Race

    from bakeoff.spec.batch import Batch

pytestmark = pytest.mark.slow


def skipping_what_is_not_waited_for() -> Callable[[engine.Step, Batch], None]:
    """Give a step's `run` that does nothing in every second one between two waits."""
    run = engine.Step.run

    def skipping(step: engine.Step, batch: Batch) -> None:
        if step._started % 2 == 0:
            run(step, batch)
        else:
            step._started += 1

    return skipping


@pytest.mark.parametrize(
    ("scenario", "says"),
    [("train", "it does not do all of every step"), ("infer", "the outputs of a step after all others are not those")],
)
def test_a_step_that_is_not_waited_for_and_does_nothing_is_refused(
    race: Race, monkeypatch: pytest.MonkeyPatch, scenario: str, says: str
) -> None:
    """All that is looked at step by step is right: what the timed blocks leave tells that they skip steps."""
    monkeypatch.setattr(engine.Step, "run", skipping_what_is_not_waited_for())
    (only,) = race("fake", max_rounds=1, scenario=scenario).contenders
    assert only.status == "refused"
    assert says in only.reason


def test_a_block_whose_last_step_does_nothing_is_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """In inference, of a stream of more than two steps: what the block left is another batch's."""
    run = engine.Step.run

    def skipping(step: engine.Step, batch: Batch) -> None:
        if step._started < 2:
            run(step, batch)

    monkeypatch.setattr(engine.Step, "run", skipping)
    (only,) = race("fake", max_rounds=1, scenario="infer").contenders
    assert only.status == "refused"
    assert "the outputs of" in only.reason or "it does not do every step" in only.reason


def test_steps_that_are_left_out_now_and_then_are_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Waited for or not: a step that does nothing leaves the loss of the one before, on another batch."""
    run = engine.Step.run

    def skipping(step: engine.Step, batch: Batch) -> None:
        count = vars(step)["count"] = vars(step).get("count", 0) + 1
        trained = step._trained
        run(step, batch)
        if count > 30 and count % 10 == 0:
            step._trained = trained

    monkeypatch.setattr(engine.Step, "run", skipping)
    outcome = race("fake", max_rounds=1)
    (only,) = outcome.contenders
    assert only.status == "refused"
    records, (plan,) = read_records(Path(outcome.path)).records, outcome.comparison.contenders
    tie = records["r01-fake"].tie
    assert tie is not None
    assert tie.still >= 3

    def found(still: int, batches: int) -> str:
        honest = msgspec.structs.replace(tie, still=still, block_off=0.0, repeated=tie.from_saved)
        of_some = msgspec.structs.replace(outcome.comparison.data, batches=batches)
        changed = records | {"r01-fake": msgspec.structs.replace(records["r01-fake"], tie=honest)}
        return why_untied(msgspec.structs.replace(outcome.comparison, data=of_some), changed, plan)

    assert "leave the loss of the step before and all parameters as they were, on another batch" in found(3, 2)
    assert not found(2, 2)
    assert not found(30, 1)


def test_what_a_block_left_is_held_where_it_has_to(race: Race) -> None:
    """Against one step's change; more is allowed where a process does not repeat itself, and then in every trial."""
    outcome = race("fake", max_rounds=2)
    (plan,) = outcome.comparison.contenders
    records = read_records(Path(outcome.path)).records
    tie = records["r01-fake"].tie
    assert tie is not None
    assert (tie.block_steps, tie.block_off, tie.fenced_off) == (len(records["r01-fake"].blocks[-1].steps_ns), 0.0, None)

    def found(first: dict[str, Any], second: dict[str, Any]) -> str:
        changed = {
            name: msgspec.structs.replace(records[name], tie=msgspec.structs.replace(records[name].tie, **fields))
            for name, fields in (("r01-fake", first), ("r02-fake", second))
        }
        return why_untied(outcome.comparison, records | changed, plan)

    same, other, noisy = (
        {"block_off": off, "fenced_off": again} for off, again in ((0.0, None), (0.1, 0.0), (1.0, 0.1))
    )
    assert "in r02-fake the last timed block" in found(same, other)
    assert "in r01-fake the last timed block" in found(noisy, noisy)
    halved = {"block_off": 5e-3, "fenced_off": 0.0}
    assert "allowed 0.001" in found(halved, same)
    honest = [
        (same, same),
        (same, noisy),
        ({"block_off": 1e-4, "fenced_off": 0.0}, same),
        ({"block_off": 0.2, "fenced_off": 1e-3}, same),
        ({"block_off": None}, {"block_steps": 0}),
    ]
    magnified = {"block_off": 3.0, "fenced_off": 1.0}
    # What rounding makes grows, and what leaves a step out is there at once.
    grows, jumps, begins = (
        other | {"block_off": 0.2, "grown": grown} for grown in ([5e-4, 0.04], [1e-6, 0.9], [0.0, 0.9])
    )
    nearer = other | {"block_off": 0.2, "grown": [0.0, 5e-4, 0.0, 0.04], "block_steps": 900}
    honest += [(nearer, nearer)]
    honest.append((grows, grows))
    assert all("in r01-fake the last timed block" in found(one, same) for one in (jumps, begins))
    assert not any(found(*fields) for fields in [*honest, (magnified, magnified)])
    for name, record in records.items():  # A framework that rounds steps otherwise where they follow each other.
        records[name] = msgspec.structs.replace(record, trial=msgspec.structs.replace(record.trial, joins_steps=True))
    assert not found(halved, same)
    assert "allowed 0.05" in found(other, same)


@pytest.mark.parametrize("every", [2, 3, 5])
def test_inference_that_leaves_steps_of_a_stream_out_is_refused(
    race: Race, monkeypatch: pytest.MonkeyPatch, every: int
) -> None:
    """Of a block the last outputs alone are there: streams of each length up to five show any place."""
    run = engine.Step.run

    def skipping(step: engine.Step, batch: Batch) -> None:
        if step._started % every == every - 1:
            step._started += 1
        else:
            run(step, batch)

    monkeypatch.setattr(engine.Step, "run", skipping)
    (only,) = race("fake", max_rounds=1, scenario="infer").contenders
    assert only.status == "refused"


def test_a_block_that_leaves_no_numbers_is_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the same steps one by one leave numbers."""
    run, parameters = engine.Step.run, engine.Step.parameters

    def spoiling(step: engine.Step, batch: Batch) -> None:
        vars(step)["spoilt"] = step._started > 0
        run(step, batch)

    def spoilt(step: engine.Step) -> Any:
        found = parameters(step)
        return {name: value * float("nan") for name, value in found.items()} if vars(step).get("spoilt") else found

    monkeypatch.setattr(engine.Step, "run", spoiling)
    monkeypatch.setattr(engine.Step, "parameters", spoilt)
    (only,) = race("fake", max_rounds=1).contenders
    assert only.status == "refused"
    assert "it does not do all of every step" in only.reason


def test_a_loss_that_stays_while_parameters_move_is_honest(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """As a triplet's margin does, once all that it holds apart has met: nothing is left out."""
    monkeypatch.setattr(engine.Step, "result", lambda step: 0.5 + 2.0 * 0.98 ** min(step._trained, 20))
    outcome = race("fake", max_rounds=1)
    (only,) = outcome.contenders
    assert only.status == "ranked", only.reason
    tie = read_records(Path(outcome.path)).records["r01-fake"].tie
    assert tie is not None
    assert tie.still == 0
