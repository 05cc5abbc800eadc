from __future__ import annotations

from typing import Any

import pytest
from asking import answer

POLICIES = ("XLA_PYTHON_CLIENT", "XLA_CLIENT", "TF_FORCE_GPU", "TF_GPU", "PYTORCH")
"""What variables begin with by which a user sets a framework's memory."""


def told(framework: str) -> Any:
    """Ask a framework in its own interpreter, in which nothing of the user's environment sets its memory."""
    return answer(framework, "memory_child.py", framework, without=POLICIES)


def memory(peak: int | None, reserved: int | None, preallocation: str | None) -> dict[str, int | str | None]:
    """Return what a framework reports of a device."""
    return {"peak_bytes": peak, "reserved_bytes": reserved, "preallocation": preallocation}


NOTHING = memory(None, None, None)


@pytest.mark.parametrize(
    ("framework", "answers"),
    [
        (
            "jax",
            [
                memory(1, 3, "0.75 of the GPU; allocator default"),
                memory(1, 3, "0.5 of the GPU; allocator default"),
                memory(1, 3, "none; allocator default"),
                NOTHING,
                [True, False],
                ["yes"] * 5 + ["maybe", "maybe", "no", "no"],
                [0.75, "grow", "pool"],
            ],
        ),
        (
            "tensorflow",
            [
                memory(2, None, "nearly all that is free of the GPU; allocator default"),
                memory(2, None, "none; allocator default"),
                memory(2, None, "none; allocator default"),
                memory(2, None, "nearly all that is free of the GPU; allocator default"),
                [True, False],
                ["yes"] * 6 + ["maybe", "maybe", "maybe", "no"],
                ["gpu", 9216],
            ],
        ),
    ],
)
@pytest.mark.by_turns
def test_peak_reserve_and_policy_are_read_back(framework: str, answers: list[Any]) -> None:
    """Whatever the user's variables say of preallocation is in force in what is told; a processor tells nothing.

    An error for want of memory is told from another one, in each of its forms; some have other causes, too. A limit
    stands in the place of the user's own fraction, in JAX by the name that stands alone.
    """
    assert told(framework) == answers


def test_torch_tells_its_memory_and_its_sums() -> None:
    """Nothing is taken beforehand; the switches of half precision decide in which type products are summed on CUDA."""
    gpu, processor, sums, switched, exhausted, words, limited = told("torch")
    assert (gpu, processor) == (memory(1, 2, "none; allocator native"), NOTHING)
    assert sums == ["float32, partial sums may be in float16", "float32, partial sums may be in bfloat16", None, None]
    assert switched == ["float16", "float32"]
    assert exhausted == [True, False]
    assert words == ["yes"] * 7 + ["maybe"] * 3 + ["no"] * 2
    assert limited == [0.75, 0]
