from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
import pytest
from tests.race.inline import InlineWorker

from bakeoff.race import conductor, fitting, loop, prepare, remembered
from bakeoff.race.progress import Event, TrialStarted
from bakeoff.race.workers.worker import WorkerLostError
from bakeoff.spec.errors import ChangedError, DamagedError, StoreError
from bakeoff.spec.protocol import Answer, Certify, Command
from bakeoff.store.fingerprints import packages_of
from bakeoff.store.results import read_records
from bakeoff.trial import opened
from bakeoff.workloads.load import load

if TYPE_CHECKING:
    from tests.race.conftest import Race

    from bakeoff.spec.trial import TrialSpec

pytestmark = pytest.mark.slow

ASKED = {"max_rounds": 1}


def test_what_is_computed_in_float64_is_computed_once(started: Any) -> None:
    """The next race takes the reference's record with its arrays, which names the comparison that it was made in."""
    names, first = started()
    assert "reference" in names
    names, second = started()
    assert "reference" not in names
    assert "certify-fake" in names
    adopted = read_records(second).records["reference"]
    assert adopted.trial.comparison == first.name
    assert (second / "reference" / "evidence.npz").read_bytes() == (first / "reference" / "evidence.npz").read_bytes()


class WithoutReference(InlineWorker):
    """A worker whose reference is killed."""

    def __init__(self, folder: Path, trial: TrialSpec, interpreter: str) -> None:
        """Keep what the trial is for."""
        super().__init__(folder, trial, interpreter)
        self._is_reference = trial.purpose == "reference"

    def ask(self, command: Command, limit_s: float) -> Answer:
        """Answer, but for the reference's evidence."""
        if self._is_reference and isinstance(command, Certify):
            msg = "killed by a test"
            raise WorkerLostError("killed", msg)
        return super().ask(command, limit_s)


@pytest.mark.parametrize("large", [False, True])
def test_nothing_is_computed_to_be_held_against_a_reference_that_failed(
    race: Race, monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    """GPT-2's was killed for want of memory; an hour of five frameworks' evidence followed, which certified nothing."""
    if large:  # Trials of small steps start together.
        monkeypatch.setattr(fitting, "SMALL_MACS", 0)
    names: list[str] = []

    def observe(event: Event) -> None:
        if isinstance(event, TrialStarted):
            names.append(event.name)

    outcome = race("fake", "fake:step_ms=60", launch=WithoutReference, observe=observe)
    assert names == ["reference"]
    for one in outcome.contenders:
        assert one.status == "uncertified"
        assert one.certificate is not None
        assert ") failed: killed by a test; float64 takes twice the memory" in one.certificate.reason
        assert one.certificate.reason.endswith("give a smaller --batch-size, or add swap")


def test_what_is_remembered_is_not_written_through_a_link(started: Any, tmp_path: Path) -> None:
    """A folder that a stranger has made a link of leads out of the comparison: it is named, and nothing lands there."""
    _, first = started()
    (tmp_path / "theirs").mkdir()
    shutil.rmtree(first / "reference")
    (first / "reference").symlink_to(tmp_path / "theirs")
    with pytest.raises(StoreError, match="reference is a link, and links are not followed: remove it"):
        started(resume=True)
    assert not list((tmp_path / "theirs").iterdir())


@pytest.mark.parametrize("asked", [{"seed": 7}, {"batch_size": 4}, {"scenario": "infer"}])
def test_what_is_computed_of_something_else_does_not_stand_for_it(started: Any, asked: dict[str, Any]) -> None:
    """Another seed, batch or scenario is computed anew."""
    started()
    names, _ = started(**asked)
    assert "reference" in names


def test_other_code_or_packages_compute_it_anew(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What other code of bakeoff, or other packages, have computed stands for nothing."""
    started()
    for name, modules in (("code_sha256", [remembered]), ("packages_sha256", [prepare, opened])):
        with monkeypatch.context() as patch:
            for module in modules:
                patch.setattr(module, name, lambda _: "another")
            assert "reference" in started()[0]
            assert "reference" not in started()[0]
    assert "reference" not in started()[0]


def test_another_text_of_the_workload_is_computed_anew(started: Any, tmp_path: Path) -> None:
    """What the workload's file said before stands for nothing that it says now."""
    path = tmp_path / "mine.py"
    path.write_text(load("mlp-mnist").path.read_text())
    assert "reference" in started(workload=str(path))[0]
    assert "reference" not in started(workload=str(path))[0]
    path.write_text(path.read_text() + "\n# another text\n")
    assert "reference" in started(workload=str(path))[0]


def test_another_file_that_the_workload_reads_computes_it_anew(started: Any, tmp_path: Path) -> None:
    """A table's values, or a setting, whose text is no part of the workload's: --resume refuses others, too."""
    path, table, rate = tmp_path / "mine.py", tmp_path / "table.npy", tmp_path / "rate"
    text = load("mlp-mnist").path.read_text()
    text = text.replace(
        "super().__init__()", f"super().__init__(); self.table = nn.constant(np.load({str(table)!r}))", 1
    )
    text = text.replace("learning_rate=", f"learning_rate=float(np.loadtxt({str(rate)!r})) or ", 1)
    path.write_text(text.replace("\nfrom bakeoff", "\nimport numpy as np\nfrom bakeoff", 1))
    rate.write_text("0.1")
    np.save(table, np.zeros(3))
    assert "reference" in started(workload=str(path))[0]
    assert "reference" not in started(workload=str(path))[0]
    np.save(table, np.full(3, 1e-9))
    with pytest.raises(ChangedError, match="reads elsewhere, as a table or its settings, has changed"):
        started(workload=str(path), resume=True)
    assert "reference" in started(workload=str(path))[0]
    rate.write_text("0.2")
    assert "reference" in started(workload=str(path))[0]


def test_another_folder_of_the_framework_computes_it_anew(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """What another text of a framework's folder has computed stands for nothing."""
    started()
    for module in (prepare, opened):
        monkeypatch.setattr(module, "folder_sha256", lambda _: "another")
    assert "reference" in started()[0]


def test_where_packages_are_unknown_nothing_is_remembered(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """An interpreter that sees packages beyond its own environment may change unseen."""
    monkeypatch.setattr(prepare, "packages_sha256", lambda _: "")
    started()
    assert "reference" in started()[0]


def test_a_damaged_memory_is_computed_anew(started: Any, memory: Path) -> None:
    """A record that is not as it was written stands for nothing; neither do arrays that somebody has changed."""
    started()
    (kept,) = (memory / "programs").iterdir()
    (kept / "record.json").write_text("{}")
    assert "reference" in started()[0]
    arrays = kept / "evidence.npz"
    arrays.write_bytes(arrays.read_bytes()[:-1] + b"!")
    assert "reference" in started()[0]


def test_what_another_process_remembers_anew_is_computed(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Arrays that are replaced between the look at them and their copy, as jobs with one home do, end no race."""

    def replaced(path: Path, sha256: str) -> bytes:
        del sha256
        msg = f"{path} was changed after it was written"
        raise DamagedError(msg)

    started()
    monkeypatch.setattr(loop, "checked_arrays", replaced)
    assert "reference" in started()[0]


def test_verify_computes_everything(started: Any, request_of: Any) -> None:
    """Who asks for certificates alone wants to see them made."""
    started()
    names: list[str] = []
    conductor.verify(request_of("fake", **ASKED), lambda event: names.append(getattr(event, "name", "")))
    assert "reference" in names


def test_what_does_not_certify_is_not_remembered(race: Race, memory: Path) -> None:
    """A reference that no contender agrees with is computed again."""
    for _ in range(2):
        assert race("fake:wrong=outputs", **ASKED).contenders[0].status == "uncertified"
    assert not (memory / "programs").exists()


def test_the_oldest_go_where_there_is_no_room(started: Any, memory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder does not grow without end."""
    started()
    kept = memory / "programs"
    (first,) = kept.iterdir()
    monkeypatch.setattr(remembered, "MOST_KEPT_BYTES", sum(file.stat().st_size for file in first.iterdir()) + 10)
    os.utime(first, (1, 1))
    started(seed=3)
    assert [path for path in kept.iterdir() if path == first] == []
    assert len(list(kept.iterdir())) == 1


def test_packages_are_those_beside_the_interpreter(tmp_path: Path) -> None:
    """Names with versions, without starting it; nothing where it sees the system's packages, too."""
    site = tmp_path / "lib" / "python3.11" / "site-packages"
    (site / "numpy-2.1.dist-info").mkdir(parents=True)
    python = str(tmp_path / "bin" / "python")
    assert packages_of(python) == ["python3.11/site-packages/numpy-2.1.dist-info"]
    (tmp_path / "pyvenv.cfg").write_text("home = /usr\ninclude-system-site-packages = true\n")
    assert packages_of(python) == []
    assert packages_of(str(tmp_path / "none" / "bin" / "python")) == []


def test_a_program_that_differs_from_the_reference_is_a_trial_of_its_own(
    started: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The contender's own settings run in float64, beside the reference, and both are remembered."""
    honest = conductor.prepared

    def with_program(*given: Any, **asked: Any) -> Any:
        return _Changed(honest(*given, **asked))

    monkeypatch.setattr(conductor, "prepared", with_program)
    names, folder = started()
    assert names[:3] == ["reference", "program-fake", "certify-fake"]
    evidence = read_records(folder).records["program-fake"].evidence
    assert evidence is not None
    names, _ = started()
    assert names[:1] == ["certify-fake"]


def test_contenders_of_one_program_share_its_evidence(started: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is computed once, in whatever precisions, inputs or states of malloc they race; another program is not."""
    honest = conductor.prepared
    monkeypatch.setattr(conductor, "prepared", lambda *given, **asked: _Changed(honest(*given, **asked)))
    contenders = ("fake", "fake:noise=0.002", "fake:step_ms=2")
    for computed in (True, False):
        names, folder = started(*contenders)
        programs = {name: one for name, one in read_records(folder).records.items() if name.startswith("program-")}
        assert len(programs) == 3
        own, twin, other = (programs[f"program-{label.replace(':', '-')}"] for label in contenders)
        run = [name for name in names if name.startswith("program-")]
        assert run == ([own.trial.name, other.trial.name] if computed else [])
        assert own.evidence.arrays_sha256 == twin.evidence.arrays_sha256
        assert twin.trial.contender.label == contenders[1]


class _Changed:
    """What is prepared, with a program of other settings than the reference's."""

    def __init__(self, context: Any) -> None:
        self._context = context

    def __enter__(self) -> Any:
        comparison, inputs = self._context.__enter__()
        return msgspec.structs.replace(comparison, contenders=[*map(self._changed, comparison.contenders)]), inputs

    def _changed(self, plan: Any) -> Any:
        if plan.program is None:  # what is timed is float64 itself
            return plan
        own = {"mode": "compiled"} | ({"step_ms": "2"} if "step_ms" in plan.contender.label else {})
        program = msgspec.structs.replace(plan.program, options=plan.program.options | own)
        return msgspec.structs.replace(plan, program=program)

    def __exit__(self, *error: object) -> Any:
        return self._context.__exit__(*error)
