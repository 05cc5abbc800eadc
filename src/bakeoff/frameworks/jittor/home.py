"""Where Jittor keeps what it compiles, and with which oneDNN; settled before Jittor is imported, which reads it once.

Run as a script it imports Jittor, which then compiles what is missing: what install.py does until nothing is.
"""

from __future__ import annotations

import ctypes
import importlib
import os
import sys
import sysconfig
import tomllib
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator

KEPT = Path(sys.prefix) / "jittor-home"
"""Within the environment, so that it goes with it; a Jittor that bakeoff did not install has its user's own home."""

ONEDNN = Path(".cache") / "jittor" / "mkl" / "dnnl_lnx_2.2.0_cpu_gomp"
"""Where below its home Jittor looks for oneDNN, and puts it when it has downloaded it itself (compile_extern.py)."""

LINKED = "libmkldnn.so"
"""The name by which Jittor links oneDNN."""


def has_onednn() -> bool:
    """Return whether oneDNN is where Jittor looks for it."""
    return (KEPT / ONEDNN / "lib" / LINKED).exists()


def settle() -> None:
    """Set what Jittor reads from the environment when it is imported, and load oneDNN for it to find."""
    _find_python_config()
    if not KEPT.is_dir():
        return
    os.environ["JITTOR_HOME"] = str(KEPT)
    if has_onednn():
        _load_onednn(KEPT / ONEDNN / "lib")
    else:
        # install.py could not have it: Jittor would try to download it at every import again.
        os.environ.setdefault("use_mkl", "0")
    with _no_other_home():
        importlib.import_module("jittor_utils")


def onednn() -> str | None:
    """Return the version of the oneDNN that this process has loaded; None where it has none."""
    if not any(LINKED in line or "libdnnl" in line for line in mapped()):
        return None
    library = ctypes.CDLL(str(KEPT / ONEDNN / "lib" / LINKED) if has_onednn() else LINKED)
    library.dnnl_version.restype = ctypes.POINTER(ctypes.c_int)
    version = library.dnnl_version()  # a struct that begins with the three numbers
    return f"{version[0]}.{version[1]}.{version[2]}"


def mapped() -> list[str]:
    """Return the lines of what is mapped into this process; none where the system lists none (only Linux does)."""
    try:
        return Path("/proc/self/maps").read_text("utf-8").splitlines()
    except OSError:
        return []


def _find_python_config() -> None:
    """Point Jittor to the script that locates Python's headers: it looks for it in a virtual environment only."""
    name = f"python{sys.version_info.major}.{sys.version_info.minor}-config"
    found = Path(sysconfig.get_config_var("BINDIR") or sys.base_prefix) / name
    if found.is_file():
        os.environ.setdefault("python_config_path", str(found))


def _load_onednn(folder: Path) -> None:
    """Load oneDNN, and what it needs beside it, so that the linker's path need not be set before the process starts."""
    for pattern in ("libOpenCL.so.*", "libdnnl.so.*", LINKED):
        for library in sorted(folder.glob(pattern))[:1]:
            ctypes.CDLL(str(library), mode=ctypes.RTLD_GLOBAL)


@contextmanager
def _no_other_home() -> Iterator[None]:
    """Keep Jittor from writing this home down as that of all Jittors of the user, in ~/.cache/jittor/config.json."""
    before = os.environ.get("HOME")
    os.environ["HOME"] = str(KEPT)
    try:
        yield
    finally:
        if before is None:
            del os.environ["HOME"]
        else:
            os.environ["HOME"] = before


def _main() -> None:
    """Import Jittor and print its version, and with which oneDNN it runs."""
    sys.path.pop(0)  # this folder, whose modules have names of their own
    # As in a worker: what is compiled without them is another Jittor.
    declared = tomllib.loads(Path(__file__).with_name("framework.toml").read_text("utf-8"))
    os.environ.update({one["name"]: one["value"] for one in declared["variables"] if "{" not in one["value"]})
    settle()
    jittor: Any = importlib.import_module("jittor")
    sys.stdout.write(f"Jittor {jittor.__version__}, oneDNN {onednn() or 'none'}\n")


if __name__ == "__main__":
    _main()
