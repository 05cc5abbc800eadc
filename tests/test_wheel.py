"""The built wheel, as a stranger installs it: outside the clone, with its data files inside."""

from __future__ import annotations

import ast
import importlib.util
import itertools
import json
import re
import subprocess
import sys
import sysconfig
import tomllib
import zipfile
from dataclasses import dataclass
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "bakeoff"
UV = [sys.executable, "-m", "uv"]


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel once."""
    folder = tmp_path_factory.mktemp("wheel")
    command = [*UV, "build", "--quiet", "--wheel", "--out-dir", str(folder), str(ROOT)]
    told = subprocess.run(command, capture_output=True, text=True, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the wheel into an environment of its own, which borrows the libraries that are here already."""
    folder = tmp_path_factory.mktemp("stranger") / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    (packages,) = folder.glob("lib/python*/site-packages")
    # Only a path: the .pth file that makes the clone importable here is not read through it.
    (packages / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")
    into = ["--python", str(folder / "bin" / "python")]
    subprocess.run([*UV, "pip", "install", "--quiet", "--no-deps", *into, str(wheel)], check=True)
    return folder


def imported(path: Path) -> set[str]:
    """Return the top-level modules that a file imports."""
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = [alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names]
    names += [node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level]
    return {name.partition(".")[0] for name in names}


def test_what_is_imported_is_declared() -> None:
    """Each library is asked for by name, not left to another's needs; a framework's are in its environment."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = {name: needs for name, needs in project["optional-dependencies"].items() if name != "test"}
    declared = {canonical(need) for need in [*project["dependencies"], *itertools.chain(*extras.values())]}
    frameworks = SOURCE / "frameworks"
    files = [path for path in SOURCE.rglob("*.py") if frameworks not in path.parents]
    ours = {"bakeoff", *sys.stdlib_module_names}
    strangers = {name for path in files for name in imported(path)} - ours
    known = packages_distributions()
    assert {"msgspec", "markupsafe", "sklearn"} <= strangers
    missing = {name for name in strangers if not declared & {canonical(one) for one in known.get(name, [name])}}
    assert missing == set()


def canonical(requirement: str) -> str:
    """Return the distribution that a requirement asks for, as PEP 503 writes it."""
    return re.sub(r"[-_.]+", "-", re.split(r"[<>=!~;\[ ]", requirement, maxsplit=1)[0]).lower()


@pytest.fixture(scope="module")
def bare(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the wheel without its dependencies, which are borrowed: to download them takes minutes, and a network."""
    path = tmp_path_factory.mktemp("bare") / wheel.name
    with zipfile.ZipFile(wheel) as built, zipfile.ZipFile(path, "w") as written:
        for name in built.namelist():
            content = built.read(name)
            if name.endswith(".dist-info/METADATA"):
                content = b"\n".join(line for line in content.split(b"\n") if not line.startswith(b"Requires-Dist:"))
            if name.endswith(".dist-info/RECORD"):
                content = re.sub(rb"(dist-info/METADATA),.*", rb"\1,,", content)
            written.writestr(name, content)
    return path


@dataclass(frozen=True)
class User:
    """Somebody with a fresh HOME and nothing but the system's commands."""

    home: Path

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run a command in their home; ~/.local/bin is on PATH, as pipx and uv both ask for."""
        environment = {
            "HOME": str(self.home),
            "PATH": f"{self.home / '.local' / 'bin'}:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            # Neither tool looks for anything in a registry.
            "PIP_NO_INDEX": "1",
            "UV_OFFLINE": "1",
            "UV_NO_INDEX": "1",
            "PIPX_DEFAULT_BACKEND": "pip",
            "PIPX_DISABLE_SHARED_LIBS_AUTO_UPGRADE": "1",
        }
        return subprocess.run(
            command, cwd=self.home, env=environment, capture_output=True, text=True, check=False, timeout=100
        )

    def types(self, line: str) -> str:
        """Type a line into a shell, and return what it prints."""
        told = self.run("/bin/sh", "-c", line)
        assert told.returncode == 0, told.stdout + told.stderr
        return told.stdout

    def borrows(self) -> None:
        """Have what was installed find bakeoff's dependencies where they are already."""
        for packages in self.home.glob("**/site-packages"):
            (packages / "borrowed.pth").write_text(sysconfig.get_paths()["purelib"] + "\n")


INSTALLERS = {
    "pipx": ("pipx", ["-m", "pipx", "install", "--python", sys.executable]),
    "uv": ("uv", ["-m", "uv", "tool", "install", "--python", sys.executable]),
}
"""As README.md has it: `pipx install WHEEL`, `uv tool install WHEEL`."""


@pytest.mark.parametrize("tool", INSTALLERS)
@pytest.mark.by_turns
def test_what_is_installed_can_be_typed(tool: str, bare: Path, tmp_path: Path) -> None:
    """In a fresh home, pipx and uv each leave a `bakeoff` that is found by its name, and that names itself so."""
    module, words = INSTALLERS[tool]
    if importlib.util.find_spec(module) is None:
        pytest.skip(f"{tool} is not installed here: pip install {tool}")
    user = User(tmp_path)
    told = user.run(sys.executable, *words, str(bare))
    assert told.returncode == 0, told.stdout + told.stderr
    user.borrows()
    assert user.types("bakeoff --version").startswith("bakeoff ")
    assert "mlp-mnist" in user.types("bakeoff list workloads")
    assert "(bakeoff run mlp-mnist)" in user.run("bakeoff", "report").stderr


def test_an_activated_environment_has_bakeoff(installed: Path, tmp_path: Path) -> None:
    """After `. ENVIRONMENT/bin/activate` there is a `bakeoff`, and `python -m bakeoff` is the same."""
    user = User(tmp_path)
    version = user.types(f". {installed}/bin/activate && bakeoff --version")
    assert version.startswith("bakeoff ")
    assert user.types(f". {installed}/bin/activate && python -m bakeoff --version") == version


@pytest.mark.by_turns
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


RACE = "run mlp-mnist fake fake:step_ms=2 --size reduced --direction --budget 1m"


@pytest.fixture(scope="module")
def raced(installed: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[User, str]:
    """Race once by a path that is not on PATH; return the user who did, and what was printed."""
    user = User(tmp_path_factory.mktemp("racer"))
    (user.home / "env").symlink_to(installed)
    return user, user.types(f"env/bin/bakeoff {RACE}")


def test_the_installed_wheel_lists_and_races(installed: Path, raced: tuple[User, str]) -> None:
    """Outside the clone, `bakeoff list`, `bakeoff doctor` and a race work from the wheel's own files."""
    user, _ = raced
    assert "mlp-mnist" in user.types("env/bin/bakeoff list")
    assert "processor" in user.types("env/bin/bakeoff doctor")
    told = json.loads(user.types("env/bin/bakeoff report --json"))
    assert [verdict["verdict"] for verdict in told["verdicts"]] == ["faster"]
    plan = json.loads(next(user.home.glob("results/*/comparison.json")).read_text())["contenders"][0]
    assert Path(plan["framework_path"]).resolve().is_relative_to(installed.resolve())


@pytest.mark.by_turns
def test_what_is_printed_can_be_pasted(raced: tuple[User, str]) -> None:
    """Called by a path, bakeoff ends with a command that repeats the race where it is pasted; its record is plain."""
    user, printed = raced
    pasted = [
        line[line.index("env/bin/bakeoff run") :] for line in printed.splitlines() if "env/bin/bakeoff run" in line
    ]
    assert pasted
    assert not re.findall(r"(?<!env/bin/)\bbakeoff (?:run|report|env|list)\b", printed)
    assert "going on with" in user.types(f"{pasted[-1]} --resume")
    plan = json.loads(next(user.home.glob("results/*/comparison.json")).read_text())
    assert plan["command"] == f"bakeoff {RACE}"
    assert "bakeoff run mlp-mnist" in next(user.home.glob("results/*/report.html")).read_text()
