"""What all tests share: fixtures, the order in which groups of tests run, and lines of progress under `pytest -n`."""

from __future__ import annotations

import importlib
import os
import re
import signal
import sys
import threading
import time
from collections import Counter
from itertools import count, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from tests.drawn import VARIABLE, first, is_all, is_named, sources
from tests.gpu.pretended import L4, PretendedGpus, compiled, pretend

from bakeoff.environments.declared import frameworks
from bakeoff.race import remembered

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

# On a busy machine an example may take any time: how long it took is no finding about the code.
settings.register_profile("bakeoff", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bakeoff")

ROOT = Path(__file__).parent.parent
FRAMEWORKS = {name: found for name, found in frameworks().items() if found.info.listed}

LONGEST_FIRST = (
    "jittor compiled",
    "torch compiled",
    "race/test_interruptions.py",
    "race/test_pipeline.py",
    "cli/test_sweep.py",
    "tensorflow compiled",
    "jax compiled",
    "tensorflow graph",
    "torch eager",
    "contract/test_per_sample.py",
    "contract/test_options.py",
    "test_tour.py",
    "race/test_groups.py",
    "mutants/test_mutants.py",
    "mlx eager",
    "cli/test_run.py",
    "stats/test_monte_carlo.py",
    "report/test_browser.py",
    "race/test_search.py",
    "race/test_damage.py",
    "test_wheel.py",
    "contract/test_independent.py",
    "contract/test_several_devices.py",
    "race/test_input.py",
    "race/test_soak.py",
    "frameworks/test_ready_made.py",
    "environments/test_create.py",
    "tensorflow eager",
)
"""Groups of tests that take longest are begun first: no worker of `pytest -n` is left alone with one at the end."""

TURNS = 8
"""Of the cases of every test that is marked `slow` or `by_turns`, one in so many is run: all of them take hours."""

NEVER_LEFT_OUT = tuple(
    f"tests/{file}"
    for file in (
        *("race/test_soak.py", "race/test_damage.py", "race/test_interruptions.py", "cli/test_alone.py"),
        "mutants/test_mutants.py::test_a_planted_fault_is_caught",
    )
)
"""Kills, full disks and damaged records: what is lost there is a user's work. And the planted faults of a run, which
are drawn already: they show that the other checks catch anything."""

TELL_S = 10.0
"""Between two lines of progress."""

_NUMBERS = count()
"""Of this process's tests, whose folders are told apart by them."""

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has what it starts in the background ignore Ctrl-C, and tests send it to themselves.
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture
def root() -> Path:
    """Return the repository's folder."""
    return ROOT


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty home for bakeoff, so that a test sees no environment of this machine."""
    folder = tmp_path / "home"
    monkeypatch.setenv("BAKEOFF_HOME", str(folder))
    return folder


@pytest.fixture(scope="session")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder for PATH with a `bakeoff` in it, which runs these sources."""
    folder = tmp_path_factory.mktemp("typed")
    script = folder / "bakeoff"
    sources = f"import sys\nsys.path.insert(0, {str(ROOT / 'src')!r})\n"
    script.write_text(f"#!{sys.executable}\n{sources}from bakeoff.cli import main\nsys.exit(main())\n")
    script.chmod(0o755)
    return folder


@pytest.fixture(scope="session", autouse=True)
def _on_disk() -> Iterator[None]:
    """Wait for no disk in this process: a comparison writes dozens of files. Processes that tests start do wait."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


@pytest.fixture(scope="session", autouse=True)
def _asleep() -> Iterator[None]:
    """Have OpenMP's threads sleep while they wait for each other, in all processes that tests start.

    By themselves they spin: two that share a processor with another test take ten times as long, and so does that one.
    They compute the same.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_WAIT_POLICY", "PASSIVE")
        yield


@pytest.fixture(autouse=True)
def memory(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder of the test's own for what is remembered between comparisons of this process.

    Not below `tmp_path`, which would be made for thousands of tests that write nothing.
    """
    folder = tmp_path_factory.getbasetemp() / "memory" / str(next(_NUMBERS))
    monkeypatch.setattr(remembered, "base", lambda: folder)
    return folder


@pytest.fixture(scope="session")
def gpu_libraries(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with stand-ins for NVIDIA's libraries; skip where they cannot be compiled."""
    folder = tmp_path_factory.mktemp("nvidia")
    reason = compiled(folder)
    if reason:
        pytest.skip(reason)
    return folder


@pytest.fixture
def no_gpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, gpu_libraries: Path) -> PretendedGpus:
    """Return pretended GPUs without any yet: NVML answers, and counts none."""
    (tmp_path / "gpus").mkdir()
    return pretend(monkeypatch, tmp_path / "gpus", gpu_libraries)


@pytest.fixture
def pretended_gpus(no_gpus: PretendedGpus) -> PretendedGpus:
    """Return one pretended GPU, an idle L4; `add` adds more, `set` changes one, also while something runs."""
    no_gpus.add(L4)
    return no_gpus


def script(name: str, folder: str = "benchmarks") -> ModuleType:
    """Load a file of benchmarks/ or docs/, whose files are scripts, may import each other, and are not packaged."""
    if str(ROOT / folder) not in sys.path:
        sys.path.append(str(ROOT / folder))
    return importlib.import_module(name)


@pytest.fixture(scope="session")
def simulation() -> ModuleType:
    """Load the simulation of a shared machine."""
    return script("simulation")


@pytest.fixture(scope="session")
def replay() -> ModuleType:
    """Load the vectorised procedures."""
    return script("deciding_replay")


@pytest.fixture(scope="session")
def noises() -> ModuleType:
    """Load the kinds of noise."""
    return script("deciding_noise")


def group_of(nodeid: str) -> str:
    """Return the group that a test runs with: its file's, or that of the framework's process that serves it.

    What a group's tests share, a fixture or a process that has imported a framework, is made once for them.
    """
    path = nodeid.partition("::")[0].removeprefix("tests/")
    if path == "frameworks/test_jittor.py":
        return "jittor compiled"  # its operators are compiled in one folder by one process at a time
    words = re.split(r"[][-]", nodeid.partition("[")[2]) if path.startswith(("contract/", "mutants/test_mut")) else []
    for framework, mode in pairwise(words):
        if framework in FRAMEWORKS:
            modes = FRAMEWORKS[framework].info.options["mode"]
            return f"{framework} {mode if mode in modes.values else modes.default}"
    return path


def of_this_run(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return the tests that are a part of this run, as the sources draw them."""
    chosen = set()
    cases: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        is_long = item.get_closest_marker("slow") or item.get_closest_marker("by_turns")
        if is_long and not item.nodeid.startswith(NEVER_LEFT_OUT):
            cases.setdefault(item.nodeid.partition("[")[0], {})[item.nodeid] = item
        else:
            chosen.add(item)
    for test, each in cases.items():
        (turn,) = first(map(str, range(TURNS)), 1, f"{sources()} {test}")
        count = (len(each) + int(turn)) // TURNS  # of five cases one, five times in eight
        chosen |= {each[nodeid] for nodeid in first(each, count, f"{sources()} {test}")}
    return chosen


def contender_of(item: pytest.Item) -> tuple[str, ...]:
    """Return which contender a test of the contract asks by itself; nothing where its group's own answers."""
    path = item.nodeid.removeprefix("tests/")
    if path.startswith("mutants/test_mut"):
        return ("planted",)  # in a process of its own, so that the group's is not started again behind it
    if not path.startswith("contract/") or not isinstance(item, pytest.Function):
        return ()
    asked = item.callspec.params if hasattr(item, "callspec") else {}
    return tuple(str(asked[name]) for name in ("text", "value", "contender") if name in asked)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out those whose turn it is not; keep a group together; begin with the groups that take longest.

    Within a group those of one contender follow each other: its process is there for all of them, and is started once.
    """
    waiting = set() if is_all() or is_named(config) else {*items} - of_this_run(items)
    items[:] = [item for item in items if item not in waiting]
    config.hook.pytest_deselected(items=list(waiting))
    groups = {item: group_of(item.nodeid) for item in items}
    order = {group: number for number, group in enumerate(dict.fromkeys([*LONGEST_FIRST, *groups.values()]))}
    items.sort(key=lambda item: (order[groups[item]], contender_of(item)))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Have `pytest -n` give a whole group to one worker; its own --dist=loadgroup fails with pytest 9.2."""
    from xdist.scheduler import LoadScopeScheduling

    class Groups(LoadScopeScheduling):
        def _split_scope(self, nodeid: str) -> str:
            return group_of(nodeid)

    config.option.loadscopereorder = False
    return Groups(config, log)


def pytest_configure(config: pytest.Config) -> None:
    """Tell progress by lines where `pytest -n` has other processes run the tests."""
    if config.getoption("numprocesses", None) and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Progress(config))


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Say which workloads were certified, in a run that computes a drawn part of them."""
    if is_all() or is_named(config):
        return
    told: dict[str, list[str]] = {}
    for report in terminalreporter.getreports("passed"):
        if case := re.search(r"test_every_framework_computes_the_same\[(\w+-\w+)-(.+)]", report.nodeid):
            told.setdefault(case[1], []).append(case[2])
    if told:
        terminalreporter.write_line(f"certified of what the sources {sources()[:12]} drew ({VARIABLE}=all: of all):")
    for framework, workloads in sorted(told.items()):
        terminalreporter.write_line(f"  {framework}: {', '.join(sorted(workloads))}")


class Progress:
    """Lines that say how far the tests are, every few seconds, also while a long test runs.

    They stand in place of pytest's dots, which end no line: a log would show nothing for minutes.
    """

    def __init__(self, config: pytest.Config) -> None:
        """Take the configuration of the process that runs no tests itself."""
        self._config = config
        self._began_s = time.monotonic()
        self._running: dict[str, float] = {}
        self._done: Counter[str] = Counter()
        self._is_over = threading.Event()
        self._total = 0

    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take the number of tests, and begin to tell."""
        if not self._total:
            self._total = len(ids)
            threading.Thread(target=self._tell, daemon=True).start()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        """Note what runs."""
        self._running[nodeid] = time.monotonic()

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Note what is done."""
        self._running.pop(nodeid, None)
        self._done["tests"] += 1

    @pytest.hookimpl(tryfirst=True)
    def pytest_report_teststatus(self, report: pytest.TestReport) -> tuple[str, str, str] | None:
        """Write no dots, and a failure at once."""
        if report.failed:
            self._done["failed"] += 1
            self._write(f"FAILED {report.nodeid} ({report.when})")
            return ("failed" if report.when == "call" else "error"), "", ""
        if report.passed and not hasattr(report, "wasxfail"):
            return ("passed" if report.when == "call" else ""), "", ""
        return None

    def pytest_sessionfinish(self) -> None:
        """Tell no more."""
        self._is_over.set()

    def _tell(self) -> None:
        """Write a line every few seconds."""
        while not self._is_over.wait(TELL_S):
            now = time.monotonic()
            minutes, seconds = divmod(round(now - self._began_s), 60)
            done = self._done["tests"]
            longest = sorted(self._running.items(), key=lambda running: running[1])
            running = "; ".join(
                f"{nodeid.removeprefix('tests/')[:110]} {now - begin:.0f} s" for nodeid, begin in longest
            )
            self._write(
                f"{minutes:3}:{seconds:02}  {done} of {self._total} tests ({100 * done // self._total} %), "
                f"{self._done['failed']} failed; running: {running}"
            )

    def _write(self, line: str) -> None:
        """Write one line to the terminal."""
        terminal = self._config.pluginmanager.get_plugin("terminalreporter")
        if terminal is not None:
            terminal.write_line(line)
            terminal.flush()
