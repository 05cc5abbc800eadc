"""From the words of a command to elements, and from an element to what it means on its node."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bakeoff.cli import MISUSED
from bakeoff.cli.jobs import jobs_of, point_of, script_names
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

PAGE = Path(__file__).parents[2] / "docs" / "json-slurm.md"
RACE = ("run", "mlp-mnist", "fake", "fake:step_ms=2", "--size", "reduced")


def test_one_comparison_is_one_element() -> None:
    """Its words are those that were given, and its point is the request of `bakeoff run`."""
    jobs = jobs_of([*RACE, "--rounds", "3"])
    (element,) = jobs.elements
    assert (jobs.name, element.words) == ("mlp-mnist-slurm", [*RACE, "--rounds", "3"])
    point = point_of(element)
    assert (point.request.max_rounds, point.request.contenders) == (3, ("fake", "fake:step_ms=2"))
    assert point.request.command == "bakeoff run mlp-mnist fake fake:step_ms=2 --size reduced --rounds 3"


def test_several_values_are_an_element_for_each_combination() -> None:
    """With its place in the sweep, and the words of a command that runs it alone."""
    jobs = jobs_of([*RACE, "--batch-size", "8,16", "--option", "mode=eager,compiled"])
    assert len(jobs.elements) == 4
    assert jobs.title == "mlp-mnist over batch size 8, 16 and mode eager, compiled"
    last = jobs.elements[-1]
    assert last.coordinates == {"batch size": "16", "mode": "compiled"}
    assert last.words == [*RACE, "--batch-size", "16", "--option", "mode=compiled"]
    point = point_of(last)
    assert (point.title, point.request.batch_size) == ("batch size 16, mode compiled", 16)
    assert point.request.options == {"mode": "compiled"}


def test_who_lacks_a_value_is_left_out_on_its_node() -> None:
    """As in a sweep of one process: with the reason, and the others race."""
    jobs = jobs_of([*RACE[:3], "fake:mode=eager", "torch", "--option", "step_ms=1,2"])
    point = point_of(jobs.elements[0])
    assert point.request.contenders == ("fake", "fake:mode=eager")
    assert "torch" in point.left_out


def test_thousands_of_combinations_have_a_short_title() -> None:
    """Of many values a title has the first and the last."""
    sizes = ",".join(map(str, range(1, 2001)))
    jobs = jobs_of([*RACE, "--batch-size", sizes])
    assert (len(jobs.elements), jobs.title) == (2000, "mlp-mnist over batch size 1, 2, ..., 2000")


def test_a_use_case_may_be_taken_apart_by_the_pipelines_names() -> None:
    """One element for each contender, and the pipeline's name for its script."""
    words = ["use-case", "2", "--benchmark", "mnist"]
    jobs = jobs_of(words, apart=True)
    assert [element.words for element in jobs.elements] == [[*words, "torch"], [*words, "jax"]]
    assert script_names(jobs) == ["torch_mnist_2.sh", "jax_mnist_2.sh"]
    assert [element.devices for element in jobs.elements] == [2, 2]
    assert jobs_of(words).elements[0].contenders == ["torch", "jax"]


def test_a_documents_comparisons_are_elements() -> None:
    """One for each that this machine would run, on a GPU where the jobs ask for one."""
    jobs = jobs_of(["reproduce", "m1-inference", "fake"], on_gpus=True)
    assert [element.point for element in jobs.elements] == list(range(len(jobs.elements)))
    assert jobs.elements[0].words[-2:] == ["--device", "cuda"]
    here = jobs_of(["reproduce", "m1-inference", "fake", "--device", "cpu"])
    point = point_of(here.elements[-1])
    assert (point.title, point.request.contenders) == (here.elements[-1].title, ("fake",))
    assert here.reproduces is not None


def test_a_contender_may_lack_a_part_of_a_sweep() -> None:
    """As where it is run on this machine: left out there; one that lacks every combination is a mistake."""
    words = ["run", "mlp-mnist", "torch", "mlx", "--device"]
    assert len(jobs_of([*words, "cpu,cuda"]).elements) == 2
    assert len(jobs_of([*words[:2], "--device", "mps,cuda"]).elements) == 2
    for devices in ("cuda", "cpu,nowhere"):
        with pytest.raises(UsageError, match="does not have device"):
            jobs_of([*words, devices])


@pytest.mark.parametrize("option", ["--profile", "--template"])
def test_a_file_without_an_end_is_not_read(cli: Cli, tmp_path: Path, option: str) -> None:
    """A pipe without a writer, a device and a file that is too large are refused at once."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "large").touch()
    os.truncate(tmp_path / "large", 1 << 40)
    (tmp_path / "zero").symlink_to("/dev/zero")
    for name, said in (("pipe", "no regular file"), ("zero", "no regular file"), ("large", "larger than 1 MiB")):
        found = cli("slurm", "write", option, name, *RACE)
        assert found.code == MISUSED
        assert f"{name} cannot be used as a {option.removeprefix('--')}" in found.err
        assert said in found.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ((), "name what to run"),
        (("verify", "mlp-mnist"), "unknown command 'verify'"),
        (("run", "mlp-mnits"), "did you mean 'mlp-mnist'"),
        (("run", "mlp-mnist", "torhc"), "did you mean 'torch'"),
        (("run", "mlp-mnist", "--resume"), "--resume cannot be an option of a job"),
        (("run", "mlp-mnist", "--max-batch"), "--max-batch cannot be an option of a job"),
        (("run", "mlp-mnist", "--bogus"), "No such option"),
        (("run", "mlp-mnist", "--batch-size", ","), "lacks a value"),
        ((*RACE, "--device", "cuda,gpu"), "an NVIDIA GPU is called cuda here"),
        ((*RACE, "--option", "nosuch=1,2"), "unknown option 'nosuch'"),
        (("run", "mlp-mnist", "torch", "jax", "--option", "convolution=xla,bogus"), "convolution=bogus"),
        (("run", "mlp-mnist", "--device", "tpu"), "does not have device=tpu; possible: "),
        (("run", "mlp-mnist", "fake:mode=quick"), "does not have mode=quick; possible: "),
        ((*RACE, "--gpu", "\udcff"), "is not UTF-8, and records are"),
        (("run", "mlp-mnist", "--option", "note=ghp_0123456789abcdefABCDEF"), "holds what looks like a key"),
        (("use-case", "5", "--benchmark", "mnist"), "unknown use case '5'"),
        (("use-case", "1", "--benchmark", "mnist", "--devices", "2"), "that is use case 2"),
        (("reproduce", "dai"), "unknown study 'dai'"),
        (("--use-case", "1"), "--benchmark and --use-case go together"),
        (("--split", "nodes", "run", "mlp-mnist"), "--split 'nodes' cannot be; valid: frameworks"),
        (("--split", "frameworks", "run", "mlp-mnist"), "name the contenders"),
        (("--split", "frameworks", *RACE, "--batch-size", "8,16"), "name one value of each option"),
        (("--split", "frameworks", "reproduce", "m1-inference"), "reproduce holds contenders against a document"),
        (("--time", "soon", *RACE), "--time 'soon' is not a duration"),
        (("--gpus", "1", *RACE[:2], "fake:devices=2"), "gpus '1' are fewer than the 2"),
        (("--profile", "site.toml", *RACE), "site.toml cannot be used as a profile"),
    ],
)
def test_what_cannot_be_jobs_is_one_clear_message(cli: Cli, words: tuple[str, ...], said: str) -> None:
    """Exit code 2, nothing written, and no key in the message."""
    found = cli("slurm", "write", *words)
    assert found.code == MISUSED
    assert said in found.err
    assert "0123456789" not in found.err
    assert cli("slurm", "status").code == MISUSED


def test_written_scripts_wait_to_be_submitted(cli: Cli) -> None:
    """`write` asks Slurm nothing; --dry-run writes nothing; the study is there from then on, and its jobs asked for."""
    assert "Nothing was written" in cli("slurm", "write", "--dry-run", *RACE).out
    for command in ("write", "submit"):
        assert "leave out --json" in cli("slurm", command, "--dry-run", "--json", *RACE).err
    assert cli("slurm", "status").code == MISUSED
    told = json.loads(cli("slurm", "write", "--json", "--at-once", "2", *RACE, "--batch-size", "8,16").out)
    assert told["counts"]["not submitted"] == 2
    again = cli("slurm", "submit", told["path"], "--gpus", "2")
    assert again.code == MISUSED
    status = json.loads(cli("slurm", "status", told["id"], "--json").out)
    assert status == told
    assert cli("report", told["id"]).code == 0


def test_a_script_of_somebodys_own_stays(cli: Cli) -> None:
    """The pipeline's names may be those of the pipeline's own scripts; what bakeoff wrote is written anew."""
    theirs = Path("slurm_scripts/fake_mnist_1.sh")
    theirs.parent.mkdir()
    theirs.write_text("#!/bin/sh\nsrun python main.py\n")
    work = ("slurm", "write", "--split", "frameworks", "use-case", "1", "fake", "--benchmark", "mnist")
    refused = cli(*work)
    assert refused.code == MISUSED
    assert f"{theirs} is there and was not written by bakeoff: move it" in refused.err
    assert "main.py" in theirs.read_text()
    assert cli("slurm", "status").code == MISUSED
    theirs.unlink()
    assert [cli(*work).code for _ in range(2)] == [0, 0]
    assert "slurm element" in theirs.read_text()


def test_without_slurm_it_says_so(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scripts are written, and where to submit them is said."""
    monkeypatch.setenv("PATH", "")
    said = cli("slurm", "submit", *RACE)
    assert said.code == 1
    assert "sbatch is not here" in said.err


def keys(told: object, start: str = "") -> set[str]:
    """Return every key of an object as the page has them; those of `counts` and of an interval are told in words."""
    if isinstance(told, list):
        return {key for one in told for key in keys(one, f"{start}[]")}
    if not isinstance(told, dict) or start in {"counts", "across[].ratio"}:
        return {start}
    inner = {key for name, value in told.items() for key in keys(value, f"{start}.{name}" if start else name)}
    return inner | ({start.removesuffix("[]")} if start else set())


def documented() -> set[str]:
    """Return the keys that docs/json-slurm.md has."""
    return set(re.findall(r"^\| `([^`]+)` \|", PAGE.read_text("utf-8"), re.MULTILINE))


def test_every_key_is_documented(cli: Cli) -> None:
    """Of a study that is not split; with contenders apart it is held where they run."""
    told = json.loads(cli("slurm", "write", "--json", *RACE).out)
    assert keys(told) == {key for key in documented() if not key.startswith("across[]")} - {"across"}
