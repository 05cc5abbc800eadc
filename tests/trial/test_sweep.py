"""From events to shares: every instant of a step is somebody's, and counted once."""

from __future__ import annotations

import pytest

from bakeoff.frameworks.tracing import Event, Trace
from bakeoff.spec.explained import Share
from bakeoff.trial.sweep import Key, shares, swept, typical

CONVOLUTION, PRODUCT = Key("convolution", "forward", "first"), Key("matrix product", "backward", "second")


def event(start: float, end: float, key: Key = CONVOLUTION, thread: str = "main", **more: object) -> Event:
    """Give an event of a key."""
    return Event(thread, start, end, key.kind, key.kind, key.phase, key.layer, key.function, **more)  # type: ignore[arg-type]


def spent(events: list[Event], threads: int = 1, length: float = 100.0) -> dict[Key, float]:
    """Give what one step spends."""
    (step,) = swept(Trace(steps=[(0.0, length)], events=events), threads)
    assert sum(amount.ns for amount in step.amounts.values()) == pytest.approx(length)
    return {key: amount.ns for key, amount in step.amounts.items() if amount.ns}


def test_an_instant_belongs_to_the_innermost_event_and_the_rest_is_idle() -> None:
    """An operator that calls another one spends only its own time."""
    found = spent([event(10, 50), event(20, 30, PRODUCT)])
    assert found == {CONVOLUTION: 30, PRODUCT: 10, Key("idle"): 60}


def test_events_that_begin_at_once_nest_by_their_length() -> None:
    """The shorter one is the inner one, in whatever order the profiler names them."""
    for events in ([event(0, 50), event(0, 20, PRODUCT)], [event(0, 20, PRODUCT), event(0, 50)]):
        assert spent(events) == {CONVOLUTION: 30, PRODUCT: 20, Key("idle"): 50}


def test_threads_at_work_share_an_instant_and_dispatch_counts_only_alone() -> None:
    """Two operations at once have half of it each; the host's own code beside an operation costs nothing."""
    dispatch = Key("host dispatch")
    found = spent([event(0, 40), event(0, 40, PRODUCT, "pool"), event(0, 60, dispatch, "host")], threads=2)
    assert found == {CONVOLUTION: 20, PRODUCT: 20, dispatch: 20, Key("idle"): 40}


def test_a_layer_in_host_code_has_the_instant_before_the_thread_that_waits_for_it() -> None:
    """A graph's call back into Python, on a thread of the pool, is the layer's, and not half of it no layer's."""
    called_back = Key("host dispatch", "", "first")
    found = spent([event(0, 60, Key("host dispatch"), "host"), event(10, 50, called_back, "pool")], threads=2)
    assert found == {Key("host dispatch"): 20, called_back: 40, Key("idle"): 40}


def test_host_dispatch_and_idle_have_no_phase() -> None:
    """Some profiles tell theirs and others do not: rows of two frameworks would not meet."""
    found = spent([event(0, 40, Key("host dispatch", "forward")), event(40, 70, Key("idle", "backward"))])
    assert found == {Key("host dispatch"): 40, Key("idle"): 60}


def test_a_collective_has_no_layer_and_no_phase() -> None:
    """It takes the gradients of many layers, and frameworks start it in other phases: there is one row of it."""
    started = event(0, 40, Key("communication", "backward", "first"))
    found = spent([started, event(40, 60, Key("communication", "forward"), "pool")])
    assert found == {Key("communication"): 60, Key("idle"): 40}


def test_work_that_ends_after_its_event_is_not_idle() -> None:
    """XLA's convolutions: the event covers a tenth of them, and the rest runs beside what follows, on free threads."""
    launched = event(0, 5, done_ns=80.0)
    assert spent([launched], threads=2) == {CONVOLUTION: 80, Key("idle"): 20}
    beside = spent([launched, event(5, 45, PRODUCT)], threads=2)
    assert beside == {CONVOLUTION: 5 + 20 + 35, PRODUCT: 20, Key("idle"): 20}
    no_thread_left = spent([launched, event(5, 45, PRODUCT)], threads=1)
    assert no_thread_left == {CONVOLUTION: 5 + 35, PRODUCT: 40, Key("idle"): 20}


def test_what_begins_before_a_step_counts_within_it_alone() -> None:
    """Events that reach over a step's ends are cut there, and launched in the step that they begin in."""
    steps = swept(Trace(steps=[(0, 10), (20, 30)], events=[event(5, 25), event(22, 22)]), 1)
    assert [step.amounts[CONVOLUTION].ns for step in steps] == [5, 5]
    assert [step.amounts[CONVOLUTION].launches for step in steps] == [1, 1]
    assert [step.events for step in steps] == [1, 1]


def test_a_stalled_step_is_left_out() -> None:
    """Of eight steps the middle four count: the one that stalled for idle time explains nothing."""
    lengths = [100.0, 101.0, 102.0, 103.0, 104.0, 105.0, 106.0, 5000.0]
    begun = [sum(lengths[:index]) for index in range(len(lengths))]
    spans = [(start, start + length) for start, length in zip(begun, lengths, strict=True)]
    kept = typical(swept(Trace(steps=spans, events=[event(start, start + 90) for start in begun]), 1))
    assert sorted(step.length_ns for step in kept) == [102, 103, 104, 105]
    found = {share.kind: share for share in shares(kept)}
    assert found["convolution"].share == pytest.approx(360 / 414)
    assert found["idle"].share == pytest.approx(54 / 414)
    assert found["convolution"].launches == 1


def test_what_a_rule_has_placed_and_what_is_fused_is_counted_apart() -> None:
    """Both are parts of the share, not beside it."""
    events = [event(0, 20), event(20, 50, inferred="by its parameter"), event(50, 60, mixed=True)]
    (found, rest) = shares(swept(Trace(steps=[(0, 100)], events=events), 1))
    assert found == Share(
        kind="convolution", phase="forward", layer="first", share=0.6, launches=3, inferred=0.3, mixed=0.1
    )
    assert (rest.kind, rest.share) == ("idle", 0.4)


def test_no_time_has_no_shares() -> None:
    """Steps in which no time passes are divided among nothing."""
    assert shares(swept(Trace(steps=[(5, 5)], events=[]), 1)) == []


def test_waiting_for_a_batch_is_not_idle() -> None:
    """What the clock saw of it is taken from what is idle, and no more than that."""
    (step,) = swept(Trace(steps=[(0, 100)], events=[event(30, 100)]), 1)
    step.waited(20)
    assert (step.amounts[Key("input wait")].ns, step.amounts[Key("idle")].ns) == (20, 10)
    step.waited(20)
    assert (step.amounts[Key("input wait")].ns, step.amounts[Key("idle")].ns) == (30, 0)
