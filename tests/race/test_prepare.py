"""What is asked for is looked up and checked before the first process is started."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest

from bakeoff.cli.telling import notes
from bakeoff.environments import interpreters
from bakeoff.environments.declared import frameworks
from bakeoff.race import prepare
from bakeoff.race.prepare import prepared
from bakeoff.race.progress import Prepared, ReadingData
from bakeoff.race.specs import folder_names
from bakeoff.spec.comparison import Comparison
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.store import inputs

TAKE_AND_DIE = """
import os, sys
from pathlib import Path
from bakeoff.store.inputs import inputs_folder
with inputs_folder(Path(sys.argv[1])):
    os._exit(0)
"""


def planned(request: Any) -> Comparison:
    """Give the comparison that a request asks for."""
    with prepared(request) as (comparison, _):
        return comparison


@pytest.fixture
def nothing_installed(home: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """Have a machine without any framework; give the name of one that is not there."""
    assert not home.exists()
    monkeypatch.setattr(interpreters, "_is_here", lambda _: False)
    return next(name for name, declared in frameworks().items() if declared.info.listed and not declared.problem)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"batch_size": 0}, "batch size 0 cannot be; valid: a whole number from 1 on"),
        ({"max_rounds": 0}, "rounds 0 cannot be; valid: a whole number from 1 to 20"),
        ({"max_rounds": 21}, "rounds 21 cannot be; valid: a whole number from 1 to 20, any with --until-sure"),
        ({"max_rounds": 21, "aim": "how-much"}, "rounds 21 cannot be"),
        ({"max_rounds": 0, "aim": "until-sure"}, "rounds 0 cannot be; valid: a whole number from 1 on"),
        ({"aim": "soon"}, "aim"),
        ({"margin": 0.0}, "margin 0.0 cannot be; valid: between 0 and 1"),
        ({"margin": float("nan")}, "margin nan cannot be"),
        ({"budget_s": 0.0}, "budget 0.0 cannot be; valid: above 0"),
        ({"trial_limit_s": 0.0}, "trial limit 0.0 cannot be; valid: above 0"),
        ({"trial_limit_s": float("nan")}, "trial limit nan cannot be"),
        ({"seed": -1}, "seed -1 cannot be"),
        ({"threads": 0}, "threads 0"),
        ({"size": "huge"}, "unknown size.*'huge'.*Valid: full, reduced"),
        ({"scenario": "play"}, "unknown scenario of mlp-mnist 'play'.*Valid: infer, train$"),
        (
            {"workload": "mlp-1024", "scenario": "train"},
            r"unknown scenario of mlp-1024 'train'.*, or one that its file declares: scenarios=\('infer', 'train'\)$",
        ),
        ({"data": "letters"}, "unknown data source 'letters'"),
        ({"device": "abacus"}, "device=abacus"),
    ],
)
def test_what_cannot_be_is_refused(request_of: Any, tmp_path: Path, asked: dict[str, Any], message: str) -> None:
    """A value out of range is a usage error that names the valid ones; no comparison is begun."""
    with pytest.raises(UsageError, match=message):
        planned(request_of("fake", **asked))
    assert not list(tmp_path.glob("results/*"))


def test_more_contenders_than_boundaries_are_refused(request_of: Any) -> None:
    """The table of boundaries ends at the pairs of nine contenders."""
    assert len(planned(request_of(*["fake"] * 9)).contenders) == 9
    with pytest.raises(UsageError, match="10 contenders are too many for one comparison; valid: up to 9"):
        planned(request_of(*["fake"] * 10))


def test_a_framework_that_is_not_here_is_told(request_of: Any, nothing_installed: str) -> None:
    """Who is named and cannot race is excluded with the reason, and the others race on."""
    comparison = planned(request_of("fake", nothing_installed))
    assert [plan.contender.label for plan in comparison.contenders] == ["fake"]
    assert list(comparison.excluded) == [nothing_installed]
    assert "not installed here; name an interpreter, " in comparison.excluded[nothing_installed]


def test_where_none_was_named_what_is_not_installed_is_one_note(
    request_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody asked for what is not installed: it is told once, at the start; what is amiss keeps its reason."""
    reasons = {"jittor": "not installed here: bakeoff env create", "mlx": "installed here without optax", "jax": ""}
    reasons["jax"] = reasons["jittor"]
    monkeypatch.setattr(prepare, "available", lambda: ({"fake": sys.executable}, reasons))
    comparison = planned(request_of())
    assert comparison.uninstalled == ["jittor", "jax"]
    assert notes(Prepared(comparison, "results/x", 0, calm=None)) == [
        "mlx does not race: installed here without optax",
        "not installed here: jittor, jax (to add one: bakeoff env create jittor)",
    ]


def test_where_nobody_can_race_the_reasons_are_told(request_of: Any, nothing_installed: str) -> None:
    """A comparison without contenders is a usage error with every framework's reason."""
    with pytest.raises(UsageError, match=f"no contender can race.*{nothing_installed}: not installed here"):
        planned(request_of())


def test_a_word_that_is_no_framework_is_an_error(request_of: Any) -> None:
    """A misspelt contender is no excluded one."""
    with pytest.raises(UnknownNameError, match="unknown framework 'torhc'; did you mean 'torch'"):
        planned(request_of("fake", "torhc"))


def test_options_are_all_resolved(request_of: Any) -> None:
    """A plan's contender has every option of its framework: its own word wins over what is said for all."""
    comparison = planned(request_of("fake", "fake:threads=1,mode=compiled", threads=2))
    first, second = (plan.contender.options for plan in comparison.contenders)
    assert (first["threads"], first["mode"], first["precision"]) == ("2", "eager", "float32")
    assert (second["threads"], second["mode"]) == ("1", "compiled")
    assert first.keys() == second.keys()


def test_the_reference_is_in_float64(request_of: Any) -> None:
    """The reference computes in float64, whatever the contenders do."""
    reference = planned(request_of("fake")).reference
    assert reference is not None
    assert reference.contender.options["precision"] == "float64"


def test_batches_are_gone_in_the_end(request_of: Any, tmp_path: Path) -> None:
    """The folder of the batches exists while it is needed, also if that ends by an error."""

    def interrupt() -> None:
        with prepared(request_of("fake")) as (_, folder):
            assert (folder / "x.npy").exists()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupt()
    assert not list((tmp_path / "results").iterdir())


def test_what_killed_runs_left_is_removed(tmp_path: Path) -> None:
    """Batches that belong to nobody any more go when the next run starts; those in use stay."""
    with inputs.inputs_folder(tmp_path) as used:
        subprocess.run([sys.executable, "-c", TAKE_AND_DIE, str(tmp_path)], check=True)
        (left,) = set(tmp_path.glob(".inputs-*/")) - {used}
        (left / "x.npy").touch()
        with inputs.inputs_folder(tmp_path) as folder:
            assert not left.exists()
            assert used.exists()
            assert folder.exists()
    assert not list(tmp_path.iterdir())


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """Where even the folder of the batches cannot be made, the error names it with its cause."""
    taken = tmp_path / "taken"
    taken.touch()
    with pytest.raises(StoreError, match=r"cannot make .*taken/\.inputs-\w+: "):
        inputs.inputs_folder(taken).__enter__()


def test_folders_are_named_apart() -> None:
    """Names are those of the labels, unless that would be another's, or too long for a file system."""
    long = "fake@/" + "ü" * 300
    labels = ["fake", "fake (2)", "fake@/a/b", "fake@/a-b", "fake@/A/b", "FAKE-2", long, f"{long}x"]
    names = folder_names(labels)
    assert list(names) == labels
    assert list(names.values())[:6] == ["fake", "fake-2", "fake-a-b", "fake-a-b-2", "fake-A-b-3", "FAKE-2-2"]
    assert len({name.casefold() for name in names.values()}) == len(labels)
    assert all(len(f"certify-{name}".encode()) <= 255 for name in names.values())


def test_who_lacks_the_device_is_left_out_where_none_was_named(
    request_of: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """--device cuda among all that is installed races those that have it; nobody need list them."""
    here = {"fake": sys.executable, "jittor": sys.executable}
    monkeypatch.setattr(prepare, "available", lambda: (here, {}))
    comparison = planned(request_of(device="cuda"))
    assert [plan.contender.label for plan in comparison.contenders] == ["fake"]
    assert comparison.excluded["jittor"].startswith("has no device=cuda: Jittor with CUDA is another build")
    with pytest.raises(UsageError, match="Jittor does not have device=cuda"):
        planned(request_of("fake", "jittor", device="cuda"))


@pytest.mark.parametrize(("source", "told"), [(None, [ReadingData("own")]), ("synthetic", [])])
def test_data_that_may_take_long_are_told_before_they_are_read(
    request_of: Any, root: Path, tmp_path: Path, source: str | None, told: list[ReadingData]
) -> None:
    """A file's own data may take minutes, what bakeoff draws itself does not."""
    own = "def data(size, samples, seed): return {'x': np.zeros((samples, 16, 16, 3)), 'y': np.ones(samples, int)}"
    path = tmp_path / "mine.py"
    path.write_text(f"{(root / 'examples' / 'my_model.py').read_text()}\nimport numpy as np\n{own}")
    seen: list[Any] = []
    request = msgspec.structs.replace(request_of("fake"), workload=str(path), data=source, size="reduced")
    with prepared(request, seen.append):
        assert seen == told
