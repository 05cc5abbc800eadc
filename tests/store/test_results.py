from __future__ import annotations

from pathlib import Path
from typing import Any, get_args

import msgspec
import pytest

from bakeoff.spec.comparison import RULES, Comparison, ContenderPlan, Procedure, Search
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import ChangedError, StoreError, UnknownNameError, UsageError
from bakeoff.spec.per_sample import PerSample
from bakeoff.spec.record import Record, TrialOutcome
from bakeoff.spec.trial import Inputs
from bakeoff.store import searches
from bakeoff.store.files import write_comparison, write_record
from bakeoff.store.results import comparisons, find, is_done_again, read_records, take_up
from bakeoff.store.resuming import check_same_machine, continued, latest_like
from bakeoff.store.searches import write_search
from bakeoff.workloads.load import load


def named(record: Record, name: str) -> Record:
    """Return the record with the name of another trial."""
    return msgspec.structs.replace(record, trial=msgspec.structs.replace(record.trial, name=name))


@pytest.fixture
def results(tmp_path: Path, comparison_of: Any) -> Path:
    """Make a results directory with three comparisons, the second of them the latest, and other things beside them."""
    for name, month in (("mlp-mnist-aaaa", 1), ("mlp-mnist-bbbb", 3), ("cnn-apx-cccc", 2)):
        write_comparison(tmp_path / name, comparison_of(id=name, created_at=f"2026-0{month}-01T00:00:00.000000+00:00"))
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes.txt").touch()
    return tmp_path


def test_comparisons_are_in_the_order_of_their_making(results: Path) -> None:
    """They are told oldest first; what is no comparison is passed over."""
    assert [folder.name for folder in comparisons(results)] == ["mlp-mnist-aaaa", "cnn-apx-cccc", "mlp-mnist-bbbb"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        (None, "mlp-mnist-bbbb"),
        ("cnn-apx-cccc", "cnn-apx-cccc"),
        ("aaaa", "mlp-mnist-aaaa"),
        ("bbbb", "mlp-mnist-bbbb"),
    ],
)
def test_a_comparison_is_found_by_its_name(results: Path, name: str | None, found: str) -> None:
    """By its id, by the end of its id, or as the latest."""
    assert find(results, name).name == found


def test_a_comparison_is_found_by_its_path(results: Path, tmp_path: Path) -> None:
    """Wherever it lies."""
    assert find(tmp_path / "elsewhere", str(results / "cnn-apx-cccc")) == results / "cnn-apx-cccc"


def test_an_unknown_comparison_is_told(results: Path) -> None:
    """A name that nothing answers to lists those that are there; a directory without any says how to make one."""
    with pytest.raises(UnknownNameError, match="unknown comparison 'mlp-mnist-aaab'; did you mean 'mlp-mnist-aaaa'"):
        find(results, "mlp-mnist-aaab")
    with pytest.raises(UsageError, match=r"no comparison in .*notes: run one first"):
        find(results / "notes")


def test_a_name_without_any_comparison_is_told_with_it(results: Path) -> None:
    """So that a slip in --results is not taken for one in the name."""
    with pytest.raises(UsageError, match=r"no comparison in .*notes, so none is called 'aaaa': run one first"):
        find(results / "notes", "aaaa")


def test_a_name_of_several_comparisons_is_refused(results: Path, comparison_of: Any) -> None:
    """The end of two ids, or one id in two studies, names neither: both folders are told; a whole id is no end."""
    begun = {"created_at": "2026-04-01T00:00:00.000000+00:00"}
    write_comparison(results / "cnn-apx-aaaa", comparison_of(id="cnn-apx-aaaa", **begun))
    with pytest.raises(UsageError, match="'aaaa' is the name of 2 comparisons: name one by its folder: ") as refused:
        find(results, "aaaa")
    assert str(results / "cnn-apx-aaaa") in str(refused.value)
    assert str(results / "mlp-mnist-aaaa") in str(refused.value)
    assert find(results, "cnn-apx-aaaa").name == "cnn-apx-aaaa"
    for study in ("first", "second"):
        write_comparison(results / study / "vgg-dddd", comparison_of(id="vgg-dddd", **begun))
        (results / study / "study.json").write_text("{}")
    with pytest.raises(UsageError, match="'vgg-dddd' is the name of 2 comparisons"):
        find(results, "vgg-dddd")
    assert find(results, str(results / "second" / "vgg-dddd")).parent.name == "second"
    # What is called so itself counts before what ends so.
    write_comparison(results / "aaaa", comparison_of(id="aaaa", **begun))
    assert find(results, "aaaa").name == "aaaa"


def test_of_many_comparisons_the_latest_are_told(tmp_path: Path, comparison_of: Any) -> None:
    """A message names some of thousands, and the one that was meant by its likeness, however old it is."""
    for number in range(30):
        day = f"2026-01-{number + 1:02}T00:00:00.000000+00:00"
        write_comparison(tmp_path / f"x-{number:04}", comparison_of(id=f"x-{number:04}", created_at=day))
    with pytest.raises(UnknownNameError) as unknown:
        find(tmp_path, "x-0009-")
    told = str(unknown.value)
    assert told.count("x-00") == 1 + 1 + 20 + 1
    assert "did you mean 'x-0009'" in told
    assert "x-0029" in told
    assert "or one of 10 older ones" in told


def test_records_are_read_by_the_names_of_their_trials(tmp_path: Path, record_of: Any) -> None:
    """Every finished trial has its record; one that was not finished has none, and is no damage."""
    for name in ("r01-fake", "r02-fake"):
        write_record(tmp_path / name, named(record_of(), name))
    (tmp_path / "r03-fake").mkdir()
    (tmp_path / "r03-fake" / "trial.json").touch()
    found = read_records(tmp_path)
    assert (list(found.records), found.damaged) == (["r01-fake", "r02-fake"], [])


def test_reading_changes_nothing(tmp_path: Path, record_of: Any) -> None:
    """A damaged record is named with the reason as often as it is read, and stays until the comparison goes on."""
    write_record(tmp_path / "r01-fake", record_of())
    (tmp_path / "r01-fake" / "record.json").write_bytes(b"{}")
    for _ in range(2):
        (told,) = read_records(tmp_path).damaged
        assert "r01-fake/record.json is truncated or not a record" in told
    assert take_up(tmp_path) == ()
    (later,) = read_records(tmp_path).damaged
    assert later.endswith("r01-fake/record.damaged.json was set aside earlier")


ASKED: dict[str, dict[str, Any]] = {
    "batch": {"batch_size": 64},
    "size": {"size": "reduced"},
    "scenario": {"scenario": "infer"},
    "clipping": {"per_sample": PerSample(max_norm=2.0)},
    "data": {"data": Inputs(source="digits", batches=4, sha256="2")},
    "workload": {"workload": load("cnn-apx").workload},
    "contender": {"contenders": [ContenderPlan(contender=parse_contender("fake"), interpreter="", framework_path="")]},
    "margin": {"procedure": Procedure(rules=RULES, margin=0.1)},
    "seed": {"procedure": Procedure(rules=RULES, seed=7)},
    "until sure": {"procedure": Procedure(rules=RULES, aim="until-sure")},
}
"""What makes another question of it, one by one."""


def test_going_on_needs_the_same_question(results: Path, comparison_of: Any) -> None:
    """The latest comparison that asked for the same is found, however long it was to go on."""
    longer = Procedure(rules=RULES, aim="direction", max_rounds=50, budget_s=60.0)
    for same in ({}, {"id": "new"}, {"procedure": longer}):
        found = latest_like(results, comparison_of(**same))
        assert found is not None
        assert found[0] == results / "mlp-mnist-bbbb"


@pytest.mark.parametrize("what", ASKED)
def test_another_question_goes_on_with_nobody_s_records(results: Path, comparison_of: Any, what: str) -> None:
    """Neither a comparison nor a search is gone on with that asked for anything else."""
    assert latest_like(results, comparison_of(**ASKED[what])) is None
    write_search(results / "batch-aaaa", search_of(comparison_of()))
    assert searches.latest_like(results, search_of(comparison_of())) is not None
    assert searches.latest_like(results, search_of(comparison_of(**ASKED[what]))) is None


def test_another_contender_s_fault_is_another_question(tmp_path: Path, comparison_of: Any, plan_of: Any) -> None:
    """A precision that was planted in the place of the one that was asked for is none of an honest contender's."""
    honest, planted = (comparison_of(contenders=[plan_of(injected=one)]) for one in ({}, {"precision": "bfloat16"}))
    write_comparison(tmp_path / "mlp-mnist-aaaa", planted)
    assert latest_like(tmp_path, planted) is not None
    assert latest_like(tmp_path, honest) is None


def search_of(plan: Comparison, **changed: Any) -> Search:
    """Make a search for the largest batch."""
    fields: dict[str, Any] = {"limit_bytes": 8, "available_bytes": 16, "asked_bytes": 8, "precision": 0.1}
    return Search(plan=plan, **fields | changed)


@pytest.mark.parametrize("other", [{"asked_bytes": 4}, {"asked_bytes": None}, {"precision": 0.2}])
def test_a_search_within_another_limit_is_another_search(tmp_path: Path, comparison_of: Any, other: Any) -> None:
    """Attempts are taken over only where they had to keep within the same memory, and to the same precision."""
    write_search(tmp_path / "batch-aaaa", search_of(comparison_of()))
    assert searches.latest_like(tmp_path, search_of(comparison_of(), **other)) is None


def test_of_the_same_question_that_with_the_same_text_is_gone_on_with(results: Path, comparison_of: Any) -> None:
    """A later one whose workload's file was another stands back."""
    later = comparison_of(id="mlp-mnist-dddd", created_at="2026-09-01T00:00:00.000000+00:00", workload_sha256="2")
    write_comparison(results / "mlp-mnist-dddd", later)
    found = latest_like(results, comparison_of(id="new"))
    assert found is not None
    assert found[0] == results / "mlp-mnist-bbbb"


def test_going_on_with_a_changed_workload_is_refused_by_its_name(results: Path, comparison_of: Any) -> None:
    """What asked for the same with another text of the workload is found, and refused with what has changed."""
    wanted = comparison_of(id="new", workload_sha256="2")
    found = latest_like(results, wanted)
    assert found is not None
    with pytest.raises(ChangedError, match=r"the workload's file .* has changed since the comparison was fixed"):
        continued(found[1], wanted)


def test_going_on_with_a_changed_framework_is_refused_by_its_folder(comparison_of: Any, plan_of: Any) -> None:
    """A framework's folder with another hash is refused; a comparison older than the hash is not."""
    before, now, old = (comparison_of(contenders=[plan_of(framework_sha256=sha256)]) for sha256 in ("1", "2", ""))
    with pytest.raises(ChangedError, match=r"the framework's folder .* has changed since the comparison was fixed"):
        continued(before, now)
    assert continued(before, before).contenders == before.contenders
    assert continued(old, now).contenders == now.contenders


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("bakeoff run w a b --rounds 1", "bakeoff run w a b --rounds 5", "bakeoff run w a b --rounds 5"),
        ("bakeoff run w a b --budget 20s", "bakeoff run w a b", "bakeoff run w a b"),
        ("", "bakeoff run w a b", "bakeoff run w a b"),
        ("bakeoff run w a b", "", "bakeoff run w a b"),
        ("bakeoff run w a b", "bakeoff explain w a b", "bakeoff run w a b"),
    ],
)
def test_what_is_gone_on_with_is_repeated_by_its_last_command(
    comparison_of: Any, first: str, second: str, kept: str
) -> None:
    """The command says how long to go on: that of one round would repeat no race of five, nor go on with it.

    A comparison that Python or `bakeoff explain` goes on with keeps the command that began it.
    """
    assert continued(comparison_of(command=first), comparison_of(command=second)).command == kept


def test_another_machine_is_named(comparison_of: Any) -> None:
    """A fact that differs, or is new, is told with both values."""
    comparison = comparison_of()
    check_same_machine(comparison, {"processor": "one", "cores": 2})
    with pytest.raises(StoreError, match="cannot go on with mlp-mnist-1234: cores was 2 and is 4 here"):
        check_same_machine(comparison, {"processor": "one", "cores": 4})
    with pytest.raises(StoreError, match="gpu was None and is 'H200' here"):
        check_same_machine(comparison, {"processor": "one", "cores": 2, "gpu": "H200"})


def test_a_comparison_goes_on_on_its_machine_and_with_its_reference_alone(comparison_of: Any, plan_of: Any) -> None:
    """Rounds of two machines are no comparison, nor are certificates against two references."""
    before = comparison_of(reference=plan_of())
    assert continued(before, comparison_of(reference=plan_of())).id == before.id
    with pytest.raises(StoreError, match="cores was 2 and is 4 here"):
        continued(before, comparison_of(reference=plan_of(), machine={"processor": "one", "cores": 4}))
    elsewhere = plan_of(contender=parse_contender("fake:device=cuda"))
    for reference in (None, elsewhere):
        with pytest.raises(StoreError, match="its reference was fake:, and is"):
            continued(before, comparison_of(reference=reference))


def test_a_gpu_is_another_by_any_fact_that_was_read_then(comparison_of: Any) -> None:
    """A fact that was not read of it yet is none of another GPU; one that was and is another now is."""
    gpu = {"processor": "one", "gpu": "H200", "gpu_uuid": "GPU-1"}
    before = comparison_of(machine=gpu)
    check_same_machine(before, gpu | {"gpu_pcie": "5 x16"})
    with pytest.raises(StoreError, match="gpu_uuid was 'GPU-1' and is 'GPU-2' here"):
        check_same_machine(before, gpu | {"gpu_uuid": "GPU-2"})


@pytest.mark.parametrize(
    ("purpose", "again"),
    [
        ("time", {"changed"}),
        ("batch", {"timeout", "unavailable", "changed"}),
        ("certify", {"killed", "timeout", "crashed", "unavailable", "changed"}),
    ],
)
def test_what_came_to_nothing_is_done_again_but_for_what_is_an_answer(record_of: Any, purpose: Any, again: Any) -> None:
    """A lost round is counted, and a batch that ends its process is too large; what is failing goes on failing."""
    trial = msgspec.structs.replace(record_of().trial, purpose=purpose)
    ends = get_args(TrialOutcome)
    assert {outcome for outcome in ends if is_done_again(record_of(trial=trial, outcome=outcome))} == again


@pytest.mark.parametrize(("purpose", "is_again"), [("time", False), ("batch", True), ("program", True)])
def test_a_round_whose_process_somebody_has_killed_is_counted(record_of: Any, purpose: Any, *, is_again: bool) -> None:
    """As any that was lost; of a batch size it says nothing."""
    trial = msgspec.structs.replace(record_of().trial, purpose=purpose)
    assert is_done_again(record_of(trial=trial, outcome="killed", killed_by="other")) is is_again
