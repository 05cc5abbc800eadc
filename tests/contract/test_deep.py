"""What is drawn of the deep workloads: what a run may have, of which it has an eighth (tests/conftest.py)."""

from __future__ import annotations

import deep
import pytest
from contract_cases.cases import CASES
from contract_cases.mixed import MIXED, RECURRENT
from contract_run import CLIPPED, DECLARED, KNOWN, MODELS, PADDINGS, PUBLIC, WORKLOADS, is_deep
from deep import (
    BESIDE_WORKLOADS,
    CERTIFICATES,
    CLIPPED_ON_TWO,
    CLIPPING,
    COMPILED_ALONE,
    COMPILED_BY_NAME,
    CONTENDERS_OF_OPTIONS,
    IN_ALL_MODES,
    KERNEL_CASES,
    KERNEL_READ_BACK,
    NAMES,
    OF_AN_LSTM,
    OF_PUBLIC,
    ON_MANY_LENGTHS,
    ON_TWO_DEVICES,
    OTHER_WAYS,
    OWN_CLOCK,
    PADDED,
    PADDED_CASES,
    PEAKS,
    SHALLOW,
    SLOW,
    SMALL_CLIPPED,
    STATISTICS,
    SYNCED,
    VALUES_OF,
    drawn,
    drawn_beside,
    drawn_shallow,
    is_compiled_alone,
    is_drawn,
    of_depth,
    ways,
)
from several_devices import CLIPPED_WAYS, WAYS

from bakeoff.spec.contender import parse_contender

TURNS = 900
"""Runs in which each of the slow frameworks has all that one of them computes by turns."""


@pytest.mark.parametrize("framework", SLOW)
def test_all_workloads_are_drawn_in_time(framework: str) -> None:
    """The same sources draw the same workloads: of one slow framework a deep one, of each some shallow ones."""
    for found, deep_ones in ((drawn, True), (drawn_shallow, False)):
        draws = [found(framework, str(seed)) for seed in range(TURNS)]
        assert draws[7] == found(framework, "7") != set().union(*draws)
        assert set().union(*draws) == of_depth(WORKLOADS, deep=deep_ones)
    assert sum(len(drawn(one)) for one in SLOW) == 1
    assert SHALLOW * len(drawn_shallow(framework)) >= len(of_depth(WORKLOADS, deep=False))


def test_every_workload_may_be_certified_in_every_run() -> None:
    """Whatever is drawn here, two frameworks may certify all workloads in their default modes."""
    quick = [name for name in DECLARED if name not in SLOW]
    assert len(quick) >= 2
    for name in KNOWN.keys() - PUBLIC.keys():
        for framework in quick:
            mode = DECLARED[framework].info.options["mode"].default
            asked = {"framework": framework, "workload": name, "mode": mode}
            assert all(is_drawn(test, asked) for test in CERTIFICATES)


def test_in_other_modes_shallow_workloads_go_round() -> None:
    """In each mode one is certified, and its steps are repeated unless it is the mode's turn to wait; all are drawn."""
    shallow = of_depth(WORKLOADS, deep=False)
    draws = [drawn_beside("torch", "compiled", str(seed)) for seed in range(200)]
    assert set().union(*draws) == shallow
    assert {len(draw) for draw in draws} == {BESIDE_WORKLOADS}
    asked = {name: {"framework": "torch", "mode": "compiled", "workload": name} for name in shallow}
    certified, repeated = ({name for name in shallow if is_drawn(test, asked[name])} for test in IN_ALL_MODES)
    assert certified == drawn_beside("torch", "compiled")
    assert repeated == (certified if is_compiled_alone({"framework": "torch", "mode": "compiled"}) else set())


@pytest.mark.parametrize("framework", SLOW)
def test_a_slow_framework_repeats_the_steps_of_one_shallow_workload(framework: str) -> None:
    """Beside those of a deep one, and it is one of those that the framework certifies by the same draw."""
    shallow = of_depth(WORKLOADS, deep=False)
    certified, repeated = (
        {name for name in shallow if is_drawn(test, {"framework": framework, "workload": name})}
        for test in IN_ALL_MODES
    )
    assert repeated <= certified
    assert len(repeated) == is_compiled_alone({"framework": framework})


@pytest.mark.parametrize("framework", DECLARED)
def test_some_models_of_a_users_own_are_drawn(monkeypatch: pytest.MonkeyPatch, framework: str) -> None:
    """Each run has one for one of those whose compilers are slow, for others a few public ones; in time all."""
    among, count = (MODELS, 1) if framework in SLOW else (PUBLIC, OF_PUBLIC)
    seen: set[str] = set()
    for seed in range(TURNS):
        monkeypatch.setattr(deep, "sources", lambda seed=seed: str(seed))
        tried = {name for name in among if is_drawn(CERTIFICATES[1], {"framework": framework, "model": name})}
        assert len(tried) == (count if framework not in SLOW or drawn(framework, str(seed)) else 0)
        seen |= tried
    assert seen == set(among)


def test_what_is_asked_otherwise_was_certified() -> None:
    """A framework repeats the steps of deep workloads that the same draw has it certify."""
    asked = [{"framework": framework, "workload": name} for framework in DECLARED for name in KNOWN if is_deep(name)]
    left_out = [one for one in asked if not is_drawn("test_steps", one)]
    assert left_out
    assert all(is_drawn(CERTIFICATES[0], one) for one in asked if one not in left_out)


def test_one_value_is_tried_in_each_mode() -> None:
    """One value of an option is tried in each mode of each framework, and another run tries another one."""
    for name, declared in DECLARED.items():
        modes, values = declared.info.options["mode"], declared.info.options["denormals"].values
        for mode in modes.values:
            tried = [
                is_drawn(test, {"framework": name, "mode": mode, "value": value})
                for test in VALUES_OF
                for value in values
            ]
            assert sum(tried) == len(VALUES_OF)


JAX_WAYS = {way for way in WAYS if way[0] == "jax"}
NAMES_OF_A_WAY = ("framework", "sync", "statistics")


def test_ways_to_keep_devices_equal_and_kernels_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has one way and one kernel of an LSTM of each framework, with two cases; in time it has all."""
    recurrent = [name for name, case in CASES.items() if {"LSTM", "LSTMCell"} & {*case.names}]
    synced: set[tuple[str, str]] = set()
    joined: set[tuple[str, str, str]] = set()
    computed: set[tuple[str, str]] = set()
    for seed in range(60):
        monkeypatch.setattr(deep, "sources", lambda seed=seed: str(seed))
        clipped = {way for way in CLIPPED_WAYS if is_drawn(SYNCED, dict(zip(NAMES_OF_A_WAY, way, strict=False)))}
        assert len(clipped) == CLIPPED_ON_TWO
        certified = {way for way in JAX_WAYS if is_drawn(ON_TWO_DEVICES, dict(zip(NAMES_OF_A_WAY, way, strict=True)))}
        assert len(certified) == 1
        pairs = [(text, case) for text in RECURRENT for case in recurrent]
        cases = {(text, case) for text, case in pairs if is_drawn(OF_AN_LSTM, {"text": text, "case": case})}
        kernels = [text for text in RECURRENT if is_drawn(KERNEL_READ_BACK, {"text": text})]
        assert len(kernels) == len({parse_contender(text).framework for text in RECURRENT})
        assert {text for text, _ in cases} == set(kernels)
        assert len(cases) == KERNEL_CASES * len(kernels)
        synced, joined, computed = synced | clipped, joined | certified, computed | cases
    assert synced == set(CLIPPED_WAYS)
    assert joined == JAX_WAYS
    assert len(joined) == 4
    assert {text for text, _ in computed} == set(RECURRENT)
    assert {case for _, case in computed} == set(recurrent)


def test_ways_to_pad_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has two of all frameworks' ways with the cheap workload, and in time it has all of them."""
    every = {(framework, padding) for framework in DECLARED for padding in PADDINGS}
    seen: set[tuple[str, str]] = set()
    for seed in range(100):
        monkeypatch.setattr(deep, "sources", lambda seed=seed: str(seed))
        asked = {way: {"framework": way[0], "workload": PADDED, "padding": way[1]} for way in every}
        tried = {way for way in every if is_drawn(ON_MANY_LENGTHS, asked[way])}
        assert len(tried) == PADDED_CASES
        seen |= tried
    assert seen == every


def test_contenders_with_several_options_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has one of each framework, and of per-sample gradients some ways, with a small workload and another."""
    seen: set[str] = set()
    clipped: set[str] = set()
    default, *others = ways("torch")
    tried_ways: set[str] = set()
    for seed in range(60):
        monkeypatch.setattr(deep, "sources", lambda seed=seed: str(seed))
        tried = {text for text in MIXED if is_drawn(CONTENDERS_OF_OPTIONS[0], {"text": text})}
        assert len(tried) == len({parse_contender(text).framework for text in MIXED})
        asked = [{"contender": default, "workload": name} for name in CLIPPED]
        computed = {one["workload"] for one in asked if is_drawn(CLIPPING, one)}
        assert len(computed & set(SMALL_CLIPPED)) == len(computed - set(SMALL_CLIPPED)) == 1
        beside = {way for way in others for name in CLIPPED if is_drawn(CLIPPING, {"contender": way, "workload": name})}
        assert len(beside) == OTHER_WAYS
        seen, clipped, tried_ways = seen | tried, clipped | computed, tried_ways | beside
    assert seen == set(MIXED)
    assert clipped == set(CLIPPED)
    assert tried_ways == set(others)


def test_a_part_of_the_names_is_compiled_one_by_one() -> None:
    """Where each case compiles operators of its own, a part is drawn; everywhere else all are computed."""
    for framework in DECLARED:
        computed = [case for case in CASES if is_drawn(NAMES[0], {"framework": framework, "case": case})]
        assert len(computed) == len(CASES) // COMPILED_BY_NAME.get(framework, 1)
        keeping = [case for case in CASES if CASES[case].batch_statistics]
        kept = [case for case in keeping if is_drawn(STATISTICS, {"framework": framework, "case": case})]
        assert len(kept) == (1 if framework in COMPILED_BY_NAME else len(keeping))


def test_of_those_that_compile_alone_one_measures_its_peaks() -> None:
    """Every other framework and mode does, and asks its own clock."""
    modes = [(name, mode) for name, declared in DECLARED.items() for mode in declared.info.options["mode"].values]
    asked = [(name, mode) for name, mode in modes if is_drawn(PEAKS, {"framework": name, "mode": mode})]
    missing = {f"{name} {mode}" for name, mode in set(modes) - set(asked)}
    assert len(missing) == 1
    assert missing < set(COMPILED_ALONE) <= {f"{name} {mode}" for name, mode in modes}
    assert all(is_drawn(OWN_CLOCK, {"framework": name}) for name in DECLARED if name != "jittor")
