"""What is drawn of the deep workloads for a run of the tests."""

from __future__ import annotations

import deep
import pytest
from contract_cases.cases import CASES
from contract_cases.mixed import MIXED
from contract_run import CLIPPED, DECLARED, KNOWN, WORKLOADS, is_deep
from deep import (
    CERTIFICATES,
    CERTIFIED,
    CLIPPING,
    COMPILED_BY_NAME,
    CONTENDERS_OF_OPTIONS,
    IN_ALL_MODES,
    NAMES,
    SMALL_CLIPPED,
    VALUES_OF,
    drawn,
    drawn_beside,
    is_drawn,
    kinds,
)

from bakeoff.spec.contender import parse_contender


@pytest.mark.parametrize("framework", CERTIFIED)
def test_every_draw_has_both_kinds_and_all_are_drawn_in_time(framework: str) -> None:
    """The same sources draw the same workloads, one that convolves and one that does not; changes go round all."""
    draws = [drawn(framework, 1, str(seed)) for seed in range(200)]
    assert draws[7] == drawn(framework, 1, "7") != set().union(*draws)
    assert all(draw & kind for draw in draws for kind in kinds())
    assert set().union(*draws) == {name for name in WORKLOADS if is_deep(name)}


def test_shallow_workloads_are_never_left_out() -> None:
    """What compiles quickly is tried in every run, and every deep workload is certified by a framework at least."""
    shallow = [name for name in KNOWN if not is_deep(name)]
    modes = {name: declared.info.options["mode"].default for name, declared in DECLARED.items()}
    assert all(
        is_drawn(test, {"framework": framework, "workload": name, "mode": mode})
        for test in ("any", CERTIFICATES[0])
        for framework, mode in modes.items()
        for name in shallow
    )
    for name in KNOWN:
        assert any(is_drawn(CERTIFICATES[0], {"framework": framework, "workload": name}) for framework in DECLARED)


def test_in_other_modes_shallow_workloads_go_round() -> None:
    """Every draw has one that convolves and one that does not, the same for all tests, and all are drawn in time."""
    shallow = {name for name in WORKLOADS if not is_deep(name)}
    draws = [drawn_beside("torch", "compiled", str(seed)) for seed in range(200)]
    assert set().union(*draws) == shallow
    assert all(draw & {"cnn-apx", "cnn-cifar10"} and draw - {"cnn-apx", "cnn-cifar10"} for draw in draws)
    asked = {name: {"framework": "torch", "mode": "compiled", "workload": name} for name in shallow}
    for test in IN_ALL_MODES:
        assert {name for name in shallow if is_drawn(test, asked[name])} == drawn_beside("torch", "compiled")


def test_what_is_asked_otherwise_was_certified() -> None:
    """A framework repeats the steps of deep workloads that it gets certificates for in the same run."""
    asked = [{"framework": framework, "workload": name} for framework in DECLARED for name in KNOWN if is_deep(name)]
    left_out = [one for one in asked if not is_drawn("test_steps", one)]
    assert left_out
    assert all(is_drawn(CERTIFICATES[0], one) for one in asked if one not in left_out)


def test_one_value_is_tried_in_a_mode_that_is_not_the_default() -> None:
    """Each value of an option is tried in each framework's default mode, and one of them in every other mode."""
    for name, declared in DECLARED.items():
        modes, values = declared.info.options["mode"], declared.info.options["denormals"].values
        for mode in modes.values:
            tried = [
                is_drawn(test, {"framework": name, "mode": mode, "value": value})
                for test in VALUES_OF
                for value in values
            ]
            expected = len(values) if mode == modes.default else 1
            assert sum(tried) == len(VALUES_OF) * expected


def test_contenders_with_several_options_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each run has one of each framework, and the small workloads of per-sample gradients with one of the others."""
    seen: set[str] = set()
    clipped: set[str] = set()
    for seed in range(60):
        monkeypatch.setattr(deep, "sources", lambda seed=seed: str(seed))
        tried = {text for text in MIXED if is_drawn(CONTENDERS_OF_OPTIONS[0], {"text": text})}
        assert len(tried) == len({parse_contender(text).framework for text in MIXED})
        asked = [{"contender": "torch:per_sample=vmap", "workload": name} for name in CLIPPED]
        computed = {one["workload"] for one in asked if is_drawn(CLIPPING, one)}
        assert computed > set(SMALL_CLIPPED)
        assert len(computed) == len(SMALL_CLIPPED) + 1
        seen, clipped = seen | tried, clipped | computed
    assert seen == set(MIXED)
    assert clipped == set(CLIPPED)


def test_half_of_the_names_are_compiled_one_by_one() -> None:
    """Where each case compiles operators of its own, half are drawn; everywhere else all are computed."""
    for framework in DECLARED:
        computed = [case for case in CASES if is_drawn(NAMES[0], {"framework": framework, "case": case})]
        assert len(computed) == len(CASES) // COMPILED_BY_NAME.get(framework, 1)
