"""Contenders on several devices, before anything starts: their names, their processors, and their GPUs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.gpu.pretended import H100
from tests.report.conftest import plan

from bakeoff.race import scaling
from bakeoff.race.scaling import (
    check_gpus,
    check_scaling,
    check_single,
    core_sets,
    cores_of,
    cores_of_each,
    facts_of,
    parts_of,
    scaled,
    unlike_gpus,
)
from bakeoff.spec.contender import Contender, parse_contender
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.group import SyncSupport
from bakeoff.spec.request import Request

if TYPE_CHECKING:
    from tests.gpu.pretended import PretendedGpus

    from bakeoff.spec.comparison import ContenderPlan


def planned(label: str = "fake", sync: SyncSupport | None = None, **options: str) -> ContenderPlan:
    """Give a contender's plan with these options beside the usual ones."""
    one = plan(label)
    contender = msgspec.structs.replace(one.contender, options=one.contender.options | options)
    return msgspec.structs.replace(one, contender=contender, sync=sync)


def asked(**changes: Any) -> Request:
    """Give a request for contenders that train with the batch of each device kept."""
    return Request(**({"workload": "mlp-mnist", "contenders": ("fake",)} | changes))


PROCESSES = SyncSupport(processes=True, meaning="")
MIRRORED = SyncSupport(processes=False, meaning="")
EIGHT = list(range(8))


@pytest.mark.parametrize(
    ("text", "devices", "labels"),
    [
        ("fake", (), ["fake"]),
        ("fake", (4, 2), ["fake", "fake:devices=2", "fake:devices=4"]),
        ("fake", (1, 2, 2), ["fake", "fake:devices=2"]),
        ("fake:step_ms=2", (2,), ["fake:step_ms=2", "fake:step_ms=2,devices=2"]),
        ("fake:devices=3", (2,), ["fake:devices=3"]),
    ],
)
def test_each_contender_is_raced_on_one_device_and_on_each_number(
    text: str, devices: tuple[int, ...], labels: list[str]
) -> None:
    """In ascending order, each number once; what has a number of its own keeps it."""
    found = scaled([parse_contender(text)], devices)
    assert [one.label for one in found] == labels
    if devices and "devices" not in text:
        assert [one.options["devices"] for one in found] == [str(one) for one in sorted({1, *devices})]


def test_a_name_behind_the_contender_stays_behind_it() -> None:
    """A label that tells two interpreters apart has its device where options stand."""
    one = Contender(framework="fake", label="fake (a second one)", options={})
    assert [found.label for found in scaled([one], (2,))] == ["fake (a second one)", "fake:devices=2 (a second one)"]


@pytest.mark.parametrize(
    ("counts", "wide", "cores"),
    [
        ((None,), {}, 8),
        ((None, "4"), {}, 2),
        (("2", "4"), {}, 2),
        (("3",), {}, 2),
        (("16",), {}, 1),
        ((None,), {"devices": "4"}, 2),
        (("2",), {"devices": "4"}, 4),
        (("0",), {}, 8),
        (("²",), {}, 8),
        (("two", "9" * 30), {}, 8),
    ],
)
def test_a_devices_cores_are_the_machines_shared_out(
    counts: tuple[str | None, ...], wide: dict[str, str], cores: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By the most devices of any contender, one core at least; what is no number is told later, and not here."""
    monkeypatch.setattr(scaling, "usable_cores", lambda: 8)
    contenders = [
        Contender(framework="fake", label="fake", options={} if count is None else {"devices": count})
        for count in counts
    ]
    assert cores_of_each(contenders, wide) == cores


@pytest.mark.parametrize(
    ("options", "sizes"),
    [
        ([{"threads": "1"}], []),
        ([{"devices": "2", "threads": "4"}], [4, 4]),
        ([{"devices": "2", "threads": "5"}], []),
        ([{"devices": "2", "threads": "1"}, {"threads": "5"}], []),
        ([{"devices": "2", "threads": "1"}, {"devices": "4", "threads": "2"}], [2, 2, 2, 2]),
        ([{"devices": "2", "threads": "default"}], [4, 4]),
        ([{"devices": "4", "device": "cuda"}, {"devices": "2", "threads": "4"}], [4, 4]),
        ([{"devices": "2", "device": "cuda"}], []),
        ([{"devices": "2", "threads": "4"}, {"device": "cuda", "threads": "8"}], [4, 4]),
    ],
)
def test_devices_on_processors_have_as_many_each(
    options: list[dict[str, str]], sizes: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Disjoint, and none where any contender's threads want more; who computes on GPUs has no part in that."""
    monkeypatch.setattr(scaling, "usable", lambda: EIGHT)
    found = core_sets([planned(**one) for one in options])
    assert [len(one) for one in found] == sizes
    assert len({core for one in found for core in one}) == sum(sizes)


def test_a_process_has_the_processors_of_its_devices() -> None:
    """One of several processes those of its own device, and a single process those of all its devices, in order."""
    sets = [(4, 5), (0, 1), (2, 3)]
    assert cores_of(planned(devices="2", sync=PROCESSES), sets) == ((4, 5), (0, 1))
    assert cores_of(planned(devices="2", sync=MIRRORED), sets) == ((0, 1, 4, 5),)
    assert cores_of(planned(), sets) == ((4, 5),)
    assert cores_of(planned(devices="2", device="cuda", sync=PROCESSES), sets) == ()
    assert cores_of(planned(), []) == ()


@pytest.mark.parametrize(
    ("options", "changes", "said"),
    [
        ({"tier": "native"}, {}, "leave devices or tier=native out"),
        ({"device": "mps"}, {}, "a Mac has one GPU"),
        ({"input": "pipeline"}, {}, "input=pipeline cannot be"),
        ({}, {"scaling": "strong"}, "valid: a multiple of 2"),
        ({}, {"epochs": 2}, "name --steps"),
    ],
)
def test_what_a_contender_on_two_devices_cannot_have_is_named(
    options: dict[str, str], changes: dict[str, Any], said: str
) -> None:
    """With a batch of 5 samples, which two devices do not share; on one device all of it can be had."""
    with pytest.raises(UsageError, match=f"fake.*{said}"):
        check_scaling(asked(**changes), [planned(devices="2", **options)], "train", 5)
    if "scaling" not in changes:
        check_scaling(asked(**changes), [planned(**options)], "train", 5)


def test_what_two_devices_can_be_asked_is_not_refused() -> None:
    """One contender of two on several is enough for a shared batch that they divide; epochs may be named by steps."""
    two = planned(devices="2", input="resident")
    check_scaling(asked(scaling="strong"), [planned(), two], "train", 6)
    check_scaling(asked(epochs=2, steps=10), [two], "train", 5)
    check_scaling(asked(), [planned()], "infer", 5)
    with pytest.raises(UnknownNameError):
        check_scaling(asked(scaling="sideways"), [two], "train", 6)
    with pytest.raises(UsageError, match="every contender has one"):
        check_scaling(asked(scaling="strong"), [planned()], "train", 6)


def test_parts_of_a_shared_batch_are_those_that_devices_normalise_alone() -> None:
    """Twelve samples on two devices and on four; not where statistics are of all devices, or each has a batch."""
    plans = [
        planned(),
        planned(devices="4"),
        planned(devices="2"),
        planned(devices="2", batch_statistics="local"),
        planned(devices="3", batch_statistics="global"),
    ]
    assert parts_of("strong", plans, 12) == [3, 6]
    assert parts_of("weak", plans, 12) == []


def test_a_search_refuses_any_contender_on_several_devices() -> None:
    """Also where it is the only one."""
    check_single([planned(), planned()])
    with pytest.raises(UsageError, match="second: --max-batch"):
        check_single([planned(), planned("second", devices="2")])


def test_as_many_gpus_as_there_are_may_be_asked_for(pretended_gpus: PretendedGpus) -> None:
    """Two of two, and not three; processors are no GPUs."""
    pretended_gpus.add(uuid="GPU-second")
    on_cuda = {"device": "cuda"}
    check_gpus([planned(devices="2", **on_cuda), planned(devices="3")])
    with pytest.raises(UsageError, match="third needs 3 GPUs, and 2 may be taken here; valid: devices up to 2"):
        check_gpus([planned(devices="2", **on_cuda), planned("third", devices="3", **on_cuda)])


def test_who_lacks_gpus_is_named_and_not_who_has_as_many_processors(pretended_gpus: PretendedGpus) -> None:
    """A contender on two processors' shares, which stands first, needs no GPU."""
    assert pretended_gpus.uuid(0)
    with pytest.raises(UsageError, match="second needs 2 GPUs, and 1 may be taken here"):
        check_gpus([planned("first", devices="2"), planned("second", devices="2", device="cuda")])


def test_several_devices_train_and_are_as_many_as_there_are(pretended_gpus: PretendedGpus) -> None:
    """Inference on two devices is refused by the contender's name, and so are GPUs that are not there."""
    assert pretended_gpus.uuid(0)
    with pytest.raises(UsageError, match="second: on several devices contenders train, and infer does not"):
        check_scaling(asked(), [planned(), planned("second", devices="2")], "infer", 6)
    with pytest.raises(UsageError, match="second needs 2 GPUs"):
        check_scaling(asked(), [planned(), planned("second", devices="2", device="cuda")], "train", 6)


def test_where_no_contender_is_on_several_gpus_none_are_counted() -> None:
    """No driver is asked, also where there is none."""
    check_gpus([planned(device="cuda"), planned(devices="2")])


def test_the_gpus_of_a_contender_are_told_with_what_links_them(pretended_gpus: PretendedGpus) -> None:
    """Where it has several; of one there is nothing to tell beside its own facts."""
    pretended_gpus.add(uuid="GPU-second")
    uuid = pretended_gpus.uuid(0)
    alone, both = (facts_of(uuid, [planned(device="cuda", devices=devices)]) for devices in ("1", "2"))
    assert "gpu_links" not in alone
    assert both == alone | {"gpu_links": both["gpu_links"]}
    assert "gpu_links" not in facts_of(uuid, [planned(devices="2"), planned(device="cuda")])


def test_gpus_of_several_models_are_told_where_a_contender_is_on_them(pretended_gpus: PretendedGpus) -> None:
    """The third one, which no contender takes, is none of them; of one model, or one GPU, nothing is said."""
    pretended_gpus.add(uuid="GPU-second")
    pretended_gpus.add(H100)
    machine = {"gpu_uuid": pretended_gpus.uuid(0)}
    assert unlike_gpus([planned(device="cuda", devices="2")], machine) == []
    assert unlike_gpus([planned(devices="3"), planned(device="cuda")], machine) == []
    (said,) = unlike_gpus([planned(device="cuda", devices="3")], machine)
    assert said.startswith("the 3 GPUs are of several models, NVIDIA L4, NVIDIA H100 80GB HBM3: a step")
