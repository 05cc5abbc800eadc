"""An acceptance with a check in every state."""

from __future__ import annotations

import pytest

from bakeoff.spec.acceptance import Acceptance, AcceptanceOutcome, CheckResult, State


def check(key: str, title: str, expected: str, state: State, found: str, took_s: float | None) -> CheckResult:
    """Make a check."""
    return CheckResult(key=key, title=title, expected=expected, most_s=60.0, state=state, found=found, took_s=took_s)


@pytest.fixture
def accepted() -> AcceptanceOutcome:
    """Return an acceptance of two frameworks on a GPU, cut short by its time."""
    refused = "jax, seed 3: gradients: largest error in gradient/head.bias: 4.0e-04 (allowed 8e-05)"
    checks = [
        check("devices", "devices", "each environment works and has the device", "passed", "torch (torch 2.13.0)", 6.2),
        check(
            "certificates-vit-b16", "same work: vit-b16", "pass at 5 seeds", "failed", f"1 refused: {refused}", 301.0
        ),
        check(
            "tf32-torch", "TF32: torch", "takes less time than float32", "not applicable", "compute capability 7.5", 0
        ),
        check(
            "ping-pong", "ping-pong against alone", "as long as alone", "inconclusive", "torch 1.01 [0.97, 1.04]", 99.5
        ),
        check("max-batch", "largest batch", "found for all, under one limit", "not reached", "", None),
    ]
    acceptance = Acceptance(
        id="acceptance-cuda-4f2a",
        created_at="2026-11-22T17:00:00Z",
        bakeoff="0.1.0",
        contenders=("torch", "jax"),
        excluded={"tensorflow": "not installed here"},
        device="cuda",
        size="full",
        machine={"processor": "AMD EPYC", "cores": 8, "usable_cores": 8, "gpu": "NVIDIA T4", "gpu_driver": "580.95.05"},
        command="bakeoff acceptance torch jax tensorflow --device cuda",
        checks=checks,
    )
    return AcceptanceOutcome(acceptance=acceptance, path="results/acceptance-cuda-4f2a")
