"""What every framework does with denormal numbers: by itself, and as the option `denormals` says."""

from __future__ import annotations

import pytest
from certified import certificate_of
from contract_run import DECLARED, LIMIT_S, computed_by

from bakeoff.environments.options import resolve_options
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import UsageError
from bakeoff.spec.options import OPTIONS

pytestmark = pytest.mark.timeout(2 * LIMIT_S)  # the reference, too

BY_ITSELF = {"torch": "kept", "mlx": "kept", "jax": "flushed", "tensorflow": "flushed"}
"""In Jittor it hangs on which thread has loaded its operators."""

THREADS = "2"
"""A pool has to have been made, with a thread that is not the first."""

VALUES = [
    (name, mode, value)
    for name, declared in DECLARED.items()
    for mode in declared.info.options["mode"].values
    for value in declared.info.options["denormals"].values
]


def text(framework: str, mode: str, value: str) -> str:
    """Return a contender as its user writes it."""
    threads = "" if DECLARED[framework].info.options["threads"].values else f",threads={THREADS}"
    return f"{framework}:mode={mode},denormals={value}{threads}"


@pytest.mark.parametrize(("framework", "mode", "value"), VALUES)
@pytest.mark.by_turns
def test_what_is_asked_is_in_force_in_all_threads(framework: str, mode: str, value: str) -> None:
    """After training steps a multiplication of large arrays keeps all denormal products, or none, as was asked."""
    found = computed_by(text(framework, mode, value)).settings("mlp-mnist", "train")["denormals"]
    expected = {"keep": "kept", "flush": "flushed"}.get(value) or BY_ITSELF.get(framework)
    assert found == expected or (expected is None and found in ("kept", "flushed", "mixed"))


@pytest.mark.parametrize(("framework", "mode", "value"), [one for one in VALUES if one[2] != "framework"])
@pytest.mark.by_turns
def test_the_certificate_passes_with_every_value(framework: str, mode: str, value: str) -> None:
    """A framework that keeps denormal numbers, or flushes them, computes the same to what is allowed."""
    chosen = computed_by(text(framework, mode, value))
    certificate = certificate_of(chosen.exhibit(framework, "mlp-mnist", "train"), "mlp-mnist", "train")
    assert certificate.passed, certificate.reason


@pytest.mark.parametrize("framework", DECLARED)
def test_what_a_framework_cannot_do_it_refuses(framework: str) -> None:
    """A value that a framework lacks is refused before a process starts, with the reason."""
    info = DECLARED[framework].info
    for value in OPTIONS["denormals"].values:
        if value not in info.options["denormals"].values:
            with pytest.raises(UsageError, match=r"denormals=\w+; possible: framework, flush \(.+\)"):
                resolve_options(info, parse_contender(f"{framework}:denormals={value}"), {}, 2)
