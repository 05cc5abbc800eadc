"""The built wheel, as a stranger installs it: outside the clone, with its data files inside."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import zipfile
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bakeoff"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--outdir", str(folder), str(ROOT)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, which borrows the libraries that are here already."""
    folder = tmp_path_factory.mktemp("stranger") / "environment"
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # Only a path: the .pth file that makes the clone importable here is not read through it.
    (packages / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    pip = [str(folder / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", str(wheel)]
    subprocess.run(pip, check=True)
    return folder


def test_the_wheel_holds_every_file_of_the_package(wheel: Path) -> None:
    """Declarations, pins, templates and code: what is in the source tree is in the wheel, and nothing of the tests."""
    held = set(zipfile.ZipFile(wheel).namelist())
    wanted = {
        str(path.relative_to(ROOT / "src"))
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert wanted <= held
    assert {Path(name).name for name in wanted} >= {"framework.toml", "requirements.txt"}
    assert not [name for name in held if name.startswith("tests")]
    assert [name for name in held if name.endswith("licenses/LICENSE")]


def test_the_installed_wheel_lists_and_races(installed: Path, tmp_path: Path) -> None:
    """Outside the clone, `bakeoff list`, `bakeoff doctor` and a race work from the wheel's own files."""

    def bakeoff(*arguments: str) -> str:
        command = [str(installed / "bin" / "bakeoff"), *arguments]
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
        told = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=100
        )
        assert told.returncode == 0, told.stdout + told.stderr
        return told.stdout

    assert "mlp-mnist" in bakeoff("list")
    assert "processor" in bakeoff("doctor")
    told = json.loads(bakeoff("run", "mlp-mnist", "fake", "fake:step_ms=2", "--size", "reduced", "--json"))
    assert [verdict["verdict"] for verdict in told["verdicts"]] == ["faster"]
    plan = json.loads(next(tmp_path.glob("results/*/comparison.json")).read_text())["contenders"][0]
    assert Path(plan["framework_path"]).is_relative_to(installed)
