"""Of long steps fewer warm up and are waited for, and what is timed is tied to the certificate all the same."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import pytest
from tests.race.test_tied_blocks import skipping_what_is_not_waited_for
from tests.race.test_turns import timed_of

from bakeoff.frameworks.fake import engine
from bakeoff.race.stages.rounds import FENCED, TURNS, round_steps
from bakeoff.race.stages.stage import WARM_UP, fewer_of_long

if TYPE_CHECKING:
    from tests.race.conftest import Race

LONG = ("fake:step_ms=3000", "fake:step_ms=4000")


def test_few_long_steps_warm_up_and_are_waited_for(race: Race) -> None:
    """The fewest warm and fenced steps; as many turns as any, each two steps behind a lead-in."""
    for record in timed_of(race(*LONG, max_rounds=2)):
        assert len(record.warm_steps_ns) == WARM_UP.few
        assert [len(block.steps_ns) for block in record.blocks] == [2] * TURNS.usual
        assert [block.lead_steps for block in record.blocks] == [1] * TURNS.usual
        assert len(record.fenced_steps_ns) == FENCED.few


def test_a_round_of_shorter_steps_has_all(race: Race) -> None:
    """Of a tenth of a second they are what they were: 8 turns, 20 steps of warm-up, and 10 that are waited for."""
    for record in timed_of(race("fake:step_ms=100", "fake:step_ms=120", max_rounds=1)):
        assert len(record.warm_steps_ns) >= WARM_UP.fewest
        assert (len(record.blocks), len(record.fenced_steps_ns)) == (TURNS.usual, FENCED.steps)


def test_between_them_numbers_follow_the_time() -> None:
    """As many as ten seconds hold, in both parts."""
    assert [fewer_of_long(one, 10, 6) for one in (0.1, 1.0, 1.25, 2.0, 60.0)] == [10, 10, 8, 6, 6]
    assert [fewer_of_long(one, 10, 4) for one in (0.1, 1.0, 1.25, 3.0, 60.0)] == [10, 10, 8, 4, 4]
    assert round_steps(0.1) == round_steps(1.0) == 10 + 8 * 3 + 1 + 10
    assert round_steps(2.0) == 6 + 8 * 3 + 1 + 5
    assert round_steps(60.0) == 6 + 8 * 3 + 1 + 4


@pytest.mark.parametrize(("large", "losses"), [(math.inf, 6), (0, 4)])
def test_the_certificate_s_losses_are_read_and_repeated(
    race: Race, monkeypatch: pytest.MonkeyPatch, large: float, losses: int
) -> None:
    """All six of the trajectory, or four of large steps, and the two behind the saved state once more; all agree."""
    monkeypatch.setattr("bakeoff.spec.trial.LARGE_MACS", large)
    outcome = race(*LONG, max_rounds=1)
    assert all(one.certificate and one.certificate.passed for one in outcome.contenders)
    assert not any(one.reason for one in outcome.contenders)
    for record in timed_of(outcome):
        assert record.tie is not None
        assert len(record.tie.losses) == losses
        assert len(record.tie.from_saved) == len(record.tie.repeated) == 2


def test_long_steps_that_do_nothing_within_a_block_are_refused(race: Race, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is looked at step by step is right, and a block has two steps: what it has left tells."""
    monkeypatch.setattr(engine.Step, "run", skipping_what_is_not_waited_for())
    (only,) = race("fake:step_ms=4000", max_rounds=1).contenders
    assert only.status == "refused"
    assert "it does not do all of every step" in only.reason


def test_a_long_race_comes_to_its_verdict(race: Race) -> None:
    """By the same rule."""
    outcome = race(*LONG)
    assert outcome.ended == "decided"
    assert outcome.verdicts[0].verdict == "faster"
