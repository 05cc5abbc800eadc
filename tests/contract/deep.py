"""Which deep workloads are computed by which framework in one run of the tests, where computing all takes minutes.

Shallow workloads are computed by all frameworks in every run, in their default modes; in other modes some are drawn.
Deep ones, whose compilers work for up to a minute each, are all certified in the frameworks that are quick with them;
of the others a part is drawn, in which there is always one that convolves, and one that does not: a recurrent one, or
one of attention.

In a mode that is not a framework's default one value of an option is drawn, where all are tried in the default one.

So it is with other tests that take a compiler's minutes: contenders with several options, per-sample gradients,
Jittor's operators one by one, steps after a restore.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from contract_cases.cases import CASES
from contract_cases.holes import HOLES
from contract_cases.mixed import MIXED
from contract_cases.optimizers import OPTIMIZERS
from contract_run import CLIPPED, DECLARED, KNOWN, MODELS, MODES, WORKLOADS, is_deep
from tests.drawn import first, sources

from bakeoff.spec.contender import parse_contender
from bakeoff.workloads import plan

CERTIFIED = {"tensorflow": 2, "jax": 1, "jittor": 1}
"""How many of each kind are drawn for certificates. Torch and MLX take a second or two for each, and compute all."""

OTHERWISE = 1
"""How many of each kind, among those for certificates, are asked for anything else, in every framework."""

BESIDE = 3
"""How many kinds of optimiser are tried in a mode that is not a framework's default; in that one all are."""

WHOLE = 5
"""How many workloads are held at full size against their independent implementation; at a small one all are."""

CONVOLVING, OTHERS = 1, 2
"""How many shallow workloads of each kind are computed in a mode that is not a framework's default."""

CERTIFICATES = ("test_every_framework_computes_the_same", "test_a_model_of_a_users_own_gets_its_certificate")
"""The tests that certify workloads."""

IN_ALL_MODES = (CERTIFICATES[0], "test_steps_after_a_restore_are_the_same_steps")
"""The tests that compute workloads in each mode."""

AT_FULL_SIZE = "test_a_workload_computes_what_it_is_called"
"""The test that holds what a workload computes at full size against its independent implementation."""

COMPILED_ANEW = "test_compiled_code_is_given_back_to_its_layers"
"""Two compilations without their caches, a minute each in torch: with all tests, or where it is named."""

GRAPHS = "test_a_compiler_tells_its_graph_before_and_after"
"""In torch it takes Inductor a minute, likewise; other modes and frameworks are quick."""

PLANTED_IN_A_LAYER = "test_a_cause_that_is_planted_in_a_layer_is_row_one"
PLANTS = ("sleep", "float64", "transposed")
"""Causes that are planted in a layer, two processes each: one is drawn for each framework."""

CLIPPING = "test_per_sample_gradients_are_those_of_a_loop_over_samples"
"""The test of per-sample gradients. Every contender computes the two small workloads, and one of the others."""

SMALL_CLIPPED = ("mnist-cnn", "imdb-embed")

CONTENDERS_OF_OPTIONS = ("test_every_option_computes_the_same", "test_every_option_is_read_back")
"""Tests of contenders with several options each, a process and its compiler's work for each: one a framework."""

NAMES = ("test_outputs", "test_loss_and_gradients")
"""The tests of each name of the vocabulary: all of them but where each one's operators are compiled for seconds."""

COMPILED_BY_NAME = {"jittor": 2}
"""For such a framework, one case in so many is drawn."""

SYNCED = "test_jax_clips_each_devices_samples_and_adds_noise_once"
"""The test of per-sample gradients on two devices, half a minute for each way to keep them equal: one is drawn."""

VALUES_OF = dict.fromkeys(
    ("test_what_is_asked_is_in_force_in_all_threads", "test_the_certificate_passes_with_every_value"), "denormals"
)
"""Tests of each value of an option in each mode: a process each, and in torch Inductor for some 20 s."""


def kinds(names: Iterable[str] = WORKLOADS) -> tuple[set[str], set[str]]:
    """Return the deep ones among workloads that mostly convolve, and the others."""
    deep = {name for name in names if is_deep(name)}
    convolving = {name for name in deep if _is_convolving(name)}
    return convolving, deep - convolving


def drawn(framework: str, count: int, seed: str | None = None, names: Iterable[str] = WORKLOADS) -> set[str]:
    """Return the deep ones among workloads that a framework computes: so many of each kind, drawn by the seed.

    What it refuses as a known hole is done at once, and stands for nothing.
    """
    holes = {work.partition("/")[0] for work in HOLES.get(framework, ())} & set(names)
    seed = f"{seed or sources()} {framework}"
    return holes.union(*(first(kind - holes, count, seed) for kind in kinds(names)))


def drawn_beside(framework: str, mode: str, seed: str | None = None) -> set[str]:
    """Return the shallow workloads that a framework computes in a mode that is not its default."""
    shallow = [name for name in WORKLOADS if not is_deep(name)]
    convolving = {name for name in shallow if _is_convolving(name)}
    seed = f"{seed or sources()} {framework} {mode}"
    return first(convolving, CONVOLVING, seed) | first(set(shallow) - convolving, OTHERS, seed)


def is_drawn(test: str, asked: Mapping[str, Any]) -> bool:
    """Return whether a test is a part of this run, by its name and parameters."""
    framework, workload = asked.get("framework"), asked.get("workload", asked.get("model"))
    if test in DRAWN_BY_TEST:
        return DRAWN_BY_TEST[test](asked)
    if framework not in DECLARED or workload not in KNOWN:
        return True
    if not is_deep(workload):
        default = DECLARED[framework].info.options["mode"].default
        mode = asked.get("mode", default)
        is_certified_in_all = test == CERTIFICATES[0] and mode == default
        return test not in IN_ALL_MODES or is_certified_in_all or workload in drawn_beside(framework, mode)
    count = CERTIFIED.get(framework, len(KNOWN)) if test in CERTIFICATES else OTHERWISE
    return workload in drawn(framework, count, names=WORKLOADS if workload in WORKLOADS else MODELS)


def _is_updated(asked: Mapping[str, Any]) -> bool:
    """Return whether a kind of optimiser is tried in a mode: in the default one all are."""
    framework, mode = asked["framework"], asked["mode"]
    is_default = mode == DECLARED[framework].info.options["mode"].default
    return is_default or asked["name"] in first(OPTIMIZERS, BESIDE, f"{sources()} {framework} {mode}")


def _is_at_full_size(asked: Mapping[str, Any]) -> bool:
    """Return whether a workload is held at full size against its independent implementation."""
    return asked["name"] in first(WORKLOADS, WHOLE, sources())


def _is_a_value(test: str, asked: Mapping[str, Any]) -> bool:
    """Return whether a value of an option is tried in a mode: in the default one all are."""
    framework, option = asked["framework"], DECLARED[asked["framework"]].info.options[VALUES_OF[test]]
    is_default = asked["mode"] == DECLARED[framework].info.options["mode"].default
    return is_default or asked["value"] in first(option.values, 1, f"{sources()} {framework}")


def _is_clipped(asked: Mapping[str, Any]) -> bool:
    """Return whether a contender's per-sample gradients of a workload are computed in this run."""
    others = set(CLIPPED) - set(SMALL_CLIPPED)
    return asked["workload"] in {*SMALL_CLIPPED, *first(others, 1, f"{sources()} {asked['contender']}")}


def _is_chosen(asked: Mapping[str, Any]) -> bool:
    """Return whether a contender with several options is the one of its framework."""
    framework = parse_contender(asked["text"]).framework
    alike = [text for text in MIXED if parse_contender(text).framework == framework]
    return asked["text"] in first(alike, 1, sources()) or asked["text"] not in MIXED


def _is_named(asked: Mapping[str, Any]) -> bool:
    """Return whether a framework computes a case of the vocabulary in this run."""
    parts = COMPILED_BY_NAME.get(asked["framework"], 1)
    return asked["case"] in first(CASES, len(CASES) // parts, f"{sources()} {asked['framework']}")


def _is_synced(asked: Mapping[str, Any]) -> bool:
    """Return whether a way to keep devices equal is tried with per-sample gradients."""
    return asked["sync"] in first(DECLARED["jax"].info.syncs, 1, sources())


DRAWN_BY_TEST: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "test_optimizer_computes_its_formula": _is_updated,
    AT_FULL_SIZE: _is_at_full_size,
    **{test: partial(_is_a_value, test) for test in VALUES_OF},
    CLIPPING: _is_clipped,
    SYNCED: _is_synced,
    **dict.fromkeys(CONTENDERS_OF_OPTIONS, _is_chosen),
    **dict.fromkeys(NAMES, _is_named),
    COMPILED_ANEW: lambda _: False,
    GRAPHS: lambda asked: (asked["framework"], asked["mode"]) != ("torch", "compiled"),
    PLANTED_IN_A_LAYER: lambda asked: asked["plant"] in first(PLANTS, 1, f"{sources()} {asked['framework']}"),
}
"""For each of these tests, whether one of its cases is a part of this run."""


def words() -> str:
    """Return what was drawn for certificates."""
    parts = [f"{name}: {', '.join(sorted(drawn(name, count)))}" for name, count in CERTIFIED.items()]
    for name, mode in MODES:
        if mode != DECLARED[name].info.options["mode"].default:
            parts.append(f"{name} {mode}, of the shallow ones: {', '.join(sorted(drawn_beside(name, mode)))}")
    return "; ".join(parts)


def _is_convolving(workload: str) -> bool:
    """Return whether more of a workload's arrays are kernels over maps than are matrices."""
    loaded = KNOWN[workload]
    axes = [len(array.shape) for array in plan.parameters(loaded.build, loaded.size("reduced")).values()]
    return axes.count(4) > axes.count(2)
