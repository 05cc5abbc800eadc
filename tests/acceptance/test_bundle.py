"""The bundle that is sent in: what it holds, what it does not tell, and how it is read."""

from __future__ import annotations

import io
import json
import os
import socket
import tarfile
import time
from pathlib import Path

import msgspec
import pytest

from bakeoff.acceptance.bundle import MOST_LOG_BYTES, check_writable, read_bundle, write_bundle
from bakeoff.acceptance.redacted import Redactor, redactor
from bakeoff.report.forms.json import to_json
from bakeoff.report.forms.markdown import to_markdown
from bakeoff.report.pages import page_of
from bakeoff.report.redacted import redacted
from bakeoff.spec.acceptance import Acceptance, AcceptanceOutcome, CheckResult
from bakeoff.spec.errors import UsageError
from bakeoff.store import acceptances
from bakeoff.store.files import read_record

RECORD = Path(__file__).parents[1] / "records/mlp-mnist-fada"
"""A comparison as it was really recorded."""

PLANTED = (
    "alice",
    "alicesbox",
    "/home/alice",
    "hunter2-hunter2",
    "Alice Liddell",
    "alice@example.org",
    "secret-project",
)


@pytest.fixture
def outcome(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AcceptanceOutcome:
    """Return an acceptance with records, in all of which stands what is nobody's business."""
    monkeypatch.setenv("USER", "alice")
    monkeypatch.setenv("HOSTNAME", "alicesbox.example.org")
    monkeypatch.setenv("A_TOKEN", "hunter2-hunter2")
    monkeypatch.setenv("HOME", "/home/alice")
    folder = tmp_path / "home/alice/secret-project/acceptance-cuda-0001"
    check = CheckResult(
        key="devices",
        title="devices",
        expected="each environment works",
        most_s=1.0,
        state="failed",
        found="jax cannot be used: /home/alice/secret-project/venv/bin/python has no jax",
        took_s=1.5,
    )
    acceptance = Acceptance(
        id=folder.name,
        created_at="2026-11-22T17:00:00Z",
        bakeoff="0.1.0",
        contenders=("torch", "jax@/home/alice/secret-project/venv/bin/python"),
        device="cuda",
        size="full",
        machine={"gpu": "NVIDIA L4", "processor": "AMD EPYC", "cores": 8, "gpu_driver": "580.95.05"},
        command="bakeoff acceptance torch --device cuda --results /home/alice/secret-project",
        checks=[check],
    )
    acceptances.write(folder, acceptance)
    trial = next(path.parent for path in sorted(RECORD.glob("r01-*/record.json")))
    inner = folder / "devices-alice/r01-torch"
    inner.mkdir(parents=True)
    who = "alicesbox: alice (Alice Liddell, alice@example.org)"
    told = f"{who} ran /home/alice/secret-project/x.py A_TOKEN=hunter2-hunter2\n"
    (inner / "stderr.log").write_text(told)
    (inner / "trial.json").write_text(json.dumps({"interpreter": "/home/alice/venv/bin/python", "by": "alice"}))
    (inner / "long.log").write_text(f"{'begun' * MOST_LOG_BYTES}the cause")
    record = json.loads((trial / "record.json").read_bytes())["record"]
    record["reason"] = f"{who} has /home/alice/secret-project/x.py"
    (inner / "record.json").write_text(json.dumps({"sha256": "", "record": record}))
    (inner / "evidence.npz").write_bytes(b"arrays")
    (inner / "link.json").symlink_to("/etc/passwd")
    (folder / "broken.json").write_text("{")
    return AcceptanceOutcome(acceptance=acceptance, path=str(folder))


@pytest.fixture
def bundle(outcome: AcceptanceOutcome) -> Path:
    """Return its bundle, by what this process redacts, with the full name that a list of users would tell."""
    known = redactor()
    named = Redactor(
        {"alice": "user", "Alice Liddell": "user", "alicesbox": "host", socket.gethostname(): "host"}, known._values
    )
    return write_bundle(outcome, using=named)


def members(path: Path) -> dict[str, bytes]:
    """Return the content of an archive's plain files, by name."""
    with tarfile.open(path) as archive:
        return {one.name: archive.extractfile(one).read() for one in archive if one.isreg()}  # type: ignore[union-attr]


def test_no_planted_word_is_in_the_bundle(bundle: Path) -> None:
    """Neither names of people, machines and folders, nor values of variables, in files or in their names."""
    found = members(bundle)
    whole = b"\n".join([*found.values(), *(name.encode() for name in found)]).decode()
    assert [line for line in whole.splitlines() for word in PLANTED if word.casefold() in line.casefold()] == []
    assert "devices-user/r01-torch/stderr.log" in found
    assert "<path>/x.py" in found["devices-user/r01-torch/stderr.log"].decode()
    assert found["devices-user/r01-torch/long.log"].endswith(b"the cause")


def test_its_report_can_be_redacted_as_any_other(outcome: AcceptanceOutcome) -> None:
    """What `bakeoff report --redact` shows of it holds no planted word, either."""
    page = page_of(redacted(outcome))
    whole = to_markdown([page]) + to_json([page])
    assert [word for word in PLANTED if word.casefold() in whole.casefold()] == []
    assert page.headline == page_of(outcome).headline


def test_who_runs_it_is_known_without_being_told(outcome: AcceptanceOutcome) -> None:
    """The environment names the user, the machine, and what else is nobody's business."""
    text = redactor().text(f"alice on alicesbox and {socket.gethostname()}: hunter2-hunter2, {Path.home()}/x/y.py")
    assert text == "user on host and host: <value>, <path>/y.py"


def test_a_bundle_holds_plain_files_in_a_stable_order(outcome: AcceptanceOutcome, bundle: Path) -> None:
    """No link, no owner, no time; the same records give the same bytes; arrays and what is no JSON are left out."""
    with tarfile.open(bundle) as archive:
        found = archive.getmembers()
    assert [one.name for one in found] == sorted(one.name for one in found)
    assert all(one.isreg() and (one.uid, one.gid, one.uname, one.mtime) == (0, 0, "", 0) for one in found)
    assert not any("link" in one.name or one.name.endswith(".npz") for one in found)
    manifest = json.loads(members(bundle)["manifest.json"])
    assert manifest["left_out"] == ["broken.json"]
    again = write_bundle(outcome, bundle.with_name("again.tar.gz"), using=Redactor({"alice": "user"}))
    assert again.read_bytes() == write_bundle(outcome, again, using=Redactor({"alice": "user"})).read_bytes()


def test_records_of_a_bundle_can_be_read(bundle: Path, tmp_path: Path) -> None:
    """They are sealed anew over what is left of them."""
    content = members(bundle)["devices-user/r01-torch/record.json"]
    (tmp_path / "unpacked").mkdir()
    (tmp_path / "unpacked/record.json").write_bytes(content)
    assert read_record(tmp_path / "unpacked").outcome == "done"


def test_names_that_become_alike_stay_apart_in_a_bundle(outcome: AcceptanceOutcome) -> None:
    """Of two folders or files that are called alike without a name, neither takes the place of the other."""
    inner = Path(outcome.path) / "devices-carol"
    inner.mkdir()
    for name in ("alice.md", "carol.md", "stderr.log"):
        (inner / name).write_text(f"{name} of carol")
    found = members(write_bundle(outcome, using=Redactor({"alice": "user", "carol": "user"})))
    mine = {name.partition("/")[2]: said for name, said in found.items() if name.startswith("devices-user (2)/")}
    expected = {"user.md": "user.md of user", "user (2).md": "user.md of user", "stderr.log": "stderr.log of user"}
    assert {name: said.decode() for name, said in mine.items()} == expected
    assert "devices-user/r01-torch/stderr.log" in found


def test_a_bundle_says_what_the_acceptance_said(bundle: Path) -> None:
    """Its page has the same headline and checks, with what was taken out."""
    read = read_bundle(bundle)
    assert read.acceptance.redacted
    assert page_of(read).headline == "Acceptance on NVIDIA L4: 0 of 1 check passed, 1 failed."
    assert read.acceptance.checks[0].found == "jax cannot be used: <path>/python has no jax"


def packed(path: Path, *entries: tuple[tarfile.TarInfo, bytes]) -> Path:
    """Write an archive of these."""
    with tarfile.open(path, "w:gz") as archive:
        for entry, content in entries:
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def test_a_long_line_takes_no_time() -> None:
    """Of letters, slashes or signs: a worker's log may hold half a megabyte without an end of line."""
    using, began_s = Redactor({"bob": "user"}, ["a secret value"]), time.monotonic()
    for word in ("begun", "/", "/a", "@", "a@", ".", "://", "a/", "file:/"):
        using.text(word * (MOST_LOG_BYTES // len(word)))
    assert time.monotonic() - began_s < 5


def test_what_is_larger_than_an_acceptance_is_not_read(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its size stands before it in the archive."""
    assert read_bundle(bundle).acceptance.redacted
    monkeypatch.setattr("bakeoff.acceptance.bundle.MOST_BYTES", 10)
    with pytest.raises(UsageError, match="--read"):
        read_bundle(bundle)


@pytest.mark.parametrize("kind", ["text", "link", "empty", "missing"])
def test_what_is_no_bundle_is_refused(tmp_path: Path, kind: str) -> None:
    """A stranger's file is opened, and nothing of it is unpacked or followed."""
    path = tmp_path / "bundle.tar.gz"
    if kind == "text":
        path.write_text("hello")
    elif kind == "link":
        entry = tarfile.TarInfo("acceptance.json")
        entry.type, entry.linkname = tarfile.SYMTYPE, "/etc/passwd"
        packed(path, (entry, b""))
    elif kind == "empty":
        packed(path, (tarfile.TarInfo("other.json"), b"{}"))
    with pytest.raises(UsageError, match="--read"):
        read_bundle(path)


SPARSE = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0", "GNU.sparse.name": "acceptance.json"}


@pytest.mark.parametrize(
    "headers",
    [{"GNU.sparse.map": "a,b"}, {"GNU.sparse.size": "abc"}, SPARSE],
    ids=["a map of letters", "a size of letters", "a map that is no map"],
)
def test_heads_that_cannot_be_are_refused(tmp_path: Path, headers: dict[str, str]) -> None:
    """What a stranger wrote where numbers belong is a message, and no error of Python's."""
    path = tmp_path / "bundle.tar.gz"
    entry = tarfile.TarInfo("acceptance.json")
    entry.pax_headers = headers
    packed(path, (entry, b"{}" * 300))
    with pytest.raises(UsageError, match="no bundle of an acceptance can be read there"):
        read_bundle(path)


@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.REGTYPE])
def test_a_bundle_is_unpacked_no_further_than_an_acceptance_can_stand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: bytes
) -> None:
    """A few kilobytes may hold gigabytes: in the name of a member, in its head, and before the acceptance."""
    monkeypatch.setattr("bakeoff.acceptance.bundle.MOST_UNPACKED_BYTES", 1 << 20)
    path = tmp_path / "bundle.tar.gz"
    entry = tarfile.TarInfo("long")
    entry.type = kind
    packed(path, (entry, bytes(5 << 20)), (tarfile.TarInfo("acceptance.json"), b"{}"))
    with pytest.raises(UsageError, match=r"its first 1 MiB hold no acceptance.json, and no more is unpacked"):
        read_bundle(path)


def test_a_pipe_is_no_bundle_and_a_link_may_lead_to_one(bundle: Path, tmp_path: Path) -> None:
    """What has no end or no writer is not waited for; the user's own link is followed."""
    pipe, link = tmp_path / "pipe.tar.gz", tmp_path / "link.tar.gz"
    os.mkfifo(pipe)
    with pytest.raises(UsageError, match="is no regular file"):
        read_bundle(pipe)
    with pytest.raises(UsageError, match="a file is there that is no bundle"):
        check_writable(pipe)
    link.symlink_to(bundle)
    assert read_bundle(link).acceptance.redacted


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("/home/bob/x/model.py:12", "<path>/model.py:12"),
        ("ratio 1/2 of 3/4, s/step", "ratio 1/2 of 3/4, s/step"),
        ("https://pytorch.org/docs/stable/x.html", "https://pytorch.org/docs/stable/x.html"),
        ("bob's channels, bobcat, r01-bob, BOB", "user's channels, bobcat, r01-user, user"),
        ("~/results and ../up/here.txt", "<path> and <path>/here.txt"),
        ("torch@/opt/venvs/cuda/bin/python:mode=eager", "torch@<path>/python:mode=eager"),
        ("--results=/data/bob/r --device cuda", "--results=<path> --device cuda"),
        ("short/x", "short/x"),
        ("carol@example.net wrote", "<address> wrote"),
        ("https://carol:word@wheels.internal/simple", "https://<address><path>"),
        ("file:///data/carol/x.py and /data//carol", "file:<path>/x.py and <path>"),
        ("/data/ann lee/venv/bin/python has", "<path>/python has"),
    ],
)
def test_texts_keep_what_they_are_about(text: str, left: str) -> None:
    """Paths lose all but the name of a file; units, ratios and addresses of documents stay, and names within words."""
    assert Redactor({"bob": "user", "Ann Lee": "user"}).text(text) == left


def test_keys_and_lines_are_redacted_at_any_depth() -> None:
    """A name may be a key within a list; of a value of several lines, as a key's, each is taken out by itself."""
    using = Redactor({"bob": "user"}, ["-----BEGIN A KEY-----\nMIIEvQIBADANBg\n"])
    assert using.json([{"bob's": [{"x": "/home/x/bob"}]}]) == [{"user's": [{"x": "<path>"}]}]
    assert using.text("found MIIEvQIBADANBg") == "found <value>"


def test_variables_that_are_watched_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are in records because they change what a framework does."""
    monkeypatch.setenv("NVIDIA_TF32_OVERRIDE", "something-long")
    monkeypatch.setenv("OTHER", "something-else")
    assert redactor().text("something-long, something-else") == "something-long, <value>"
    assert "OTHER" in os.environ
    assert msgspec.json.encode(redactor().json({"a": [1, None, True]})) == b'{"a":[1,null,true]}'
