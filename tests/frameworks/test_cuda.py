"""The branches for CUDA, beside stand-ins for a GPU: no GPU is here, and the arithmetic on one was not run by us."""

from __future__ import annotations

import functools
from typing import Any

import pytest
from asking import answer

from bakeoff.environments.declared import frameworks

WITH_CUDA = [
    name for name, found in frameworks().items() if found.info.listed and "cuda" in found.info.options["device"].values
]
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
def test_float32_is_float32_on_a_gpu(name: str) -> None:
    """TF32 is off for products and convolutions where float32 is asked for, whatever was in force before."""
    assert told(name)["float32"] == [False, False]


@pytest.mark.parametrize("name", WITH_CUDA)
def test_the_choice_of_algorithms_is_read_back(name: str) -> None:
    """Each value of conv_algorithm is what the framework tells to be in force."""
    assert told(name)["algorithms"] == ["heuristic", "profiling", "fixed"]


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
