"""What pip does not do: have Jittor compile itself once, with oneDNN; run by the environment's own interpreter.

Jittor downloads oneDNN from its own site. Where that cannot be reached, Debian's packages of it are unpacked in its
place; where there are none either, Jittor goes without, and every record of bakeoff says so (`onednn: off`).
"""

from __future__ import annotations

import importlib.util
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
import time
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent

PACKAGES = ("libdnnl-dev", "libdnnl2", "ocl-icd-libopencl1")
"""Debian's oneDNN: headers, library, and the library that this one needs to start; version 2.6.3 in Debian 12."""

TIMES = 3
"""To import Jittor: it ends itself once, with exit code 0, where it has compiled what it had itself begun with."""

REPORT_EVERY_S = 10.0
"""Between two lines of progress."""

NEEDED = "Jittor compiles C++ on this machine, and needs {what}; on Debian: apt install {package}"


def main() -> None:
    """Compile Jittor with oneDNN from its own site, or Debian's, or none."""
    home = _load_home()
    _check_tools()
    home.KEPT.mkdir(exist_ok=True)
    said = _compiled(home, use_mkl="1")
    if said and not home.has_onednn():
        _report(f"Jittor's own oneDNN cannot be had ({said[-1]}); trying Debian's")
        reason = _unpack_debians(home.KEPT / home.ONEDNN)
        said = [reason] if reason else _compiled(home, use_mkl="1")
    if said:
        _report(f"Jittor cannot be had with oneDNN ({said[-1]}); without it, convolutions are many times slower")
        shutil.rmtree(home.KEPT / home.ONEDNN, ignore_errors=True)
        said = _compiled(home, use_mkl="0")
    if said:
        raise SystemExit("\n".join(said))


def _load_home() -> Any:
    """Load home.py beside this file: bakeoff itself is not importable here."""
    spec = importlib.util.spec_from_file_location("home", HERE / "home.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _check_tools() -> None:
    """End with what to install, where there is no compiler."""
    if shutil.which("g++" if sys.platform == "linux" else "clang++") is None:
        raise SystemExit(NEEDED.format(what="a C++ compiler", package="g++"))
    if not (Path(sysconfig.get_path("include")) / "Python.h").is_file():
        raise SystemExit(NEEDED.format(what="Python's headers", package="python3-dev"))


def _compiled(home: Any, **variables: str) -> list[str]:
    """Import Jittor until it works, which compiles what is missing; return its last lines where it does not."""
    _report("compiling Jittor, which takes one to four minutes")
    last: list[str] = []
    for _ in range(TIMES):
        last = _run(home, variables)
        if any(line.startswith("Jittor ") for line in last):
            _report(last[-1])
            return []
        if not any("please rerun" in line for line in last):
            break
    # What went wrong is the last line that names an error; after it Jittor may still draw the bar of a download.
    return sorted(last, key=lambda line: "Error" in line) or ["Jittor gave no reason"]


def _run(home: Any, variables: dict[str, str]) -> list[str]:
    """Run home.py, report its progress now and then, and return its last lines."""
    own = {"HOME": str(home.KEPT), "JITTOR_HOME": str(home.KEPT)}
    process = subprocess.Popen(
        [sys.executable, str(HERE / "home.py")],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        stdin=subprocess.DEVNULL,
        text=True,
        errors="replace",
        env=os.environ | own | variables,
    )
    lines: list[str] = []
    reported_s = time.monotonic()
    with process:
        assert process.stdout is not None
        # Jittor overwrites its lines of progress: text mode takes each carriage return for the end of a line.
        for line in map(str.strip, process.stdout):
            lines = [*lines[-9:], line] if line else lines
            if "eta:" in line and time.monotonic() - reported_s > REPORT_EVERY_S:
                _report(line)
                reported_s = time.monotonic()
    return lines


def _unpack_debians(folder: Path) -> str:
    """Unpack Debian's oneDNN where Jittor looks for its own; return the reason where that is not possible."""
    fetch, unpack = shutil.which("apt-get"), shutil.which("dpkg")
    if fetch is None or unpack is None:
        return "there is no apt-get or no dpkg"
    with tempfile.TemporaryDirectory() as temporary:
        command = [fetch, "download", *PACKAGES]
        done = subprocess.run(command, cwd=temporary, capture_output=True, text=True, check=False)
        if done.returncode:
            return (done.stderr.strip().splitlines() or ["apt-get download failed"])[-1]
        root = Path(temporary) / "root"
        for package in Path(temporary).glob("*.deb"):
            subprocess.run([unpack, "-x", str(package), str(root)], check=True)
        shutil.copytree(root / "usr" / "include", folder / "include", dirs_exist_ok=True)
        (folder / "lib").mkdir(parents=True, exist_ok=True)
        for library in root.glob("usr/lib/*/*.so*"):
            shutil.copy2(library, folder / "lib", follow_symlinks=False)
    (folder / "lib" / "libmkldnn.so").symlink_to("libdnnl.so")
    return ""


def _report(line: str) -> None:
    """Report progress to a waiting user."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
