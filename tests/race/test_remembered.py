"""By what a record is remembered: whatever its outcome could depend on makes it another one."""

from __future__ import annotations

from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.explaining.conftest import planned
from tests.explaining.test_causes import record

from bakeoff.judge.light import PeakKey
from bakeoff.race.remembered import digest, name_of, saw_these_variables, setting_of
from bakeoff.race.stages import certify, late, peaks
from bakeoff.spec.per_sample import PerSample

if TYPE_CHECKING:
    from bakeoff.spec.comparison import ContenderPlan

CODE = ("measure/*.py",)
OF_TRIAL: dict[str, Any] = {
    "workload_sha256": "2",
    "steps_sha256": "2",
    "scenario": "infer",
    "size": "reduced",
    "batch_size": 64,
    "joined": 2,
    "pass_steps": 3,
    "per_sample": PerSample(max_norm=2.0),
    "framework_sha256": "2",
}
OF_RECORD: dict[str, Any] = {
    "machine": {"cores": 4},
    "python": "3.13.1",
    "versions": {"torch": "2.14.0"},
    "inherited": {"OMP_NUM_THREADS": "1"},
}
OF_CONTENDER: dict[str, Any] = {"framework": "jax", "options": {"threads": "2"}}


def test_a_reading_holds_for_its_own_setting_alone() -> None:
    """Each fact of its trial, contender, machine and environment, and bakeoff's code, makes it another reading."""
    before = record("torch")
    trial, contender = before.trial, before.trial.contender
    others = [msgspec.structs.replace(trial, **{name: value}) for name, value in OF_TRIAL.items()]
    others += [
        msgspec.structs.replace(trial, contender=msgspec.structs.replace(contender, **{name: value}))
        for name, value in OF_CONTENDER.items()
    ]
    records = [before, *(msgspec.structs.replace(before, trial=other) for other in others)]
    records += [msgspec.structs.replace(before, **{name: value}) for name, value in OF_RECORD.items()]
    names = [digest(setting_of(one, CODE)) for one in records] + [digest(setting_of(before, ("stats/*.py",)))]
    assert len(set(names)) == len(names)
    same = msgspec.structs.replace(trial, name="r09-torch", round_number=9, comparison="another")
    assert digest(setting_of(msgspec.structs.replace(before, trial=same), CODE)) == names[0]


def test_a_trial_that_is_not_run_yet_is_named_by_all_that_it_will_have(monkeypatch: pytest.MonkeyPatch) -> None:
    """Packages, variables that are set and that are the user's, the framework, bakeoff's code and the trial's facts."""
    plan = msgspec.structs.replace(planned("torch"), packages_sha256="1", watched=["WATCHED_*"])
    others = [{"packages_sha256": "2"}, {"variables": {"NAME": "1"}}, {"contender": planned("jax").contender}]
    names = [name_of(CODE, msgspec.structs.replace(plan, **changed), ["x"]) for changed in ({}, *others)]
    names += [name_of(("stats/*.py",), plan, ["x"]), name_of(CODE, plan, ["y"])]
    monkeypatch.setenv("WATCHED_ONE", "1")
    names.append(name_of(CODE, plan, ["x"]))
    assert len(set(names)) == len(names)
    assert name_of(CODE, msgspec.structs.replace(plan, packages_sha256=""), ["x"]) == ""


def test_what_ran_with_other_variables_is_not_remembered_for_these(monkeypatch: pytest.MonkeyPatch) -> None:
    """A comparison may go on with a variable that its first trials did not have, or without one of theirs."""
    plan = msgspec.structs.replace(
        planned("torch"), watched=["WATCHED_*", "GLIBC_TUNABLES"], variables={"WATCHED_0": "1"}
    )
    before = record("torch")
    monkeypatch.setenv("WATCHED_0", "of the trial itself")
    monkeypatch.setenv("GLIBC_TUNABLES", "glibc.malloc.check=0")
    assert saw_these_variables(before, plan)
    assert not saw_these_variables(msgspec.structs.replace(before, inherited={"WATCHED_ONE": "1"}), plan)
    monkeypatch.setenv("WATCHED_ONE", "1")
    assert not saw_these_variables(before, plan)
    assert saw_these_variables(msgspec.structs.replace(before, inherited={"WATCHED_ONE": "1"}), plan)


def of_trial(**changed: Any) -> tuple[Any, ContenderPlan]:
    """Give a state whose next trial, data, machine and contender's options are changed, and the contender's plan."""
    comparison = {"data": SimpleNamespace(sha256=changed.pop("data", "1")), "machine": changed.pop("machine", {})}
    comparison |= {"procedure": SimpleNamespace(seed=changed.pop("procedure_seed", 0))}
    comparison |= {"numbers_sha256": changed.pop("numbers_sha256", "1")}
    options = changed.pop("options", {})
    spec = msgspec.structs.replace(record("torch").trial, workload_sha256="1", framework_sha256="1")
    trial = SimpleNamespace(spec=msgspec.structs.replace(spec, **changed))
    plan = msgspec.structs.replace(planned("torch"), packages_sha256="1")
    contender = msgspec.structs.replace(plan.contender, options=options)
    specs = SimpleNamespace(trial=lambda plan, purpose: trial)
    return (
        SimpleNamespace(specs=specs, comparison=SimpleNamespace(**comparison)),
        msgspec.structs.replace(plan, contender=contender),
    )


def test_a_program_in_float64_is_remembered_for_its_own_question_alone() -> None:
    """Each part of what is computed, and whether it is the reference; where a part is unknown, it is not remembered."""
    asked = {name: value for name, value in OF_TRIAL.items() if name != "pass_steps"}
    asked |= {"seed": 7, "certify_steps": 9, "spreads": ["float32"], "shards": 2, "data": "2", "numbers_sha256": "2"}
    asked |= {"machine": {"cores": 4}, "options": {"threads": "2"}}
    names = [named(), named(purpose="reference"), *(named(**{name: value}) for name, value in asked.items())]
    assert len(set(names)) == len(names)
    assert all(names)
    assert not any(named(**{source: ""}) for source in ("workload_sha256", "framework_sha256", "data"))


def named(**changed: Any) -> str:
    """Give the name of a program with something changed."""
    state, plan = of_trial(**({"purpose": "program"} | changed))
    return certify._name(state, plan, state.specs.trial(plan, "program"))


def test_late_steps_hold_for_the_same_training_alone() -> None:
    """Up to the same step, on the same data in the same order, with the same constants, by the same clock."""
    mine = record("torch")
    others: list[dict[str, Any]] = [{"data": "2"}, {"procedure_seed": 7}, {"numbers_sha256": "2"}]
    names = [late._name(of_trial()[0], mine, 100), late._name(of_trial()[0], mine, 300)]
    names += [late._name(of_trial(**changed)[0], mine, 100) for changed in others]
    names.append(late._name(of_trial()[0], msgspec.structs.replace(mine, clock="virtual"), 100))
    assert len(set(names)) == len(names)


def test_a_peak_is_of_one_machine_place_and_framework_and_of_no_workload() -> None:
    """The best reading of others is looked for on the same machine, device, precision and threads alone."""
    mine, place = record("torch"), PeakKey("cpu", "float32", "2")
    places = [place, *(place._replace(**{name: "other"}) for name in PeakKey._fields)]
    kinds = [peaks._kind(mine, one) for one in places]
    kinds += [
        peaks._kind(msgspec.structs.replace(mine, **one), place) for one in ({"machine": {"cores": 4}}, {"clock": "v"})
    ]
    assert len(set(kinds)) == len(kinds)
    contender = mine.trial.contender
    trials = [msgspec.structs.replace(mine.trial, framework_sha256="2")]
    trials += [
        msgspec.structs.replace(mine.trial, contender=msgspec.structs.replace(contender, **{name: value}))
        for name, value in OF_CONTENDER.items()
    ]
    others = [msgspec.structs.replace(mine, trial=trial) for trial in trials]
    others += [msgspec.structs.replace(mine, **{name: OF_RECORD[name]}) for name in ("python", "versions", "inherited")]
    names = [peaks._name(one) for one in (mine, *others)]
    assert len(set(names)) == len(names)
    elsewhere = msgspec.structs.replace(mine.trial, workload_sha256="2", batch_size=64)
    assert peaks._name(msgspec.structs.replace(mine, trial=elsewhere)) == names[0]
