"""One element in this process: gone on with, begun anew on another machine, and contenders of two jobs compared."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.cluster.test_script import planned
from tests.race.conftest import race, request_of  # noqa: F401 - fixtures
from tests.race.inline import InlineWorker

from bakeoff.cli.jobs import jobs_of
from bakeoff.cluster import costs, plans, states, unpaired
from bakeoff.cluster.element import ElementRun
from bakeoff.cluster.profile import read as profile_of
from bakeoff.cluster.states import ElementState
from bakeoff.spec.errors import UsageError
from bakeoff.spec.study import Point

if TYPE_CHECKING:
    from tests.race.conftest import Race

WORDS = ("run", "mlp-mnist", "fake", "--size", "reduced", "--data", "synthetic", "--rounds", "1")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    """Return the folder of a study of one comparison."""
    plan = planned(profile_of(None), elements=jobs_of(WORDS).elements)
    folder, _ = plans.begin(tmp_path, plan)
    return folder


def ran(folder: Path, request_of: Any, **fields: Any) -> ElementState:  # noqa: F811
    """Run the one element in this process."""

    def look_up(element: plans.Element) -> Point:
        return Point(title=element.title, request=request_of("fake", max_rounds=1, **fields))

    return ElementRun(folder, plans.read(folder), 0).run(look_up, launch=InlineWorker, probe_s=0.001)


def test_an_element_is_done_once(study: Path, request_of: Any) -> None:  # noqa: F811
    """What is done is not run again, and what it took tells how long the next may take."""
    first = ran(study, request_of)
    assert (first.ended, len(first.attempts)) == ("done", 1)
    assert ran(study, request_of) == first
    (cost,) = costs.measured(study.parent)
    assert (cost.name, cost.contenders, cost.workload) == (first.comparison, 1, "mlp-mnist")
    assert cost.seconds >= 0


def test_on_another_machine_it_is_begun_anew(study: Path, request_of: Any) -> None:  # noqa: F811
    """Records of two machines are not mixed: the first comparison stays as it is, and the state says why."""
    first = ran(study, request_of)
    path = study / first.comparison / "comparison.json"
    content = json.loads(path.read_text())
    content["machine"]["processor"] = "another one"
    path.write_text(json.dumps(content))
    states.write(study, 0, msgspec.structs.replace(first, ended="interrupted"))
    second = ran(study, request_of)
    assert (second.ended, second.left) == ("done", [first.comparison])
    assert second.comparison != first.comparison
    assert "begun anew: cannot go on with" in second.reason
    assert "another one" in second.reason


def test_what_cannot_be_run_is_a_failure_with_its_reason(study: Path, request_of: Any) -> None:  # noqa: F811
    """The state has the error's words, and the next attempt begins with none of them."""
    failed = ran(study, request_of, batch_size=-1)
    assert (failed.ended, failed.comparison) == ("failed", "")
    assert failed.reason.startswith("batch size -1 cannot be")
    again = ran(study, request_of)
    assert (again.ended, again.reason, len(again.attempts)) == ("done", "", 2)


def test_a_number_that_is_no_element_is_told(study: Path) -> None:
    """With the valid ones."""
    with pytest.raises(UsageError, match="has no element 1; valid: 0 to 0"):
        ElementRun(study, plans.read(study), 1)


def test_across_jobs_there_is_a_verdict_only_where_machines_agree(race: Race) -> None:  # noqa: F811
    """Device, driver and node type decide; what differs is named, and who is not ranked is compared with nobody."""
    one, other = (race(text, max_rounds=3) for text in ("fake", "fake:step_ms=2"))
    (found,) = unpaired.pairs([one, other])
    assert (found.verdict, found.reason) == ("faster", "")
    machine = other.comparison.machine | {"gpu_driver": "580.1"}
    elsewhere = msgspec.structs.replace(other, comparison=msgspec.structs.replace(other.comparison, machine=machine))
    (refused,) = unpaired.pairs([one, elsewhere])
    assert (refused.verdict, refused.ratio) == (None, None)
    assert "device, driver and node type have to agree: gpu_driver None and 580.1" in refused.reason
    lost = [msgspec.structs.replace(contender, status="failed", reason="it died") for contender in other.contenders]
    (unranked,) = unpaired.pairs([one, msgspec.structs.replace(other, contenders=lost)])
    assert "is not ranked: it died" in unranked.reason
