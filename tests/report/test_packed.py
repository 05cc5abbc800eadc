"""A study's records in one file: what they say is what they said in the study's folder."""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import shutil
import tarfile
from pathlib import Path

import msgspec
import pytest
from tests.study.test_parts import ran as traced
from tests.study.test_reproduce import published, ran

from bakeoff.judge.reproduced_parts import part_lines
from bakeoff.judge.study import StudyOutcome
from bakeoff.report.export.study import CERTIFICATES_FILE, judged, packed
from bakeoff.report.forms.markdown import to_markdown
from bakeoff.report.pages import page_of
from bakeoff.spec.errors import StoreError
from bakeoff.store import studies

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def outcome(tmp_path_factory: pytest.TempPathFactory) -> StudyOutcome:
    """Run a study of three rows, of which one is not here."""
    return ran(published(), tmp_path_factory.mktemp("results"))


@pytest.fixture
def file(outcome: StudyOutcome, tmp_path: Path) -> Path:
    """Pack its records."""
    path = tmp_path / "study.tar.xz"
    path.write_bytes(packed(Path(outcome.path)))
    return path


def members(path: Path) -> dict[str, bytes]:
    """Give the content of every file of an archive."""
    with tarfile.open(path) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive}  # type: ignore[union-attr]


def written(path: Path, content: dict[str, bytes]) -> None:
    """Write an archive."""
    plain = io.BytesIO()
    with tarfile.open(fileobj=plain, mode="w") as archive:
        for name, one in content.items():
            member = tarfile.TarInfo(name)
            member.size = len(one)
            archive.addfile(member, io.BytesIO(one))
    path.write_bytes(lzma.compress(plain.getvalue()))


def test_the_same_is_judged_from_the_file(outcome: StudyOutcome, file: Path) -> None:
    """Verdicts, step times, certificates, holes and so the whole page are those of the folder."""
    found = judged(file)
    (there,), (here,) = found.outcome.outcomes, outcome.outcomes
    assert there.verdicts == here.verdicts
    assert there.ended == here.ended
    for mine, theirs in zip(here.contenders, there.contenders, strict=True):
        assert (theirs.step_s, theirs.blocks, theirs.status) == (mine.step_s, mine.blocks, mine.status)
        assert theirs.certificate == mine.certificate
    moved = msgspec.structs.replace(outcome, path=found.outcome.path)
    assert to_markdown([page_of(found.outcome)]) == to_markdown([page_of(moved)])
    assert found.timed[Path(here.path).name]["fake"][0].endswith("/r01-fake")


def test_what_was_traced_is_judged_from_the_file(tmp_path: Path) -> None:
    """A study of what steps consist of has its figures in the file, too: traces are read from the records in it."""
    made = traced(tmp_path / "results")
    path = tmp_path / "study.tar.xz"
    path.write_bytes(packed(Path(made.path)))
    here = made.study.reproduces
    assert here is not None
    lines = [
        [one for one in part_lines(study, here.published) if one.row == "pytorch"]
        for study in (made, judged(path).outcome)
    ]
    assert lines[0] == lines[1]
    assert any(one.measured for one in lines[1])


def test_the_file_is_small_and_holds_no_folder(outcome: StudyOutcome, file: Path) -> None:
    """Arrays and logs stay, names of folders are taken out, and the same records give the same bytes."""
    content = members(file)
    assert not [name for name in content if name.endswith((".npz", ".log"))]
    assert str(Path(outcome.path).parent).encode() not in b"".join(content.values())
    assert file.stat().st_size < 100_000
    assert packed(Path(outcome.path)) == file.read_bytes()


def test_the_end_of_a_log_and_a_key_stay(outcome: StudyOutcome, tmp_path: Path) -> None:
    """What a worker or a job has printed is in no file that is kept, and neither is a key of the command line."""
    folder = tmp_path / Path(outcome.path).name
    shutil.copytree(outcome.path, folder)
    stored = studies.read(folder)
    states = [msgspec.structs.replace(one, reason="it ended\nprinted last") for one in stored.states]
    study = msgspec.structs.replace(stored.study, command="bakeoff reproduce quick --token=abcdefghijklmnop")
    studies.write(folder, msgspec.structs.replace(stored, states=states, study=study))
    record = next(folder.glob("*/r01-fake/record.json"))
    said = json.loads(record.read_bytes())["record"] | {"detail": "it failed\nprinted last"}
    content = msgspec.json.encode(said)
    record.write_bytes(msgspec.json.encode({"sha256": hashlib.sha256(content).hexdigest(), "record": said}))
    path = tmp_path / "study.tar.xz"
    path.write_bytes(packed(folder))
    whole = b"".join(members(path).values())
    assert b"it failed" in whole
    assert b"printed last" not in whole
    assert b"abcdefghijklmnop" not in whole


def test_a_changed_record_is_found(file: Path) -> None:
    """A time that was changed by hand has no seal, and the file is refused; so is what is no study."""
    content = members(file)
    name = next(one for one in content if one.endswith("r01-fake/record.json"))
    written(file, content | {name: content[name].replace(b'"elapsed_ns":', b'"elapsed_ns":1', 1)})
    with pytest.raises(StoreError, match="SHA-256"):
        judged(file)
    written(file, {one: text for one, text in content.items() if not one.endswith(CERTIFICATES_FILE)})
    with pytest.raises(StoreError, match=CERTIFICATES_FILE):
        judged(file)
    file.write_bytes(b"nothing")
    with pytest.raises(StoreError, match="is no study's records"):
        judged(file)
