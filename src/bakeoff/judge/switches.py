"""The switches that check a suspect: which option acts on which kinds of operations, and what to turn it to.

What a framework can turn stands in its framework.toml; what an option acts on stands here, because the options have the
same meaning in every framework.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, get_args

import msgspec

from bakeoff.environments.options import holds, supported
from bakeoff.spec.explained import OperationKind
from bakeoff.spec.options import OPTIONS, WORKER_OPTIONS

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from bakeoff.spec.contender import Contender
    from bakeoff.spec.framework import FrameworkInfo

KINDS: frozenset[OperationKind] = frozenset(get_args(OperationKind))

BETWEEN: frozenset[OperationKind] = frozenset(
    (
        "attention",
        "element-wise",
        "normalisation",
        "reduction",
        "data movement",
        "optimiser",
        "host dispatch",
        "idle",
        "other",
    )
)
"""What a compiler fuses or leaves out: everything around the operations that libraries compute. Attention is among it,
which is many operations wherever no kernel computes it: in TensorFlow always, in JAX on a processor."""


class Switch(msgspec.Struct, frozen=True, kw_only=True):
    """An option that acts on some kinds of operations."""

    option: str
    kinds: frozenset[OperationKind]
    better: tuple[str, ...] = ()
    """Values in the order in which they are tried: of these, only what stands before the value in force. Empty: it is
    turned to the other contender's value alone."""


SWITCHES: tuple[Switch, ...] = (
    Switch(option="optimizer_kernel", kinds=frozenset(("optimiser",)), better=("fused", "foreach", "default")),
    Switch(
        option="input",
        # On a processor a batch is copied as any array is, and what loads it is the framework's own code.
        kinds=frozenset(("input wait", "device copy", "data movement", "host dispatch")),
        better=("resident", "pipeline", "per-step"),
    ),
    Switch(
        option="lstm",
        # A cell of elementary operations is products and element-wise operations where no profile calls it recurrent.
        kinds=frozenset(("recurrent", "matrix product", "element-wise", "data movement", "host dispatch")),
        better=("fused", "block", "default", "cell"),
    ),
    Switch(
        option="lengths",
        # A processor's kernel for packed sequences is another one than for whole rows, with other copies around it.
        kinds=frozenset(("recurrent", "matrix product", "element-wise", "data movement", "host dispatch")),
        better=("packed", "masked"),
    ),
    Switch(
        option="attention",
        kinds=frozenset(("attention",)),
        better=("cudnn", "flash", "efficient", "default", "math"),
    ),
    # Which of the two is faster is the graph's matter, so that nobody ranks them.
    Switch(
        option="aggregate",
        kinds=frozenset(("matrix product", "element-wise", "reduction", "data movement")),
    ),
    # Turned, a convolution is a product of matrices and the copies of its patches: the sum over these three counts.
    Switch(
        option="convolution",
        kinds=frozenset(("convolution", "matrix product", "data movement")),
        better=("products", "xla"),
    ),
    Switch(
        option="conv_algorithm",
        kinds=frozenset(("convolution",)),
        better=("profiling", "heuristic", "default", "fixed"),
    ),
    Switch(
        option="layout",
        kinds=frozenset(("convolution", "normalisation", "reduction", "data movement")),
        better=("nhwc", "nchw"),
    ),
    Switch(option="compile_mode", kinds=frozenset(("host dispatch", "idle")), better=("reduce-overhead", "default")),
    Switch(option="mode", kinds=BETWEEN, better=("compiled", "graph", "eager")),
    Switch(option="graph_optimization", kinds=BETWEEN, better=("on", "off")),
    # oneDNN reorders into layouts of its own: where that costs more than it gains, steps are faster without it.
    Switch(
        option="onednn",
        kinds=frozenset(("convolution", "matrix product", "data movement", "recurrent")),
        better=("off", "default", "on"),
    ),
    Switch(option="precision", kinds=KINDS),
    Switch(option="threads", kinds=KINDS),
    Switch(option="denormals", kinds=KINDS),
    Switch(option="malloc", kinds=KINDS),
)
"""The most specific first: where several act on a row, the first that can be turned is."""

WITHOUT_EFFECT_ON_A_ROW = frozenset(OPTIONS.keys() | WORKER_OPTIONS.keys()) - {switch.option for switch in SWITCHES}
"""Options that every framework means alike and that are no switch: device, devices, sync, tier and others that change
what is compared."""

OF_CAUSES = {
    "denormals": "denormals",
    "page faults": "malloc",
    "waiting threads": "threads",
    "spinning threads": "threads",
}
"""The option that turns a cause which is no operation."""

TO = {"denormals": "flush", "malloc": "keep", "threads": "1"}
"""The value that it is turned to."""


def can_be(info: FrameworkInfo, options: Mapping[str, str], option: str, value: str) -> bool:
    """Return whether a contender with these options can have this value of an option in place of its own."""
    support = supported(info).get(option)
    if support is None or options.get(option) == value:
        return False
    if support.values and value not in support.values:
        return False
    turned = {**options, option: value}
    return not any(holds(one.when, turned) for one in info.refusals)


def turned_for(
    kind: OperationKind | None, info: FrameworkInfo, first: Contender, second: Contender, idle: Collection[str] = ()
) -> str:
    """Return the switch of the second contender, as OPTION=VALUE, that should make its rows of a kind smaller.

    First what the two contenders differ in, turned to the first's value; of two frameworks only what nobody ranks: a
    user has set that. Then the most specific option for that kind, to a value that ranks before the one in force, the
    first's before others: not of a layer, on which no option acts alone. Empty where there is none; `idle` names
    options that mean nothing to the model.
    """
    mine, theirs = second.options, first.options
    acting = [one for one in SWITCHES if (kind is None or kind in one.kinds) and one.option not in idle]
    is_same = first.framework == second.framework
    differing = [one.option for one in acting if is_same or not one.better]
    for option in (*differing, *(_own(info, mine, theirs) if is_same else ())):
        value = theirs.get(option, mine.get(option, ""))
        if can_be(info, mine, option, value):
            return f"{option}={value}"
    for switch in acting if kind is not None else ():
        better = _before(switch, mine)
        followed = [value for value in better if value == theirs.get(switch.option)]
        for value in (*followed, *better):
            if can_be(info, mine, switch.option, value):
                return f"{switch.option}={value}"
    return ""


def _own(info: FrameworkInfo, options: Mapping[str, str], other: Mapping[str, str]) -> list[str]:
    """Return the options of this framework alone in which two of its contenders differ: they may act on anything."""
    known = {switch.option for switch in SWITCHES} | WITHOUT_EFFECT_ON_A_ROW
    return [name for name in info.options if name not in known and name in other and options.get(name) != other[name]]


def _before(switch: Switch, options: Mapping[str, str]) -> tuple[str, ...]:
    """Return the values that are tried before the one in force; none where nobody ranks that one."""
    current = options.get(switch.option)
    return switch.better[: switch.better.index(current)] if current in switch.better else ()


def acts_on(switch: str) -> frozenset[OperationKind]:
    """Return the kinds of operations that a switch, as OPTION=VALUE, acts on; all where nobody knows."""
    option = switch.partition("=")[0]
    return next((one.kinds for one in SWITCHES if one.option == option), KINDS)


def control_for(
    info: FrameworkInfo, options: Mapping[str, str], idle: Sequence[str], taken: frozenset[str] = frozenset()
) -> str:
    """Return a switch that should not matter, as OPTION=VALUE; empty: the same contender once more is the control.

    `idle` names options that mean nothing to this model, and `taken` those that are suspects.
    """
    for option in idle:
        support = supported(info).get(option)
        if support is None or option in taken:
            continue
        for value in support.values:
            if can_be(info, options, option, value):
                return f"{option}={value}"
    return ""
