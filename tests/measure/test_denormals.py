from __future__ import annotations

import ctypes
import subprocess
import sys

import numpy as np
import pytest

from bakeoff.measure import denormals


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_exactly_what_is_below_the_smallest_normal_number_is_counted(dtype: type[np.floating]) -> None:
    """Zeros of both signs, the smallest normal number, infinity and NaN are not denormal; all below it are."""
    info = np.finfo(dtype)
    largest = np.nextafter(info.smallest_normal, dtype(0))
    ordinary = np.array([0.0, -0.0, info.smallest_normal, -info.smallest_normal, 1.0, np.inf, -np.inf, np.nan], dtype)
    assert denormals.count(ordinary) == 0
    assert denormals.count(np.array([info.smallest_subnormal, -info.smallest_subnormal, largest, -largest], dtype)) == 4


def test_an_array_of_any_order_is_counted() -> None:
    """A transposed array and a part of one have the denormal numbers that they show."""
    array = np.zeros((4, 6), np.float32)
    array[1, 2] = array[3, 5] = 1e-40
    assert denormals.count(array.T) == 2
    assert denormals.count(array[:, ::2]) == 1


def test_groups_are_summed() -> None:
    """Arrays count for the group that their names begin with."""
    tiny = np.array([1e-40, 1.0], np.float32)
    named = [("first moment/a", tiny), ("first moment/b", tiny), ("second moment/a", np.ones(3, np.float32))]
    assert denormals.counted(named, "float32") == {"first moment": (2, 4), "second moment": (0, 3)}


def test_what_was_computed_in_float32_is_counted_in_float64_too() -> None:
    """A float64 array that holds float32's numbers has those that are denormal in float32."""
    array = np.array([1e-40, -1e-40, 2.0**-126, 0.0, 1.0, np.nan])
    assert (denormals.count(array), denormals.count(array, "float32")) == (0, 2)


def test_integers_are_refused() -> None:
    """A step count has no denormal numbers: asking for them is an error."""
    with pytest.raises(TypeError, match="int64"):
        denormals.count(np.ones(3, np.int64))


@pytest.mark.skipif(sys.platform != "linux", reason="sets the processor's register by the C library of Linux")
def test_a_process_that_treats_them_as_zero_counts_them() -> None:
    """With denormals treated as zero a comparison finds none, and the count is the same."""
    program = """
import ctypes, sys
import numpy as np
from bakeoff.measure import denormals
tiny = np.full(1000, 1e-40, np.float32)
libm = ctypes.CDLL("libm.so.6")
state = (ctypes.c_uint32 * 8)()
libm.fegetenv(state)
state[7] |= 0x8040  # MXCSR, where x86's fenv_t ends: denormals are zero, and results are flushed
assert libm.fesetenv(state) == 0
assert not np.count_nonzero(tiny * np.float32(1.0)), "the register is not set"
print(denormals.count(tiny))
"""
    if not _is_x86():
        pytest.skip("the register is x86's")
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "1000"


def _is_x86() -> bool:
    """Return whether this processor has MXCSR."""
    import platform

    return platform.machine() == "x86_64" and ctypes.sizeof(ctypes.c_void_p) == 8
