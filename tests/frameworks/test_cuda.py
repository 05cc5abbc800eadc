"""The branches for CUDA, beside stand-ins for a GPU: no GPU is here, and the arithmetic on one was not run by us."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from asking import answer

from bakeoff.environments.declared import frameworks
from bakeoff.spec.group import TIMEOUT_S

WITH_CUDA = [
    name for name, found in frameworks().items() if found.info.listed and "cuda" in found.info.options["device"].values
]
MODES = ("reduce-overhead", "max-autotune")
"""Of torch.compile, beside its default."""

pytestmark = pytest.mark.timeout(300)


@functools.cache
def told(name: str) -> Any:
    """Return what a framework's branches did, in its own interpreter."""
    return answer(name, "cuda_child.py", name, CUDA_VISIBLE_DEVICES="")


@pytest.mark.parametrize("name", WITH_CUDA)
def test_tf32_needs_a_gpu_that_has_it(name: str) -> None:
    """A GPU before compute capability 8.0 is refused with its capability; a newer one computes in TF32."""
    assert told(name)["refused"] == "precision=tf32 needs CUDA compute capability 8.0, and a GPU has 7.5"
    assert told(name)["tf32"] == [True, True]


@pytest.mark.parametrize("name", WITH_CUDA)
@pytest.mark.by_turns
def test_float32_is_float32_on_a_gpu(name: str) -> None:
    """TF32 is off for products and convolutions where float32 is asked for, whatever was in force before."""
    assert told(name)["float32"] == [False, False]


@pytest.mark.parametrize("name", WITH_CUDA)
def test_products_with_fewer_digits_are_measured_as_such(name: str) -> None:
    """Matrices and convolutions each: bfloat16, which a processor has, stands in for TF32."""
    assert told(name)["measured"] == {"tf32_matmul_measured": True, "tf32_convolution_measured": True}


@pytest.mark.parametrize("name", WITH_CUDA)
@pytest.mark.by_turns
def test_the_choice_of_algorithms_is_read_back(name: str) -> None:
    """Each value of conv_algorithm is what the framework tells to be in force."""
    assert told(name)["algorithms"] == ["heuristic", "profiling", "fixed"]


def test_xla_has_every_flag_that_is_given_to_it() -> None:
    """Each choice of algorithms compiles with its flags, for whatever device; XLA refuses a flag that it lacks."""
    flags = told("jax")["flags"]
    assert "xla_gpu_nonsense" in flags.pop("unknown")
    assert set(flags.values()) == {"2.0"}
    assert told("tensorflow")["flags"] == {"all": "2.0"}
    assert "--xla_gpu_autotune_level=4 --xla_gpu_autotune_level=0 --xla_gpu_deterministic" in told("tensorflow")["said"]


def test_xlas_own_choice_is_what_is_told_of_it() -> None:
    """Without a flag XLA tries algorithms and records command buffers, not under its profiler, as it says of itself."""
    assert told("jax")["own"] == {
        "conv_algorithm": "profiling",
        "command_buffers": "default",
        "xla": {"xla_gpu_autotune_level": ["4"], "xla_gpu_deterministic_ops": []},
        "recorded": True,
        "recorded under its profiler": False,
    }


def test_tensorflows_labels_lie_where_its_kernels_take_them() -> None:
    """On a GPU integers are int64, which are not kept in the host's memory; on a processor they stay int32."""
    placed = told("tensorflow")["placed"]
    assert placed["labels"] == ["int32", "int64"]
    assert placed["here"] is False  # what lies in the host's memory is told to do so
    assert (placed["step"], placed["on_gpu"]) == ("int64", False)
    assert placed["losses"][0] == placed["losses"][1]


def test_tensorflow_waits_for_the_gpu_alone() -> None:
    """A wait is one operation on the GPU, not one on each device."""
    placed = told("tensorflow")["placed"]
    assert (placed["waits"], placed["scopes"]) == (2, ["GPU:0"])


def test_a_missing_attention_kernel_is_told_in_bakeoffs_words() -> None:
    """What PyTorch says of it on a processor, and what on an H200; other errors stay what they are."""
    assert told("torch")["attended"] == ["UnsupportedError", "UnsupportedError", "RuntimeError"]


def test_cudnns_attention_takes_every_mask() -> None:
    """None, one of the keys alone, which an H200 refused, and one of each pair: cuDNN computes forward and backward.

    An attention that drops weights is refused, since JAX gives cuDNN's no rate.
    """
    assert told("jax")["attended"] == [True] * 7


def test_jaxs_attention_is_read_back_from_its_programs() -> None:
    """None without attention; by XLA, or by cuDNN where a compiled program calls it."""
    assert told("jax")["attended by"] == [None, "math", "cudnn"]


def test_the_optimizers_own_kernel_is_told() -> None:
    """What PyTorch takes where nothing is asked is foreach on a device that has it, and a loop elsewhere."""
    kernels = told("torch")["kernels"]
    assert kernels["with foreach"] == ["foreach", "foreach", "default", "fused"]
    assert kernels["without"] == ["default", "foreach", "default", "fused"]


def test_a_mode_of_torch_compile_is_handed_on() -> None:
    """Each value of compile_mode is a mode that the installed PyTorch has, and is what its compiler is asked for."""
    assert told("torch")["compiled"] == {"default": {}} | {mode: {"mode": mode} for mode in MODES}
    assert set(MODES) <= set(told("torch")["modes"])
    assert told("torch")["graphs"] is False  # nothing was recorded


def test_recorded_kernels_have_no_layers() -> None:
    """Where compiled code was recorded as CUDA graphs, and nowhere else, a trace says that, and has kinds alone."""
    first, *others = told("torch")["untold"]
    assert "CUDA graphs start all kernels of compiled code at once" in first
    assert others == [""] * len(others)


@pytest.mark.by_turns
def test_pytorchs_batch_norm_is_joined_over_all_devices() -> None:
    """It has the same arrays and computes the same alone; in a group it asks for GPUs in training, and nowhere else."""
    joined = told("torch")["joined"]
    assert joined["is joined"]
    assert joined["arrays"][0] == joined["arrays"][1] == ["0.bias", "0.running_mean", "0.running_variance", "0.scale"]
    assert joined["computes the same alone"]
    assert joined["in a group"].startswith("SyncBatchNorm expected input tensor to be on GPU")
    assert joined["evaluated in a group"] == [2, 5, 3]


def test_a_group_that_pauses_is_ended_by_nobody() -> None:
    """Collectives and heartbeats wait for longer than any round; TensorFlow is kept from asking for signs of life."""
    assert told("torch")["patience"] == told("jax")["patience"] == TIMEOUT_S
    assert told("tensorflow")["patience"] == {"asked": [True, False], "waits_s": TIMEOUT_S}


def test_a_build_for_cuda_without_a_gpu_says_so_in_its_own_words() -> None:
    """A missing package, and a backend that does not start, which JAX says of full memory, too, are told apart."""
    own, cuda, without = told("jax")["words"]
    assert own.endswith("INTERNAL: no supported devices found for platform CUDA")
    assert "with jax-cuda13-plugin cannot start the device cuda" in own
    assert cuda == "13.0"
    assert without.endswith("is its build for processors: it lacks the package jax-cuda13-plugin")
    found, cuda = told("torch")["words"]
    assert found.endswith("with CUDA 13.0 finds none")
    assert cuda == "13.0"
    found, *built = told("tensorflow")["words"]
    assert "with CUDA 12.5.1 finds no NVIDIA GPU" in found
    assert built == ["12.5", "sm_60", "compute_90"]
