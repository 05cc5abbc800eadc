"""The second stage of rl-venv-ppo, whose networks are an MLP each and constants that nothing trains."""

from __future__ import annotations

import msgspec

from bakeoff.workloads.rl_venv_ppo import WORKLOAD as BOTH
from bakeoff.workloads.rl_venv_ppo import build, data, loss, metric

__all__ = ["WORKLOAD", "build", "data", "loss", "metric"]

WORKLOAD = msgspec.structs.replace(
    BOTH, name="rl-policy", sizes={"full": BOTH.sizes["policy-reduced"], "reduced": BOTH.sizes["policy-reduced"]}
)
