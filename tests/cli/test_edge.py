from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

import bakeoff
from bakeoff.cli import FAILED, INTERRUPTED, MISUSED, TERMINATED, TerminatedError, entries
from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

HEAVY = ("numpy", "msgspec", "rich", "scipy", "pandas", "altair", "jinja2", "sklearn", "psutil")


def modules_after(code: str) -> set[str]:
    """Give the top-level modules that a fresh interpreter has loaded after running this."""
    script = f"{code}\nimport sys\nprint('\\n'.join({{name.split('.')[0] for name in sys.modules}}))"
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return set(told.stdout.splitlines())


@pytest.mark.parametrize("arguments", [["--help"], ["run", "--help"], ["env", "create", "--help"], ["--version"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    """Help and version answer at once: no library that takes time to import is loaded for them."""
    loaded = modules_after(f"from bakeoff.cli import main\nmain({arguments!r})")
    assert not loaded & set(HEAVY)


@pytest.mark.parametrize("arguments", [[], ["env"], ["completion"]])
def test_every_command_s_description_is_whole_at_80_columns(
    cli: Cli, arguments: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a command does stands in one line of the help, and none is cut."""
    monkeypatch.setenv("COLUMNS", "80")
    commands = cli(*arguments, "--help").out.partition("Commands:\n")[2].splitlines()
    assert len(commands) >= 3
    assert all(re.match(r"  \S.*\.$", line) and not line.endswith("...") for line in commands)


def test_version(cli: Cli) -> None:
    """--version tells the package's version."""
    assert cli("--version") == (0, f"bakeoff {bakeoff.__version__}\n", "")


@pytest.mark.parametrize("arguments", [["race"], ["run"], ["run", "mlp-mnist", "--sped"]])
def test_a_wrong_command_line_ends_with_2(cli: Cli, arguments: list[str]) -> None:
    """A command, argument or option that is not there is told on stderr."""
    said = cli(*arguments)
    assert said.code == MISUSED
    assert said.out == ""
    assert "Error" in said.err
    assert "Traceback" not in said.err


BAD_INPUT = {
    "workload": (["run", "mlp-mnits", "fake"], "unknown workload 'mlp-mnits'; did you mean 'mlp-mnist'?"),
    "framework": (["run", "mlp-mnist", "torhc"], "unknown framework 'torhc'; did you mean 'torch'?"),
    "option": (["run", "mlp-mnist", "fake:mod=eager"], "unknown option 'mod'; did you mean 'mode'?"),
    "value": (["run", "mlp-mnist", "fake:mode=graph"], "possible: eager, compiled"),
    "contender": (["run", "mlp-mnist", "fake:eager"], "'eager' is not of the form option=value"),
    "twice": (["run", "mlp-mnist", "fake:mode=eager,mode=eager"], "'mode' is given twice"),
    "interpreter": (["run", "mlp-mnist", "fake@/no/such/python"], "there is no interpreter /no/such/python"),
    "environment": (["run", "mlp-mnist", "fake@mine"], "unknown environment 'mine'"),
    "version": (["run", "mlp-mnist", "fake@2.1"], "or a version, once `bakeoff env create fake@2.1` has made it"),
    "scenario": (["run", "mlp-mnist", "fake", "--scenario", "learn"], "Valid: infer, train"),
    "size": (["run", "mlp-mnist", "fake", "--size", "huge"], "Valid: full, reduced"),
    "batch size": (["run", "mlp-mnist", "fake", "--batch-size", "0"], "batch size 0"),
    "batch word": (["run", "mlp-mnist", "fake", "--batch-size", "many"], "cannot be; valid: a whole number"),
    "batch below 0": (["run", "mlp-mnist", "fake", "--batch-size", "-1"], "batch size '-1' cannot be; valid: a whole"),
    "rounds": (["run", "mlp-mnist", "fake", "--rounds", "0"], "rounds 0"),
    "aims": (
        ["run", "mlp-mnist", "fake", "--how-much", "--until-sure"],
        "--direction, --how-much and --until-sure exclude each other",
    ),
    "repeats of nothing": (["run", "mlp-mnist", "fake", "--repeats", "2"], "add one of them, or leave it out"),
    "threads": (["run", "mlp-mnist", "fake", "--threads", "0"], "threads 0"),
    "no such device": (["run", "mlp-mnist", "fake", "--device", "rocm"], "device rocm: AMD's GPUs are no device"),
    "device": (
        ["run", "mlp-mnist", "fake", "--device", "mps"],
        "asked of all contenders: Fake (scripted) does not have device=mps",
    ),
    "batch list": (
        ["run", "mlp-mnist", "fake", "--batch-size", "8,x"],
        "batch size 'x' cannot be; valid: a whole number",
    ),
    "batch end": (["run", "mlp-mnist", "fake", "--batch-size", "8,"], "--batch-size '8,' lacks a value"),
    "batch twice": (["run", "mlp-mnist", "fake", "--batch-size", "8,8"], "'8,8' has the value 8 twice"),
    "option form": (["run", "mlp-mnist", "fake", "--option", "mode"], "not of the form NAME=VALUE"),
    "option name": (["run", "mlp-mnist", "fake", "--option", "mod=eager,compiled"], "unknown option 'mod'"),
    "option value": (["run", "mlp-mnist", "fake", "--option", "mode=eager,quick"], "possible: eager, compiled"),
    "option twice": (
        ["run", "mlp-mnist", "fake", "--device", "cpu", "--option", "device=cpu"],
        "device is given twice",
    ),
    "too many": (
        ["run", "mlp-mnist", "fake", "--batch-size", "1,2,3,4,5,6,7,8,9", "--threads", "1,2,3,4,5,6,7,8"],
        "9 x 8 values are 72 combinations",
    ),
    "swept data": (["run", "mlp-mnist", "fake", "--data", "letters", "--batch-size", "8,16"], "letters"),
    "data": (["run", "mlp-mnist", "fake", "--data", "letters"], "letters"),
    "budget": (["run", "mlp-mnist", "fake", "--budget", "soon"], "--budget 'soon' is not a duration"),
    "margin": (["run", "mlp-mnist", "fake", "--margin", "5"], "--margin '5' is not a share"),
    "seed": (["run", "mlp-mnist", "fake", "--seed", "-1"], "seed -1"),
    "model file": (["run", "no_model.py", "fake"], "no_model.py: cannot be read"),
    "verify": (["verify", "mlp-mnist", "fake:mode=graph"], "possible: eager, compiled"),
    "no results": (["report"], "no comparison in results"),
    "chart": (["report", "--chart", "chart.bmp"], "must end in .png or .svg"),
    "two forms": (["report", "--markdown", "--json"], "both want stdout"),
    "kind": (
        ["list", "workload"],
        "bakeoff: unknown kind 'workload'; did you mean 'workloads'? Valid: frameworks, options, studies, workloads\n",
    ),
    "shell": (
        ["completion", "install", "ksh"],
        "bakeoff: unknown shell 'ksh'; did you mean 'zsh'? Valid: bash, fish, zsh\n",
    ),
    "env": (["env", "create", "no-such"], "unknown framework 'no-such'"),
    "env name": (["env", "create", "fake", "--name", "../up"], "is no name for an environment"),
    "env pins": (["env", "create", "fake", "--requirements", "r.txt"], "--requirements needs --name"),
    "env remove": (["env", "remove", "fake"], "unknown environment 'fake'"),
}


@pytest.mark.parametrize("case", BAD_INPUT)
def test_bad_input_is_one_clear_message(cli: Cli, tmp_path: Path, case: str) -> None:
    """What cannot be is refused before anything starts: exit code 2, the reason on stderr, no traceback, no records."""
    arguments, expected = BAD_INPUT[case]
    said = cli(*arguments)
    assert expected in said.err
    assert said.code == MISUSED
    assert said.out == ""
    assert "Traceback" not in said.err
    assert not list(tmp_path.glob("results/*/*"))


MODEL = """
from bakeoff.spec.workload import Size, Workload
WORKLOAD = Workload(
    name="mine", summary="s", source="mine", scenarios=("infer",),
    sizes={"full": Size(batch_size=2, input_shape=(4,), classes=2)},
)
"""

BAD_MODELS = {
    "syntax": ("def build(nn, size:\n    return 1\n", "my_model.py:1: syntax error"),
    "no build": (MODEL, "build is missing"),
    "no workload": ("def build(nn, size): return nn.Linear(4, 2)\n", "WORKLOAD is missing"),
    "vocabulary": (MODEL + "def build(nn, size):\n    return nn.Liner(4, 2)\n", "my_model.py:8"),
}


@pytest.mark.parametrize("case", BAD_MODELS)
def test_a_bad_model_file_is_told_with_its_line(cli: Cli, tmp_path: Path, case: str) -> None:
    """The user's own file is named with what is wrong in it."""
    text, expected = BAD_MODELS[case]
    (tmp_path / "my_model.py").write_text(text)
    said = cli("run", "my_model.py", "fake")
    assert said.code == MISUSED
    assert expected in said.err
    assert "Traceback" not in said.err


FORWARD = """def build(nn, size):
    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.head = nn.Linear(4, 2)
        def forward(self, x):
            return LINE
    return Network()
def loss(nn, outputs, targets):
    return nn.cross_entropy(outputs, targets)
"""
MISTAKES = {
    "a shape": ("self.head(x[:, :3])", "my_model.py:13"),
    "an argument": ("nn.softmax(self.head(x), dim=1)", "my_model.py:13"),
    "a name": ("nn.sofmax(self.head(x))", "my_model.py:13"),
    "outputs of another shape": ("nn.reshape(self.head(x), (4,))", "its first axis must count them"),
}


@pytest.mark.parametrize("case", MISTAKES)
@pytest.mark.parametrize("command", [["run"], ["verify"], ["explain"], ["run", "--max-batch"]], ids=" ".join)
def test_a_mistake_in_forward_is_told_before_a_process_starts(
    cli: Cli, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str], case: str
) -> None:
    """The file and its line stand in the message, and no framework was asked."""
    line, expected = MISTAKES[case]
    (tmp_path / "my_model.py").write_text(MODEL + FORWARD.replace("LINE", line))
    started: list[object] = []
    monkeypatch.setattr(subprocess, "Popen", lambda *asked, **_: started.append(asked))
    said = cli(*command, "my_model.py", "torch", "jax")
    assert said.code == MISUSED
    assert expected in said.err
    assert not started
    assert "Traceback" not in said.err


def test_results_that_cannot_be_written_are_told(cli: Cli, tmp_path: Path) -> None:
    """A results directory that is a file is refused before anything is measured."""
    (tmp_path / "taken").touch()
    said = cli("run", "mlp-mnist", "fake", "--results", "taken")
    assert said.code == MISUSED
    assert "results directory taken cannot be written" in said.err


@pytest.mark.parametrize(
    "words",
    [
        (
            "run",
            "mlp-mnist",
            "fake",
            "--size",
            "reduced",
            "--data",
            "synthetic",
            "--batch-size",
            "4,8",
            "--rounds",
            "1",
        ),
        ("reproduce", "m1-inference", "fake", "--device", "cpu"),
        ("reproduce", "all", "fake", "--device", "cpu", "--budget", "1s"),
        ("acceptance", "fake", "--device", "cpu", "--size", "reduced", "--only", "itself"),
        ("slurm", "write"),
    ],
    ids=["a sweep", "a study", "all studies", "an acceptance", "jobs"],
)
def test_a_results_directory_that_is_not_utf_8_is_refused_before_it_is_made(
    cli: Cli, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """What is made of several comparisons refuses it as a single one does: no record could hold its name."""
    behind = ("run", "mlp-mnist", "fake") if words[0] == "slurm" else ()
    said = cli(*words, "--results", "odd\udcff", *behind)
    assert said.code == MISUSED, said
    assert "is not UTF-8, and records are; use another name" in said.err
    assert not list(tmp_path.iterdir())


def test_errors_that_are_nobodys_input_end_with_1(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that fills up is no wrong input: exit code 1, one message."""

    def fail() -> None:
        msg = "cannot write results/x/record.json: No space left on device"
        raise StoreError(msg)

    monkeypatch.setitem(entries.GATHER, "workloads", fail)
    said = cli("list", "workloads")
    assert said == (FAILED, "", "bakeoff: cannot write results/x/record.json: No space left on device\n")


@pytest.mark.parametrize(("sent", "code"), [(KeyboardInterrupt, INTERRUPTED), (TerminatedError, TERMINATED)])
def test_an_interrupt_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch, sent: type[BaseException], code: int) -> None:
    """Ctrl-C and SIGTERM end any command with one word and their own exit codes."""

    def interrupt() -> None:
        raise sent

    monkeypatch.setitem(entries.GATHER, "workloads", interrupt)
    assert cli("list", "workloads") == (code, "", "bakeoff: interrupted\n")


class _Interrupted:
    """An import in which Ctrl-C comes."""

    @staticmethod
    def find_spec(name: str, *_: object) -> None:
        """Be interrupted where the commands are looked for."""
        if name == "bakeoff.cli.app":
            raise KeyboardInterrupt


def test_an_interrupt_while_the_commands_are_imported_is_told(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C within the first tenth of a second, which imports take, is answered as any later one."""
    monkeypatch.delitem(sys.modules, "bakeoff.cli.app", raising=False)
    monkeypatch.setattr(sys, "meta_path", [_Interrupted, *sys.meta_path])
    assert cli("--version") == (INTERRUPTED, "", "bakeoff: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="has no SIGTERM")
def test_sigterm_ends_verify_with_its_own_code(tmp_path: Path) -> None:
    """What ends neither a race nor a study by itself ends with 143 and a word, too."""
    command = [sys.executable, "-m", "bakeoff", "verify", "mlp-mnist", "fake:clock=real,step_ms=500"]
    process = subprocess.Popen(
        [*command, "--size", "reduced", "--data", "synthetic"],
        cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.readline()
    process.terminate()
    _, said = process.communicate(timeout=30)
    assert (process.returncode, said.endswith("bakeoff: interrupted\n"), "Traceback" in said) == (
        TERMINATED,
        True,
        False,
    )


def test_a_terminal_that_is_not_utf8_loses_no_message(tmp_path: Path) -> None:
    """Under an ASCII locale an error with other characters is still told."""
    environment = os.environ | {"PYTHONIOENCODING": "ascii", "LC_ALL": "C"}
    command = [sys.executable, "-m", "bakeoff", "run", "größe.py", "fake"]
    said = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, check=False)
    assert said.returncode == MISUSED
    assert b"gr??e.py: cannot be read" in said.stderr
    assert b"Traceback" not in said.stderr


def test_a_reader_that_goes_away_is_no_error(tmp_path: Path) -> None:
    """`bakeoff list | head -1` ends without a traceback."""
    command = f"{sys.executable} -m bakeoff list --json | head -c 1"
    said = subprocess.run(["/bin/sh", "-c", command], cwd=tmp_path, capture_output=True, check=True)
    assert said.stdout == b"{"
    assert b"Traceback" not in said.stderr


@pytest.mark.parametrize("columns", ["0", "99999999", "9" * 5000])
def test_a_report_is_printed_whatever_columns_says(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: str) -> None:
    """A width in which nothing can be read neither empties a report nor fills it with millions of spaces."""
    monkeypatch.setenv("COLUMNS", columns)
    said = cli("report", str(Path(__file__).parents[1] / "records/mlp-mnist-fada"))
    assert said.code == 0
    assert "jax is fastest" in said.out
    assert len(said.out) < 20_000
