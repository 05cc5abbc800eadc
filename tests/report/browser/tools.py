"""What pages are looked at with: Debian's Chromium, driven by Node, and axe-core, both pinned in package-lock.json.

`python tests/report/browser/tools.py` sets up what is missing, and says why where it cannot; the tests then skip.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

import filelock
import platformdirs

HERE = Path(__file__).parent
OLDEST_NODE = 18
"""What puppeteer-core 24 runs on; Debian 12 has it."""
_INSTALL_S = 300
_PACKAGES = {"chromium": ("chromium", "fonts-liberation"), "npm": ("nodejs", "npm")}
"""Of Debian, by the program that they have; the font is the one that the renderer of pictures measures with. What is
there is not asked for: Debian's npm refuses to stand beside another Node, and then nothing at all is installed."""


class MissingError(Exception):
    """A tool is not here, and why."""


def chromium() -> str:
    """Return the path of a Chromium; raise MissingError."""
    found = next(
        (path for name in ("chromium", "chromium-browser", "google-chrome") if (path := shutil.which(name))), None
    )
    if found is None:
        msg = "no Chromium is installed here; on Debian: apt install chromium"
        raise MissingError(msg)
    return found


def node() -> str:
    """Return the path of Node; raise MissingError where it or its npm is not there, or too old."""
    found, npm = shutil.which("node"), shutil.which("npm")
    if found is None or npm is None:
        msg = "no Node with npm is installed here; on Debian: apt install nodejs npm"
        raise MissingError(msg)
    version = subprocess.run(
        [found, "--version"], capture_output=True, text=True, check=True, timeout=60
    ).stdout.strip()
    if int(version.removeprefix("v").split(".", maxsplit=1)[0]) < OLDEST_NODE:
        msg = f"Node {version} is too old: {OLDEST_NODE} or newer drives a browser"
        raise MissingError(msg)
    return found


def modules() -> Path:
    """Return the folder with axe-core and the browser's driver, installed once for a lock file; raise MissingError."""
    node()
    lock = (HERE / "package-lock.json").read_bytes()
    folder = platformdirs.user_cache_path("bakeoff-tests") / f"browser-{hashlib.sha256(lock).hexdigest()[:12]}"
    folder.mkdir(parents=True, exist_ok=True)
    with filelock.FileLock(folder / "lock"):
        if not (folder / "ready").exists():
            _install(folder)
            (folder / "ready").touch()
    return folder


def _install(folder: Path) -> None:
    """Have npm install exactly what the lock file says."""
    for name in ("package.json", "package-lock.json"):
        shutil.copy(HERE / name, folder)
    command = [str(shutil.which("npm")), "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
    try:
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, timeout=_INSTALL_S)
    except subprocess.TimeoutExpired as error:
        msg = f"npm ci did not end within {_INSTALL_S} s"
        raise MissingError(msg) from error
    if done.returncode:
        msg = f"npm ci failed: {done.stderr.strip()[-300:]}"
        raise MissingError(msg)


def _debian() -> None:
    """Install Debian's packages where nobody's own machine is changed by it: as root, in continuous integration."""
    missing = [name for program, names in _PACKAGES.items() if not shutil.which(program) for name in names]
    if not missing or not os.environ.get("CI") or os.geteuid() != 0 or not shutil.which("apt-get"):
        return
    for arguments in (["update", "-qq"], ["install", "-y", "-qq", "--no-install-recommends", *missing]):
        subprocess.run(["apt-get", *arguments], check=False, stdout=subprocess.DEVNULL, timeout=_INSTALL_S)  # noqa: S607


def main() -> None:
    """Set up what is missing; tests that need what cannot be had are skipped with the same words."""
    try:
        _debian()
        chromium()
        modules()
    except (MissingError, OSError, subprocess.SubprocessError) as error:
        sys.stderr.write(f"pages are not looked at in a browser: {error}\n")


if __name__ == "__main__":
    main()
