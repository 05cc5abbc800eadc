"""A device that works on after the call: clock, ping-pong and self-test on a scripted stream, and a wait that lies."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from bakeoff.environments.declared import framework
from bakeoff.frameworks.engine import Model
from bakeoff.frameworks.fake import engine
from bakeoff.measure.clock import Stepper, monotonic
from bakeoff.measure.selftest import TimerProbe
from bakeoff.spec.batch import labelled
from bakeoff.spec.optimizer import SGD
from bakeoff.spec.workload import Size
from bakeoff.stats.selftest import judge_timer

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.spec.selftest import TimerVerdict

STREAM = "fake:stream=device"
LIES = "fake:stream=device,fault=asynchronous"


@pytest.mark.usefixtures("home")
def test_a_stream_is_timed_as_the_same_work_without_one(race: Race) -> None:
    """In ping-pong on one device a step whose call returns early takes as long as one that is done when it returns.

    The self-test passes a wait that joins the stream, and refuses one that returns while its work is pending: what that
    leaves on the device is in nobody's timed part.
    """
    early, done, lies = race(STREAM, "fake", LIES, self_test=True, max_rounds=3).contenders
    assert [one.median_step_s for one in (early, done)] == [pytest.approx(1e-3, rel=1e-3)] * 2
    assert early.fenced_p50_s == pytest.approx(1e-3, rel=1e-3)
    assert early.timer is not None
    assert (early.status, early.timer.outcome, lies.status) == ("ranked", "passed", "refused")
    assert "fetching the result takes" in lies.reason


def test_the_first_step_is_waited_for(race: Race) -> None:
    """Where a call returns early, too, the first step has its result, and what it takes beyond a step is compiling."""
    early, done = race(f"{STREAM},first_ms=50", "fake:first_ms=50", max_rounds=2).contenders
    assert [one.first_step_s for one in (early, done)] == [pytest.approx(51e-3)] * 2
    assert early.compile_s == pytest.approx(50e-3)


@pytest.fixture
def real_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let time pass really."""
    monkeypatch.setattr(engine._time, "real", True)


def made(fault: str) -> Any:
    """Make a step of 3 ms on a thread."""
    declared = framework("fake").info.options
    options = {name: support.default for name, support in declared.items()}
    weights: dict[str, np.ndarray[Any, Any]] = {"weight": np.ones((4, 2))}
    model = Model(
        build=lambda *_: None,
        loss=None,
        size=Size(batch_size=2, input_shape=(4,), classes=2),
        optimizer=SGD(learning_rate=0.1),
        weights=weights,
    )
    step = engine.Step(
        model, options | {"clock": "real", "stream": "device", "step_ms": "3", "fault": fault, "first_ms": "0"}
    )
    return step, labelled(np.zeros((2, 4), np.float32), np.zeros(2, np.int32))


def verdict_on(fault: str) -> TimerVerdict:
    """Test the timer of a step on a thread."""
    step, batch = made(fault)
    probe = TimerProbe(Stepper(step, [batch]), monotonic, step.result, step.profiled)
    return judge_timer("mine", [probe.read(steps=4, pairs=8, profiled_steps=20, profiles=2)])


@pytest.mark.usefixtures("real_time")
def test_a_thread_is_waited_for() -> None:
    """A block on a thread lasts as long as its steps, though every call returns early; so does a fenced step."""
    step, batch = made("none")
    stepper = Stepper(step, [batch])
    dispatched_ns, elapsed_ns = stepper.streamed(10)
    assert dispatched_ns[-1] < 0.6 * elapsed_ns
    assert elapsed_ns >= 30e6
    assert min(stepper.fenced(3)) >= 3e6


@pytest.mark.usefixtures("real_time")
def test_the_self_test_tells_a_thread_that_is_joined_from_one_that_is_not() -> None:
    """In real time: no honest stream fails, and a wait that returns at once does."""
    assert verdict_on("none").outcome != "failed"
    lying = verdict_on("asynchronous")
    assert lying.outcome == "failed"
    assert "fetching" in lying.reason
