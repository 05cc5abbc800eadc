"""Table 7 of Dai et al.: speeds on several devices, and communication overheads, published beside measured."""

from __future__ import annotations

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_reproduced import section_of
from tests.report.shown import data_of

from bakeoff.judge.reproduction import pairs
from bakeoff.judge.scaling import Scaling
from bakeoff.judge.study import PointOutcome, StudyOutcome
from bakeoff.report.pages import page_of
from bakeoff.spec.verdict import Interval
from bakeoff.study.published import load
from bakeoff.study.reproduction import declare

ROWS = {f"{name}, {n} GPU{'s' if n > 1 else ''}": f"{label}:devices={n}"
        for name, label in (("TensorFlow", "tensorflow"), ("PyTorch", "torch")) for n in (1, 2, 4)}  # fmt: skip
GONE = {label: "4 want a core each" for label in ROWS.values() if label.endswith("4")}
OURS = Interval(estimate=0.08, low=-0.01, high=0.17)


def table7() -> StudyOutcome:
    """Make its outcome on a processor, with an overhead of PyTorch on two devices."""
    made = study("dai2022-table7", ROWS, GONE, scaled=True, device="cpu")
    return msgspec.structs.replace(made, points=[with_overhead(one) for one in made.points])


def with_overhead(point: PointOutcome, overhead: Interval | None = OURS) -> PointOutcome:
    """Return a point whose outcome knows how PyTorch scales; its ratio of step times, one over two, is 0.9."""
    assert point.outcome is not None
    known = Scaling(
        label="torch:devices=2",
        single="torch:devices=1",
        devices=2,
        threads="1",
        samples_per_s=1234.0,
        verdict=msgspec.structs.replace(point.outcome.verdicts[0], ratio=0.9),
        efficiency=None,
        efficiency_estimate=None,
        overhead=overhead,
        straggling=None,
    )
    return msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, scalings=[known]))


def test_overheads_stand_beside_the_printed_ones() -> None:
    """Each row on several devices has the document's overhead and ours with its interval, or that there is none."""
    (table,) = section_of(table7(), "Communication overhead").tables
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert cells["resnet50, PyTorch, 2 GPUs"] == ["4.756", "8.0", "-1.0 to 17.0", "1,230"]
    assert cells["resnet50, TensorFlow, 4 GPUs"] == ["2.379", "not measured", "", ""]
    assert cells["inceptionv3, PyTorch, 2 GPUs"][0] == ""
    ours = {(one["comparison"], one["row"]): one for one in data_of(table7())["overheads"]}
    assert len(ours) == 5 * 4
    known = ours["vgg16", "PyTorch, 2 GPUs"]
    assert (known["published"], known["overhead"]) == (pytest.approx(0.03608), 0.08)
    assert known["overhead_interval"] == [-0.01, 0.17]
    assert ours["vgg16", "PyTorch, 4 GPUs"]["hole"] == "4 want a core each"
    assert ours["vgg16", "TensorFlow, 2 GPUs"]["hole"] == "not raced beside one device"


def test_an_overhead_without_an_interval_is_one_so_far() -> None:
    """With too few rounds there is the ratio so far, which says that it has no interval."""
    made = study("dai2022-table7", ROWS, GONE, scaled=True, device="cpu")
    early = msgspec.structs.replace(made, points=[with_overhead(one, None) for one in made.points])
    (table,) = section_of(early, "Communication overhead").tables
    cells = {line.cells[0]: line.cells[1:] for line in table.lines}
    assert cells["vgg16, PyTorch, 2 GPUs"] == ["3.608", "10.0 so far", "no interval yet", "1,230"]


def test_rows_are_held_against_those_on_as_many_devices() -> None:
    """A pair is of two frameworks on as many devices, in a table of its own; the ratio there is that of their steps."""
    made = table7()
    published = load("dai2022-table7")
    found = {(one.comparison, one.first, one.second): one.published for one in pairs(made, published)}
    assert len(found) == 5 * 3 - 2  # InceptionV3 is blank for PyTorch on several
    assert found["resnet50", "PyTorch, 4 GPUs", "TensorFlow, 4 GPUs"] == pytest.approx(1440.03 / 1316.561)
    titles = [section.title for section in page_of(made).sections if section.title.startswith("resnet50")]
    assert [title.rpartition(", on ")[2] for title in titles] == ["1 device", "2 devices", "4 devices"]


def test_a_comparison_may_have_a_contender_of_its_own_for_a_row() -> None:
    """TensorFlow's GNMT ran with a parameter server there, and nothing else did."""
    points = {one.title: one for one in declare(load("dai2022-table7"), device="cuda", full=True).points}
    assert points["gnmt"].rows["TensorFlow, 4 GPUs"] == "tensorflow:devices=4,sync=parameter-server"
    assert points["resnet50"].rows["TensorFlow, 4 GPUs"] == "tensorflow:devices=4"
    scaled = declare(load("dai2022-table7"), device="cpu").points[0]
    assert "runs 1 and 2 replicas" in scaled.left_out["torch:devices=4"]


def test_another_network_confirms_nothing() -> None:
    """Where the document's network is another one, a ranking is inconclusive for that reason, whatever was measured."""
    rows = {"loop": "tensorflow", "vmap": "torch"}
    made = study("pytorch-per-sample-grads", rows, {}, scaled=False, device="cpu")
    (pair,) = pairs(made, load("pytorch-per-sample-grads"))
    assert pair.published == pytest.approx(88.86 / 8.64)
    assert (pair.ranking, pair.reason) == ("inconclusive", "other hardware, another network")
    (table,) = (section.tables[0] for section in page_of(made).sections if section.title.startswith("mnist-cnn"))
    assert table.lines[0].cells[:3] == ["vmap", "8.64 ms a step", "8.64 ms"]


def test_relations_of_times_have_no_step() -> None:
    """Figures that are so many times another one have a ratio, and no time of a step."""
    rows = {"hooks, CPU": "tensorflow", "functorch, CPU": "torch"}
    made = study("opacus-pr497", rows, {}, scaled=True, device="cpu")
    found = [section.tables[0] for section in page_of(made).sections if section.title.startswith("cnn-cifar10")]
    cells = {line.cells[0]: line.cells for line in found[0].lines}
    assert cells["functorch, CPU"][1:3] == ["1.5 times", ""]
    assert {one["published_step_s"] for one in data_of(made)["lines"]} == {None}
