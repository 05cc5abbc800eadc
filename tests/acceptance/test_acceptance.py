"""Whole acceptances with the scripted framework, in this process: honest ones pass, planted faults are refused."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.gpu.pretended import H100, PretendedGpus
from tests.race.inline import InlineWorker

from bakeoff.acceptance import checks, run
from bakeoff.acceptance.run import AcceptanceRequest, CheckEnded, CheckEvent, CheckStarted, accept
from bakeoff.acceptance.setting import Launching
from bakeoff.race import conductor
from bakeoff.race.stages import certify, peaks, rounds, selftest
from bakeoff.spec.acceptance import Acceptance, CheckResult
from bakeoff.spec.errors import StoreError, UnknownNameError, UsageError
from bakeoff.store import acceptances

FITS = "fake:sample_kib=512"
"""On a pretended GPU of 1 GiB some hundreds of samples fit, so that a search for the largest batch is short."""

Accept = Callable[..., Acceptance]


@pytest.fixture
def accepting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Accept:
    """Return a function that makes an acceptance, or some of its checks, in this process and in virtual time.

    What no check is about is left out of its races: late steps, epochs, memory, and the like.
    """
    needed = (certify.wanted, rounds.wanted, selftest.wanted, peaks.wanted)
    monkeypatch.setattr(conductor, "COMPARISON", tuple(one for one in conductor.COMPARISON if one in needed))

    def make(*contenders: str, observe: Callable[[CheckEvent], None] = lambda _: None, **asked: Any) -> Acceptance:
        fields = {"quick": True, "size": "reduced", "device": "cpu", "results": str(tmp_path / "results")} | asked
        launching = Launching(launch=InlineWorker, probe_s=0.001)
        return accept(AcceptanceRequest(contenders=contenders, **fields), observe, launching=launching).acceptance

    return make


@pytest.fixture(autouse=True)
def calm(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the machine be calm, whatever else runs beside the tests."""
    monkeypatch.setattr(checks.noise, "probe", lambda _: SimpleNamespace(calm=True))


def the(acceptance: Acceptance, key: str) -> CheckResult:
    """Return the check of this key."""
    return next(check for check in acceptance.checks if check.key == key)


def states(acceptance: Acceptance) -> dict[str, str]:
    """Return every check's state."""
    return {check.key: check.state for check in acceptance.checks}


@pytest.mark.by_turns
def test_an_honest_framework_passes_every_check_on_a_pretended_gpu(
    accepting: Accept, pretended_gpus: PretendedGpus
) -> None:
    """All eleven checks are applicable on a GPU, each with what it found, how long it took, and its records."""
    pretended_gpus.set(0, memory_total_bytes=1 << 30)
    seen: list[CheckEvent] = []
    done = accepting(FITS, device="cuda", observe=seen.append)
    assert set(states(done).values()) == {"passed"}, [(one.title, one.found) for one in done.checks]
    assert all(check.found and check.took_s is not None for check in done.checks)
    assert done.machine["gpu"] == "NVIDIA L4"
    assert done.has_passed
    started = [event for event in seen if isinstance(event, CheckStarted)]
    assert [event.number for event in started] == list(range(1, 12))
    left_s = [event.left_s for event in seen if isinstance(event, CheckStarted | CheckEnded)]
    assert left_s == sorted(left_s, reverse=True)


def test_what_a_processor_lacks_is_not_applicable(accepting: Accept) -> None:
    """No processor has TF32; an acceptance passes without that check."""
    done = accepting("fake", only=("tf32-fake", "planted-fake"))
    assert states(done)["tf32-fake"] == "not applicable"
    assert states(done)["planted-fake"] == "passed"


@pytest.mark.parametrize(
    ("options", "key", "told"),
    [
        ("wrong=tf32", "certificates-mlp-mnist", "gradients"),
        ("fault=asynchronous", "timers", "failed"),
        ("fault=idle", "timers", "failed"),
        ("step_ms=2", "bare-fake-step_ms=2", "2.000 (2.000 to 2.000)"),
        ("fault=raise,fault_at=block", "ping-pong", "a scripted failure"),
    ],
)
def test_a_planted_fault_is_refused_by_its_check(accepting: Accept, options: str, key: str, told: str) -> None:
    """A framework whose TF32 is on, whose wait does not wait, whose steps do nothing, or which bakeoff slows down."""
    found = the(accepting(f"fake:{options}", only=(key,)), key)
    assert found.state == ("inconclusive" if key == "ping-pong" else "failed")
    assert told in found.found


def test_an_impossible_step_is_refused_by_the_machines_peak(accepting: Accept) -> None:
    """The rates of work come from the race's records, which are refused, and name the peak that they are above."""
    done = accepting("fake:peak_gmacs=0.2", only=("race", "light"))
    assert (states(done)["race"], states(done)["light"]) == ("failed", "failed")
    assert "refused" in the(done, "race").found
    assert "the best measured on this machine" in the(done, "light").found


def test_peaks_that_a_race_had_no_time_for_are_measured_behind_it(
    accepting: Accept, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The rates of work need them, and the race's own budget may end with its rounds."""
    whole = conductor.COMPARISON
    monkeypatch.setattr(conductor, "COMPARISON", whole[:2])
    assert states(accepting("fake", only=("race",)))["race"] == "passed"
    monkeypatch.setattr(conductor, "COMPARISON", whole)
    found = the(accepting("fake", only=("light",)), "light")
    assert found.state == "passed"
    assert "GFLOP/s by fake" in found.found


def test_tf32_that_is_not_faster_is_refused(accepting: Accept, pretended_gpus: PretendedGpus) -> None:
    """It is raced against float32 on a GPU that has it, and on an older one it is not applicable."""
    key = "tf32-fake-reduced_factor=1"
    assert the(accepting("fake:reduced_factor=1", device="cuda", only=(key,)), key).state == "failed"
    pretended_gpus.set(0, capability="7.5")
    older = accepting("fake:reduced_factor=1", device="cuda", seed=1, only=(key, "planted-fake-reduced_factor=1"))
    assert states(older)[key] == "not applicable"
    assert states(older)["planted-fake-reduced_factor=1"] == "passed"


def test_a_certificate_that_lets_tf32_pass_is_refused(accepting: Accept, monkeypatch: pytest.MonkeyPatch) -> None:
    """The fault is found by the tolerance alone: with a wider one it gets a certificate, and the check fails."""
    monkeypatch.setattr("bakeoff.certify.tolerances.ROOM", 4000.0)
    found = the(accepting("fake", only=("planted-fake",)), "planted-fake")
    assert (found.state, found.found) == ("failed", "tf32 in the place of float32 was given a certificate")


def test_what_is_done_is_not_done_again(accepting: Accept) -> None:
    """The same command makes the checks that are missing; with `again` those that carried no answer as well."""
    first = accepting("fake", only=("light",))
    assert (states(first)["light"], states(first)["devices"]) == ("inconclusive", "not reached")
    second = accepting("fake", only=("light", "devices"))
    assert second.id == first.id
    assert the(second, "light") == the(first, "light")
    assert states(second)["devices"] == "passed"
    third = accepting("fake", only=("light", "devices"), again=True)
    assert the(third, "light").took_s != the(first, "light").took_s
    assert the(third, "devices") == the(second, "devices")


def test_checks_beyond_the_budget_are_not_reached(accepting: Accept, monkeypatch: pytest.MonkeyPatch) -> None:
    """What time is too short for waits for the next time; the acceptance has not passed."""
    real = time.monotonic

    def late(event: CheckEvent) -> None:
        if isinstance(event, CheckEnded):
            monkeypatch.setattr(run, "time", SimpleNamespace(monotonic=lambda: real() + 4000.0))

    done = accepting("fake", observe=late)
    assert list(states(done).values()) == ["passed", *["not reached"] * (len(done.checks) - 1)]
    assert not done.has_passed


def test_a_check_that_cannot_be_made_ends_no_other(accepting: Accept, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever it fails of is its outcome."""

    def broken(*_: object, **__: object) -> None:
        msg = "a bug"
        raise ZeroDivisionError(msg)

    monkeypatch.setattr(checks, "probe", broken)
    done = accepting("fake", only=("devices", "planted-fake"))
    assert the(done, "devices").state == "failed"
    assert "it could not be made: ZeroDivisionError: a bug" in the(done, "devices").found
    assert states(done)["planted-fake"] == "passed"


def test_an_interrupt_keeps_what_is_known(accepting: Accept, tmp_path: Path) -> None:
    """The checks before are on disk, the one that ran is not reached, and the next time begins with it."""

    def interrupt(event: CheckEvent) -> None:
        if isinstance(event, CheckStarted) and event.check.key == "planted-fake":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        accepting("fake", only=("devices", "planted-fake"), observe=interrupt)
    (folder,) = (tmp_path / "results").iterdir()
    known = states(acceptances.read(folder))
    assert (known["devices"], known["planted-fake"]) == ("passed", "not reached")
    assert states(accepting("fake", only=("planted-fake",)))["planted-fake"] == "passed"


def test_an_interrupted_check_is_not_reached_again(
    accepting: Accept, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ctrl-C within a check is no failure of it, and what it was before is no outcome of this time."""

    def raising(error: BaseException) -> Callable[..., None]:
        def broken(*_: object, **__: object) -> None:
            raise error

        return broken

    monkeypatch.setattr(checks, "probe", raising(OSError("broken")))
    assert states(accepting("fake", only=("devices",)))["devices"] == "failed"
    monkeypatch.setattr(checks, "probe", raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        accepting("fake", only=("devices",), again=True)
    (folder,) = (tmp_path / "results").iterdir()
    assert states(acceptances.read(folder))["devices"] == "not reached"
    path = folder / acceptances.ACCEPTANCE_FILE
    path.write_text(path.read_text().replace('"bakeoff": "', '"bakeoff": "0.0'))
    with pytest.raises(StoreError, match="begun with another bakeoff's version"):
        accepting("fake", only=("light",))


def test_the_machine_of_an_acceptance_is_that_of_its_gpu(pretended_gpus: PretendedGpus) -> None:
    """The one that is named, or has the most free memory, by its UUID; or the one that it was begun with."""
    pretended_gpus.add(H100)
    first, second = (pretended_gpus.uuid(index) for index in (0, 1))
    assert run._machine(AcceptanceRequest(device="cuda"))["gpu_uuid"] == second
    assert run._machine(AcceptanceRequest(device="cuda", gpu="0"))["gpu_uuid"] == first
    assert run._machine(AcceptanceRequest(device="cuda"), first)["gpu_uuid"] == first
    assert "gpu_uuid" not in run._machine(AcceptanceRequest(device="cpu"))


def test_another_machine_goes_on_with_nothing(accepting: Accept, tmp_path: Path) -> None:
    """Half of the checks on one machine and half on another would be about neither."""
    accepting("fake", only=("devices",))
    (folder,) = (tmp_path / "results").iterdir()
    path = folder / acceptances.ACCEPTANCE_FILE
    path.write_text(path.read_text().replace('"kernel": "', '"kernel": "another '))
    with pytest.raises(StoreError, match="begun with another kernel"):
        accepting("fake", only=("devices",))
    path.write_text(path.read_text().replace('"kernel": "another ', '"gpu_uuid": "GPU-1", "kernel": "'))
    with pytest.raises(StoreError, match="begun with another gpu_uuid"):
        accepting("fake", only=("devices",))


def test_what_cannot_be_is_refused_before_anything_starts(accepting: Accept, tmp_path: Path) -> None:
    """A name that is none, of a check or of a contender, leaves nothing behind."""
    with pytest.raises(UnknownNameError, match="unknown check 'timer'"):
        accepting("fake", only=("timer",))
    with pytest.raises(UsageError, match="unknown framework"):
        accepting("faked")
    assert not (tmp_path / "results").exists()


def test_without_a_contender_that_has_the_device_nothing_is_begun(
    accepting: Accept, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Environments for processors end it in seconds, by what to type, and not by every check that fails of the same."""
    assert pretended_gpus.uuid(0)
    monkeypatch.setattr(
        run, "lacking", lambda plans, _: {plan.contender.label: "make it: env create" for plan in plans}
    )
    with pytest.raises(UsageError, match=r"no contender can race\. fake: make it: env create"):
        accepting("fake", device="cuda")
    assert not list((tmp_path / "results").glob("acceptance-*"))


def test_who_lacks_the_device_keeps_nobody_from_being_checked(
    accepting: Accept, pretended_gpus: PretendedGpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is told once, by the check of the devices, and the others are checked without it."""
    assert pretended_gpus.uuid(0)
    monkeypatch.setattr(run, "lacking", lambda plans, _: {plans[1].contender.label: "make it: env create"})
    done = accepting(FITS, "fake:mode=compiled", device="cuda", only=("devices",))
    assert done.contenders == (FITS,)
    assert (the(done, "devices").state, "make it: env create" in the(done, "devices").found) == ("failed", True)
