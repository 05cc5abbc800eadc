"""The text of scripts, and what may stand in it."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.cluster import profile, script
from bakeoff.cluster.keys import looks_like_a_key
from bakeoff.cluster.plans import Element, JobPlan
from bakeoff.cluster.submitting import chunks
from bakeoff.spec.errors import UsageError

if TYPE_CHECKING:
    from bakeoff.cluster.profile import SiteProfile

GOLDEN = Path(__file__).with_name("job.golden.sh")
SITE = {"partition": "gpu", "account": "ml", "gpus": "a100", "cpus": 8, "memory": "64G", "at_once": 20}


def planned(site: SiteProfile, **changes: Any) -> JobPlan:
    """Return a plan of three elements."""
    elements = [
        Element(title=f"batch size {size}", words=["run", "mlp-mnist"], workload="mlp-mnist", contenders=["fake"])
        for size in (8, 16, 32)
    ]
    plan = JobPlan(
        name="mlp-mnist-sweep",
        title="mlp-mnist over batch size 8, 16, 32",
        elements=elements,
        profile=site,
        limit_s=5400.0,
        limit_why="as was said",
    )
    return msgspec.structs.replace(plan, **changes)


def test_a_script_is_as_it_was(monkeypatch: pytest.MonkeyPatch) -> None:
    """The whole text for a site; look at job.golden.sh.new where it differs, and rename it if that is right."""
    monkeypatch.setattr(Path, "cwd", lambda: Path("/home/ann/races"))
    setup = ("module load cuda/13", "source /shared/venv/bin/activate")
    site = profile.read(
        None, **SITE, setup=setup, python="/shared/venv/bin/python", container="apptainer exec --nv bakeoff.sif"
    )
    monkeypatch.setattr(Path, "absolute", lambda self: Path("/home/ann/races") / self)
    found = script.text(Path("results/mlp-mnist-sweep-1a2b"), planned(site), range(3))
    monkeypatch.undo()
    new = GOLDEN.with_suffix(".sh.new")
    new.unlink(missing_ok=True)
    if found != GOLDEN.read_text():
        new.write_text(found)
    assert found == GOLDEN.read_text()


def test_bash_reads_the_script() -> None:
    """`bash -n` finds no mistake in it."""
    found = script.text(Path("results/study"), planned(profile.read(None)), range(3))
    subprocess.run(["/usr/bin/env", "bash", "-n"], input=found, text=True, check=True)


def test_a_site_has_its_own_template(tmp_path: Path) -> None:
    """What stands in it is filled in, and one that would run nothing, or has a mistake, is refused with its place."""
    own = tmp_path / "site.sh.j2"
    own.write_text("#!/bin/sh\n#SBATCH --array=0\n{{ command }} slurm element {{ folder }} 0\n")
    plan = planned(profile.read(None, template=str(own)))
    assert "-m bakeoff slurm element /" in script.text(Path("results/study"), plan, [0])
    for wrong, said in (
        ("#!/bin/sh\n", "lacks '#SBATCH --array=' and 'slurm element'"),
        ("{{ folders }}", "'folders' is undefined"),
        ("\n{% if %}", "site.sh.j2, line 2"),
    ):
        own.write_text(wrong)
        with pytest.raises(UsageError, match="cannot be used as a template") as refused:
            script.text(Path("results/study"), plan, [0])
        assert said in str(refused.value)


def test_a_template_may_hold_no_key(tmp_path: Path) -> None:
    """Whoever reads the script would have it; the message has the line's number, and not the key."""
    own = tmp_path / "site.sh.j2"
    own.write_text(
        "#!/bin/sh\n#SBATCH --array=0\nexport HF_TOKEN=hf_0123456789abcdef0123\n"
        "{{ command }} slurm element {{ folder }} 0\n"
    )
    with pytest.raises(UsageError, match="the script's line 3 holds what looks like a key") as refused:
        script.text(Path("results/study"), planned(profile.read(None, template=str(own))), [0])
    assert "0123456789abcdef" not in str(refused.value)


def test_a_folder_that_no_directive_can_hold_is_refused() -> None:
    """Slurm cuts a directive at a space; a percent sign is doubled, since Slurm reads a pattern behind it."""
    plan = planned(profile.read(None))
    with pytest.raises(UsageError, match="it has a space, a quote or a backslash"):
        script.text(Path("my results/study"), plan, range(3))
    assert "results/100%%/slurm/logs/%A_%a.log" in script.text(Path("results/100%"), plan, range(3))


@pytest.mark.parametrize(
    ("given", "devices", "resource"),
    [
        (None, 1, None),
        ("2", 1, "gpu:2"),
        ("a100", 1, "gpu:a100:1"),
        ("a100", 4, "gpu:a100:4"),
        ("h100-80gb:8", 4, "gpu:h100-80gb:8"),
    ],
)
def test_gpus_are_asked_for_by_type_and_number(given: str | None, devices: int, resource: str | None) -> None:
    """Without a number there are as many as a contender trains on."""
    assert profile.gpus_of(profile.read(None, gpus=given), devices) == resource


def test_fewer_gpus_than_are_trained_on_are_refused() -> None:
    """The message has both numbers."""
    with pytest.raises(UsageError, match="'a100:2' are fewer than the 4"):
        profile.gpus_of(profile.read(None, gpus="a100:2"), 4)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ('partitoin = "gpu"', "Object contains unknown field `partitoin`"),
        ("cpus = 0", "cpus 0 cannot be; valid: a whole number from 1 on"),
        ('cpus = "many"', "Expected `int | null`, got `str`"),
        ('partition = "a b"', "partition 'a b' cannot be"),
        ('gpus = "a100:0"', "gpus 'a100:0' cannot be"),
        ('sbatch = ["--array=0-9"]', "none of those that bakeoff sets: array"),
        ('sbatch = ["nodelist=gpu01"]', "write one option with its value"),
        ('setup = ["export HF_TOKEN=hf_0123456789abcdef0123"]', "setup line 1 holds what looks like a key"),
        ("partition = ", "cannot be used as a profile: "),
        (f"cpus_per_task = {'9' * 5000}", "cannot be used as a profile: "),
        (f"a = {'[' * 5000}", "cannot be used as a profile: "),
    ],
)
def test_a_bad_profile_is_one_clear_message(tmp_path: Path, content: str, said: str) -> None:
    """What is wrong in which file, and what is valid."""
    path = tmp_path / "site.toml"
    path.write_text(content)
    with pytest.raises(UsageError) as refused:
        profile.read(path)
    assert said in str(refused.value)
    assert "0123456789abcdef" not in str(refused.value)


def test_options_win_over_the_profile(tmp_path: Path) -> None:
    """What is not given stays as the file has it."""
    path = tmp_path / "site.toml"
    path.write_text('partition = "gpu"\ntime = "4h"\nsetup = ["module load cuda"]\n')
    found = profile.read(path, partition="long", time=None)
    assert (found.partition, found.time, found.setup) == ("long", "4h", ("module load cuda",))


@pytest.mark.parametrize(
    ("text", "is_key"),
    [
        ("export WANDB_API_KEY=0123456789", True),
        ("--password hunter2", True),
        ("curl -H token:abc", True),
        ("ghp_0123456789abcdefABCDEF", True),
        ("AIzaSy0123456789abcdefABCDEF", True),
        ("module load tokenizers cuda", False),
        ("tokenizer=bpe", False),
        ("cd /shared/0123456789abcdef0123456789abcdef01234567/bakeoff", False),
        ("0123456789abcdef0123456789abcdef01234567", True),
        ("export WANDB_API_KEY=$(cat ~/.key)", False),
        ("export HF_TOKEN=$TOKEN", False),
        ("run text-transformer torch --batch-size 8", False),
        ("source /shared/venv/bin/activate", False),
    ],
)
def test_what_looks_like_a_key_is_seen(text: str, *, is_key: bool) -> None:
    """By its name or its shape; a line that reads one from elsewhere holds none."""
    assert looks_like_a_key(text) == is_key


def test_numbers_are_written_as_slurm_reads_them() -> None:
    """Runs of numbers by their ends, and times in full minutes."""
    assert script.ranges([7, 0, 1, 2, 9, 10]) == "0-2,7,9-10"
    assert [script.clock(seconds) for seconds in (1.0, 90.0, 5400.0, 180000.0)] == [
        "0:01:00",
        "0:02:00",
        "1:30:00",
        "50:00:00",
    ]


def test_elements_are_shared_out_over_arrays() -> None:
    """Each array has task numbers below the longest that the site allows, and every element is in one of them."""
    shared = chunks([0, 1, 2, 3, 900, 2500, 2501], 1000)
    assert shared == [(0, [0, 1, 2, 3, 900]), (2500, [0, 1])]
    assert sorted(offset + task for offset, tasks in chunks(range(3500), 1000) for task in tasks) == list(range(3500))
