"""Which deep workloads are computed by which framework in one run of the tests, where computing all takes minutes.

All workloads may be computed by the frameworks that are quick with them, in their default modes. The others,
whose compilers work for up to a minute for a deep workload, may compute one of these and a part of the shallow ones; of
shallow ones alone, so may every framework in its other modes.

So it is with other tests that take a compiler's minutes: the vocabulary case by case, contenders with several options,
values of an option, per-sample gradients, several devices, steps after a restore.

Of all this a run has one case in eight (`of_this_run` in tests/conftest.py), and of a framework perhaps none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from contract_cases.cases import CASES
from contract_cases.mixed import MIXED, RECURRENT
from contract_cases.optimizers import OPTIMIZERS
from contract_run import CLIPPED, DECLARED, KNOWN, MODELS, PADDINGS, PUBLIC, WORKLOADS, is_deep
from several_devices import CLIPPED_WAYS, WAYS
from tests.drawn import first, sources

from bakeoff.spec.contender import parse_contender
from bakeoff.spec.per_sample import OPTION

SLOW = ("tensorflow", "jax", "jittor")
"""Of the deep workloads, and of the models of a user's own, one of these certifies one. Torch and MLX take a second or
two for each workload, and compute all."""

SHALLOW = 4
"""Of the shallow workloads those frameworks certify one in so many."""

BESIDE = 1
"""How many kinds of optimiser a slow framework tries, and every one in a mode that is not its default."""

WHOLE = 2
"""How many workloads are held at full size against their independent implementation; at a small one all are."""

OF_PUBLIC = 1
"""Public models that a quick framework certifies, beside all of the tests'; a slow one in its turn one of all."""

BESIDE_WORKLOADS = 1
"""How many shallow workloads are certified in a mode that is no framework's default."""

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

PEAKS = "test_products_and_sums_are_what_they_should_be"
OWN_CLOCK = "test_the_frameworks_own_clock_agrees"
"""Half a minute or more in torch's compiled mode, and in Jittor: of these two one is drawn; all others are quick.
So it is with the steps after a restore."""

COMPILED_ALONE = ("torch compiled", "jittor compiled")

PLANTED_IN_A_LAYER = "test_a_cause_that_is_planted_in_a_layer_is_row_one"
PLANTS = ("sleep", "float64", "transposed")
"""Causes that are planted in a layer, two processes each: one is drawn for each framework."""

CLIPPING = "test_per_sample_gradients_are_those_of_a_loop_over_samples"
"""The test of per-sample gradients. A framework's default way computes one of the two small workloads and one of the
others; of its other ways and modes one is tried, with one of the small ones."""

SMALL_CLIPPED = ("mnist-cnn", "imdb-embed")
OTHER_WAYS = 1

CONTENDERS_OF_OPTIONS = ("test_every_option_computes_the_same", "test_every_option_is_read_back")
"""Tests of contenders with several options each, a process and its compiler's work for each: one a framework."""

NAMES = ("test_outputs", "test_loss_and_gradients")
"""The tests of each name of the vocabulary: all of them but where each one's operators are compiled for seconds."""

STATISTICS = "test_running_statistics"
"""Of such a framework's cases with running statistics one is drawn; all of any other's."""

COMPILED_BY_NAME = {"jittor": 32, "jax": 18, "tensorflow": 12}
"""For such a framework, one case in so many is drawn."""

SYNCED = "test_each_device_clips_its_own_samples_and_noise_is_added_once"
ON_TWO_DEVICES = "test_two_devices_compute_what_the_reference_computes_of_their_shards"
"""Tests of several devices, up to half a minute for each way to keep them equal. Of the first, which has per-sample
gradients, some ways are drawn among all frameworks'; of the second one a framework, with its batch statistics."""

CLIPPED_ON_TWO = 2

ON_MANY_LENGTHS = "test_every_framework_computes_the_same_on_batches_of_many_lengths"
"""Batches of several shapes, which compilers see one by one: of the cheap workload some of all frameworks' ways to pad
are drawn; the other one is for all tests."""

PADDED, PADDED_CASES = "text-transformer", 1

OF_AN_LSTM = "test_every_kernel_of_an_lstm_computes_the_same"
KERNEL_READ_BACK = "test_every_kernel_of_an_lstm_is_read_back"
"""Of the kernels of an LSTM that are no framework's default one is drawn a framework, a process each."""

KERNEL_CASES = 1
"""How many cases of recurrent layers that kernel computes."""

VALUES_OF = dict.fromkeys(
    ("test_what_is_asked_is_in_force_in_all_threads", "test_the_certificate_passes_with_every_value"), "denormals"
)
"""Tests of each value of an option in each mode: a process each, and in torch Inductor for some 20 s."""


def of_depth(names: Iterable[str], *, deep: bool) -> set[str]:
    """Return the deep ones among workloads, or the others."""
    return {name for name in names if is_deep(name) == deep}


def drawn(framework: str, seed: str | None = None, names: Iterable[str] = WORKLOADS) -> set[str]:
    """Return the deep one among workloads that a framework computes, drawn by the seed; none where others are slow."""
    seed = seed or sources()
    return first(of_depth(names, deep=True), 1, f"{seed} {framework}") if _is_its_turn(framework, seed) else set()


def _is_its_turn(framework: str, seed: str) -> bool:
    """Return whether a framework is quick, or the slow one that is drawn by the seed."""
    return framework not in SLOW or framework in first(SLOW, 1, seed)


def drawn_shallow(framework: str, seed: str | None = None, names: Iterable[str] = WORKLOADS) -> set[str]:
    """Return the shallow workloads that a slow framework certifies in its default mode."""
    shallow = of_depth(names, deep=False)
    return first(shallow, -(-len(shallow) // SHALLOW), f"{seed or sources()} {framework}")


def drawn_beside(framework: str, mode: str, seed: str | None = None) -> set[str]:
    """Return the shallow workloads that a framework computes in a mode that is not its default."""
    return first(of_depth(WORKLOADS, deep=False), BESIDE_WORKLOADS, f"{seed or sources()} {framework} {mode}")


def ways(framework: str) -> list[str]:
    """Return contenders with each way to a framework's per-sample gradients, its default first, and each other mode."""
    options = DECLARED[framework].info.options
    default, mode = options[OPTION].default, options["mode"]
    return [
        *(f"{framework}:{OPTION}={way}" for way in sorted(options[OPTION].values, key=lambda way: way != default)),
        *(f"{framework}:mode={other},{OPTION}={default}" for other in mode.values if other != mode.default),
    ]


def is_drawn(test: str, asked: Mapping[str, Any]) -> bool:
    """Return whether a test is a part of this run, by its name and parameters."""
    framework, workload = asked.get("framework"), asked.get("workload", asked.get("model"))
    if test == IN_ALL_MODES[1] and not is_compiled_alone(asked):
        return False
    if test in DRAWN_BY_TEST or framework not in DECLARED or workload not in KNOWN:
        return test not in DRAWN_BY_TEST or DRAWN_BY_TEST[test](asked)
    if test == CERTIFICATES[1] and (framework in SLOW or workload in PUBLIC):
        among, count = (MODELS, 1) if framework in SLOW else (PUBLIC, OF_PUBLIC)
        return _is_its_turn(framework, sources()) and workload in first(among, count, f"{sources()} {framework}")
    alike = WORKLOADS if workload in WORKLOADS else MODELS
    if is_deep(workload):
        return (test in CERTIFICATES and framework not in SLOW) or workload in drawn(framework, names=alike)
    default = DECLARED[framework].info.options["mode"].default
    mode = asked.get("mode", default)
    if test in IN_ALL_MODES and mode != default:
        return workload in drawn_beside(framework, mode)
    is_slow = framework in SLOW and test in (*CERTIFICATES, *IN_ALL_MODES)
    certified = drawn_shallow(framework, names=alike)
    return not is_slow or workload in (_repeated(framework, certified) if test == IN_ALL_MODES[1] else certified)


def _repeated(framework: str, certified: Iterable[str]) -> set[str]:
    """Return the workload whose steps a slow framework repeats, of those that it certifies."""
    trained = [name for name in certified if "train" in KNOWN[name].workload.scenarios]
    return first(trained, 1, f"{sources()} {framework}")


def _is_updated(asked: Mapping[str, Any]) -> bool:
    """Return whether a kind of optimiser is tried in a mode: all are in the default one of a quick framework."""
    framework, mode = asked["framework"], asked["mode"]
    is_quick = framework not in SLOW and mode == DECLARED[framework].info.options["mode"].default
    return is_quick or asked["name"] in first(OPTIMIZERS, BESIDE, f"{sources()} {framework} {mode}")


def _is_at_full_size(asked: Mapping[str, Any]) -> bool:
    """Return whether a workload is held at full size against its independent implementation."""
    return asked["name"] in first(WORKLOADS | PUBLIC, WHOLE, sources())


def is_compiled_alone(asked: Mapping[str, Any]) -> bool:
    """Return whether a framework in a mode, or in its default one, is quick or is the one that is drawn."""
    default = DECLARED[asked["framework"]].info.options["mode"].default
    mine = f"{asked['framework']} {asked.get('mode', default)}"
    return mine not in COMPILED_ALONE or mine in first(COMPILED_ALONE, 1, sources())


def _is_a_value(test: str, asked: Mapping[str, Any]) -> bool:
    """Return whether a value of an option is tried in a mode."""
    option = DECLARED[asked["framework"]].info.options[VALUES_OF[test]]
    return asked["value"] in first(option.values, 1, f"{sources()} {asked['framework']} {asked['mode']}")


def _is_clipped(asked: Mapping[str, Any]) -> bool:
    """Return whether a contender's per-sample gradients of a workload are computed in this run."""
    contender, workload = asked["contender"], asked["workload"]
    framework = contender.partition(":")[0]
    default, *others = ways(framework)
    if contender != default and contender not in first(others, OTHER_WAYS, f"{sources()} {framework}"):
        return False
    seed = f"{sources()} {contender}"
    larger = first(set(CLIPPED) - set(SMALL_CLIPPED), 1, seed) if contender == default else set()
    return workload in first(SMALL_CLIPPED, 1, seed) | larger


def _is_chosen(asked: Mapping[str, Any]) -> bool:
    """Return whether a contender with several options is the one of its framework."""
    framework = parse_contender(asked["text"]).framework
    alike = [text for text in MIXED if parse_contender(text).framework == framework]
    return asked["text"] in first(alike, 1, sources()) or asked["text"] not in MIXED


def _is_named(asked: Mapping[str, Any]) -> bool:
    """Return whether a framework computes a case of the vocabulary in this run."""
    parts = COMPILED_BY_NAME.get(asked["framework"], 1)
    return asked["case"] in first(CASES, len(CASES) // parts, f"{sources()} {asked['framework']}")


def _is_clipped_on_two(asked: Mapping[str, Any]) -> bool:
    """Return whether per-sample gradients are computed on two devices in this way of a framework's."""
    every = [f"{framework} {sync}" for framework, sync in CLIPPED_WAYS]
    return f"{asked['framework']} {asked['sync']}" in first(every, CLIPPED_ON_TWO, sources())


def _is_padded(asked: Mapping[str, Any]) -> bool:
    """Return whether a framework computes batches that are padded in this way."""
    every = [f"{framework} {padding}" for framework in DECLARED for padding in PADDINGS]
    mine = f"{asked['framework']} {asked['padding']}"
    return asked["workload"] == PADDED and mine in first(every, PADDED_CASES, sources())


def _keeps_statistics(asked: Mapping[str, Any]) -> bool:
    """Return whether a framework computes the running statistics of a case in this run."""
    keeping = [name for name, case in CASES.items() if case.batch_statistics]
    drawn_one = first(keeping, 1, f"{sources()} {asked['framework']}")
    return asked["framework"] not in COMPILED_BY_NAME or asked["case"] in drawn_one


def _is_synced(asked: Mapping[str, Any]) -> bool:
    """Return whether a way to keep a framework's devices equal is tried with these batch statistics."""
    framework = asked["framework"]
    mine = [f"{sync} {statistics}" for name, sync, statistics in WAYS if name == framework]
    return f"{asked['sync']} {asked['statistics']}" in first(mine, 1, f"{sources()} {framework}")


def _is_a_kernel(asked: Mapping[str, Any]) -> bool:
    """Return whether a kernel of an LSTM is the one of its framework."""
    framework = parse_contender(asked["text"]).framework
    alike = [text for text in RECURRENT if parse_contender(text).framework == framework]
    return asked["text"] in first(alike, 1, sources())


def _is_a_kernels_case(asked: Mapping[str, Any]) -> bool:
    """Return whether a kernel of an LSTM computes a case."""
    if not _is_a_kernel(asked):
        return False
    recurrent = [name for name, case in CASES.items() if {"LSTM", "LSTMCell"} & {*case.names}]
    return asked["case"] in first(recurrent, KERNEL_CASES, f"{sources()} {asked['text']}")


DRAWN_BY_TEST: dict[str, Callable[[Mapping[str, Any]], bool]] = {
    "test_optimizer_computes_its_formula": _is_updated,
    AT_FULL_SIZE: _is_at_full_size,
    **{test: partial(_is_a_value, test) for test in VALUES_OF},
    CLIPPING: _is_clipped,
    SYNCED: _is_clipped_on_two,
    ON_TWO_DEVICES: _is_synced,
    ON_MANY_LENGTHS: _is_padded,
    OF_AN_LSTM: _is_a_kernels_case,
    KERNEL_READ_BACK: _is_a_kernel,
    **dict.fromkeys(CONTENDERS_OF_OPTIONS, _is_chosen),
    **dict.fromkeys(NAMES, _is_named),
    STATISTICS: _keeps_statistics,
    **dict.fromkeys((PEAKS, OWN_CLOCK), is_compiled_alone),
    COMPILED_ANEW: lambda _: False,
    GRAPHS: lambda asked: (asked["framework"], asked["mode"]) != ("torch", "compiled"),
    PLANTED_IN_A_LAYER: lambda asked: asked["plant"] in first(PLANTS, 1, f"{sources()} {asked['framework']}"),
}
"""For each of these tests, whether one of its cases is a part of this run."""
