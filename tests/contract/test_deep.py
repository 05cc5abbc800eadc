"""What is drawn of the deep workloads for a run of the tests."""

from __future__ import annotations

import pytest
from contract_run import DECLARED, KNOWN, WORKLOADS, is_deep
from deep import CERTIFICATES, CERTIFIED, VALUES_OF, drawn, is_drawn, kinds


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
    assert all(
        is_drawn("any", {"framework": framework, "workload": name}) for framework in DECLARED for name in shallow
    )
    for name in KNOWN:
        assert any(is_drawn(CERTIFICATES[0], {"framework": framework, "workload": name}) for framework in DECLARED)


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
