"""Which options mean something to a model, by what it calls, and the plans with what follows from that."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from bakeoff.environments.declared import framework
from bakeoff.spec.scenario import SCENARIOS
from bakeoff.workloads import plan
from bakeoff.workloads.calls import calls_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bakeoff.spec.comparison import ContenderPlan
    from bakeoff.spec.scenario import Scenario
    from bakeoff.spec.workload import Size
    from bakeoff.workloads.calls import Calls
    from bakeoff.workloads.load import LoadedWorkload

NEEDS = {
    "lstm": ({"LSTM", "LSTMCell"}, "no LSTM"),
    "attention": ({"attention"}, "no nn.attention"),
    "aggregate": ({"sparse_matmul"}, "no nn.sparse_matmul"),
    "conv_algorithm": ({"Conv1d", "Conv2d", "ConvTranspose2d"}, "no convolution"),
    "convolution": ({"Conv1d", "Conv2d", "ConvTranspose2d"}, "no convolution"),
    "lengths": ({"lengths"}, "no recurrent layer with lengths"),
    "variance": ({"BatchNorm", "LayerNorm", "GroupNorm", "ChannelNorm"}, "no normalisation that takes a variance here"),
    "batch_norm": ({"BatchNorm"}, "no BatchNorm that takes a batch's statistics"),
}
"""Options of one kind of layer, function or argument, which means something only to a model that calls one of these."""


def idle_options(loaded: LoadedWorkload, size: Size, scenario: Scenario) -> list[str]:
    """Return the options that mean nothing to a model, because it calls nothing of their kind."""
    kinds = kinds_of(calls_of(loaded.build, size, trains=SCENARIOS[scenario].trains), scenario)
    return [option for option, (needed, _) in NEEDS.items() if not needed & kinds]


def kinds_of(calls: Calls, scenario: Scenario) -> frozenset[str]:
    """Return what a model calls whose kind an option is for; BatchNorm takes a batch's statistics where it trains."""
    return calls.kinds if SCENARIOS[scenario].trains else calls.kinds - {"BatchNorm"}


def with_more_exact(
    plans: Sequence[ContenderPlan], loaded: LoadedWorkload, size: Size, scenario: Scenario
) -> list[ContenderPlan]:
    """Return the plans with the settings that lose fewer digits than theirs in what this model calls."""
    options = [framework(plan.contender.framework).info.options for plan in plans]
    exact = [{name: one.exact for name, one in each.items() if one.exact} for each in options]
    idle = idle_options(loaded, size, scenario) if any(exact) else []
    others = [
        [
            f"{name}={value}"
            for name, value in each.items()
            if name not in idle and plan.contender.options[name] != value
        ]
        for plan, each in zip(plans, exact, strict=True)
    ]
    return [msgspec.structs.replace(plan, more_exact=tuple(each)) for plan, each in zip(plans, others, strict=True)]


def with_own_layers(reference: ContenderPlan, loaded: LoadedWorkload, size: Size, scenario: Scenario) -> ContenderPlan:
    """Return the reference with the layers of this model that it computes by code of its own."""
    least = framework(reference.contender.framework).info.reference_layers_from
    is_plain = SCENARIOS[scenario].trains and not SCENARIOS[scenario].per_sample
    if not least or not is_plain or reference.contender.on_cuda:
        return reference
    return msgspec.structs.replace(reference, own_layers=plan.as_wide(loaded.build, size, least))
