"""A study's records in one small file, without the arrays of its certificates, and the study judged again from it.

FILE.tar.xz holds study.json and, for each comparison, comparison.json, end.json, every trial's record.json, and
certificates.json: what each certificate came to when its arrays were there, which take a hundred times the space of all
else. Times, verdicts and intervals are computed from the records in it. Names, folders and keys are taken out, so that
records are sealed anew.
"""

from __future__ import annotations

import hashlib
import io
import json
import lzma
import tarfile
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from bakeoff.acceptance.bundle import pretty, redacted_file, tarred
from bakeoff.acceptance.redacted import sharing_redactor
from bakeoff.judge.comparison import assess, judge_comparison
from bakeoff.judge.ledger import marked
from bakeoff.judge.profile import profiles_of
from bakeoff.judge.study import NOT_BEGUN, PointOutcome, StudyOutcome
from bakeoff.report.redacted import Redaction
from bakeoff.spec.bounded import MOST_BYTES
from bakeoff.spec.comparison import Comparison
from bakeoff.spec.errors import BakeoffError, StoreError
from bakeoff.spec.verdict import Certificate
from bakeoff.store.files import COMPARISON_FILE, END_FILE, RECORD_FILE, STUDY_FILE, unsealed
from bakeoff.store.reading import decoded
from bakeoff.store.results import Records, of_purpose
from bakeoff.store.studies import StudyFile, read

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bakeoff.acceptance.redacted import Redactor
    from bakeoff.judge.outcome import Outcome
    from bakeoff.spec.record import Record
    from bakeoff.store.studies import PointState

ENDING = ".tar.xz"
CERTIFICATES_FILE = "certificates.json"

MOST_MEMBERS = 100_000
"""Of a file that is read: a study of a hundred comparisons has some thousands."""


def packed(folder: Path, using: Redactor | None = None) -> bytes:
    """Return the content of a study's file, the same for the same records; raise StoreError where there is no study.

    A comparison that cannot be judged is left out, and the study in the file says why.
    """
    using = using or sharing_redactor()
    stored = read(folder)
    members: dict[str, bytes] = {}
    states = []
    for state in stored.states:
        try:
            members |= _comparison(folder, state, using) if state.comparison else {}
            states.append(state)
        except BakeoffError as error:
            states.append(msgspec.structs.replace(state, comparison="", reason=using.text(str(error))))
    kept = msgspec.structs.replace(stored, states=states)
    content = Redaction(using, kept).json(msgspec.to_builtins(kept))
    # The document's own words are public, and what looks like a folder in them is an address or a unit.
    content["study"]["reproduces"] = msgspec.to_builtins(stored.study.reproduces)
    members[STUDY_FILE] = pretty(content)
    return lzma.compress(tarred(members), preset=9 | lzma.PRESET_EXTREME)


def _comparison(folder: Path, state: PointState, using: Redactor) -> dict[str, bytes]:
    """Return the files of one comparison by their names in the study's."""
    if state.comparison != Path(state.comparison).name:
        msg = f"{state.comparison!r} is no folder of this study"
        raise StoreError(msg)
    inner = folder / state.comparison
    outcome = judge_comparison(inner)
    redaction = Redaction(using, outcome)
    certificates = {one.label: one.certificate for one in outcome.contenders if one.certificate}
    # A record that is damaged is none: the outcome above was judged without it.
    wanted = [path for path in sorted(inner.glob(f"*/{RECORD_FILE}")) if _is_whole(path)]
    wanted += [path for path in (inner / COMPARISON_FILE, inner / END_FILE) if path.is_file()]
    try:
        found = {path.relative_to(folder).as_posix(): redacted_file(path, redaction) for path in wanted}
    except (OSError, ValueError) as error:
        msg = f"{inner} cannot be packed: {error}"
        raise StoreError(msg) from error
    return found | {
        f"{state.comparison}/{CERTIFICATES_FILE}": pretty(redaction.json(msgspec.to_builtins(certificates)))
    }


def _is_whole(path: Path) -> bool:
    """Return whether a record is as it was written, and no link leads to it."""
    if path.is_symlink() or path.parent.is_symlink():
        return False
    try:
        unsealed(path.read_bytes(), path)
    except StoreError:
        return False
    return True


class Packed(msgspec.Struct, frozen=True, kw_only=True):
    """A study's file, judged."""

    outcome: StudyOutcome
    sha256: str
    """Of the file."""
    timed: dict[str, dict[str, list[str]]]
    """By comparison and contender, the folders of its timed records in the file, in the order of rounds."""


def judged(path: Path) -> Packed:
    """Return the study of a file, every comparison judged from its records; raise StoreError where it is none."""
    try:
        content = path.read_bytes()
        members = _members(content)
        stored = decoded(members[STUDY_FILE], StudyFile)
        records = {state.comparison: _records(members, state.comparison) for state in stored.states if state.comparison}
        points = [
            _judged(members, state, PointOutcome(point=point, reason=state.reason), records)
            for point, state in zip(stored.study.points, stored.states, strict=True)
        ]
    except (OSError, KeyError, ValueError, lzma.LZMAError, tarfile.TarError) as error:
        msg = f"{path} is no study's records: {error}"
        raise StoreError(msg) from error
    outcome = StudyOutcome(
        study=stored.study,
        id=stored.id,
        path=path.name,
        created_at=stored.created_at,
        bakeoff=stored.bakeoff,
        points=points,
    )
    timed = {name: _timed(name, of_purpose(mine.values(), "time")) for name, mine in records.items()}
    return Packed(outcome=outcome, sha256=hashlib.sha256(content).hexdigest(), timed=timed)


def _timed(name: str, records: Sequence[Record]) -> dict[str, list[str]]:
    """Return the folders of the timed trials of a comparison by contender."""
    found: dict[str, list[str]] = {}
    for record in sorted(records, key=lambda one: one.trial.round_number):
        found.setdefault(record.trial.contender.label, []).append(f"{name}/{record.trial.name}")
    return found


def _members(content: bytes) -> dict[str, bytes]:
    """Return the plain files of an archive by their names; raise ValueError for one that is larger than any study's."""
    found: dict[str, bytes] = {}
    with tarfile.open(fileobj=io.BytesIO(content), mode="r:xz") as archive:
        for number, member in enumerate(archive):
            if number >= MOST_MEMBERS or member.size > MOST_BYTES:
                msg = "it is larger than any study's"
                raise ValueError(msg)
            file = archive.extractfile(member) if member.isreg() else None
            if file is not None:
                found[member.name] = file.read()
    return found


def _judged(
    members: Mapping[str, bytes], state: PointState, known: PointOutcome, records: Mapping[str, dict[str, Record]]
) -> PointOutcome:
    """Return a point with its outcome and what was traced, where its comparison is in the file."""
    if not state.comparison:
        return known if known.reason else msgspec.structs.replace(known, reason=NOT_BEGUN)
    mine = records[state.comparison]
    outcome = _outcome(members, state.comparison, mine)
    traced = profiles_of(outcome, list(mine.values())) if known.point.request.traced else []
    return msgspec.structs.replace(known, outcome=outcome, profiles=traced)


def _outcome(members: Mapping[str, bytes], name: str, records: dict[str, Record]) -> Outcome:
    """Return the outcome of one comparison from its records and certificates."""
    comparison = decoded(members[f"{name}/{COMPARISON_FILE}"], Comparison)
    certificates = decoded(members[f"{name}/{CERTIFICATES_FILE}"], dict[str, Certificate])
    end = json.loads(members.get(f"{name}/{END_FILE}", b"{}")).get("reason", "")
    found = Records(records=records, damaged=[])
    return marked(assess(comparison, found, Path(name), end, certificates))


def _records(members: Mapping[str, bytes], name: str) -> dict[str, Record]:
    """Return the records of a comparison by the names of their trials."""
    records: dict[str, Record] = {}
    for path, content in sorted(members.items()):
        if path.startswith(f"{name}/") and path.endswith(f"/{RECORD_FILE}"):
            record = unsealed(content, Path(path))
            records[record.trial.name] = record
    return records
