"""What of MLX's folder the contract does not see: laziness, Apple's GPU by stand-ins, and what it refuses."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import pytest
from asking import answer

MODES = pytest.mark.parametrize("mode", ["eager", "compiled"])
pytestmark = pytest.mark.timeout(400)


QUICK = ("mps", "metal", "without", "float64", "threads", "blas", "cpu", "exhausted")


@functools.cache
def told(*names: str) -> Any:
    """Return what MLX tells in its own interpreter, by these names; by all that take no time where there are none."""
    with tempfile.TemporaryDirectory() as folder:
        return answer("mlx", "mlx_child.py", str(Path(folder) / "not yet there"), *(names or QUICK))


@MODES
@pytest.mark.by_turns
def test_asking_changes_nothing(mode: str) -> None:
    """Gradients and outputs leave parameters and running statistics bit by bit; a step moves every one of them."""
    assert told(mode)[mode] == {"gradients repeat": True, "asking changes nothing": True, "a step changes all": True}


@pytest.mark.parametrize("work", ["streamed", "streamed compiled"])
@pytest.mark.by_turns
def test_every_step_is_computed_and_none_is_kept(work: str) -> None:
    """MLX is lazy: hundreds of steps without a wait give what fenced ones give, and their graphs do not pile up."""
    assert told(work)[work] == {"same": True, "grows": False, "step": 800}


def test_apples_gpu_is_refused_where_it_is_not() -> None:
    """device=mps on a machine without Metal is refused with the reason; with it, MLX's own GPU device is taken."""
    assert "has no Metal here" in told()["mps"]
    assert told()["metal"] == {
        "refused": "",
        "chosen": [True],
        "devices": ["cpu", "mps"],
        "memory": {"peak_bytes": 5, "reserved_bytes": None, "preallocation": "none"},
    }


def test_mode_compiled_is_refused_where_mlx_would_not_compile() -> None:
    """Without g++ mx.compile silently gives the function as it is: that is seen, and refused with the remedy."""
    found = told()["without"]
    assert (found["in force"], found["eager"]) == (False, "")
    assert "install g++ or choose mode=eager" in found["refused"]


def test_why_there_is_no_float64() -> None:
    """The declared reason holds: a convolution that is asked for in float64 is off by float32's rounding."""
    assert 1e-8 < told()["float64"] < 1e-6


def test_threads_and_memory_are_read_back() -> None:
    """The package's own BLAS has one thread; a processor's allocator tells nothing, a GPU's says when it is full."""
    assert (told()["threads"], told()["blas"].partition("-")[0]) == (1, "libblas")
    assert set(told()["cpu"].values()) == {None}
    assert told()["exhausted"] == [True, True, False]


def test_a_blas_that_is_preloaded_is_named_with_its_threads(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Products of another library than the package's are not said to have one thread: it is asked, where it tells."""
    if (compiler := shutil.which("cc")) is None:
        pytest.skip("there is no C compiler")
    source, library = tmp_path / "other.c", tmp_path / "libother.so"
    source.write_text("void cblas_sgemm(void) {}\nint openblas_get_num_threads(void) { return 3; }\n")
    subprocess.run([compiler, "-shared", "-fPIC", "-o", library, source], check=True)
    monkeypatch.setenv("LD_PRELOAD", str(library))
    found = answer("mlx", "mlx_child.py", str(tmp_path / "not yet there"), "threads", "blas")
    assert found == {"threads": 3, "blas": "libother.so"}
