"""Suspects that are raced: planted causes of the scripted framework, from a gap to confirmed or refuted."""

from __future__ import annotations

import shutil
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pytest
from tests.explaining.conftest import gap
from tests.race.conftest import race, request_of  # noqa: F401 - fixtures
from tests.race.inline import InlineWorker
from tests.report.conftest import outcome

from bakeoff.judge.checks import Checks, Link, read_checks, write_checks
from bakeoff.judge.explained import explain
from bakeoff.judge.explanation import Cause, Explanation
from bakeoff.race import conductor, counterfactual, forecast_why
from bakeoff.race.counterfactual import check, gaps_to_fastest
from bakeoff.race.progress import Event, TrialEnded
from bakeoff.race.stages import explain as stage
from bakeoff.spec.errors import StoreError
from bakeoff.store.files import write_end

ROUNDS = 3
"""The fewest that have an interval: what is planted is large beside the scripted noise."""

PARTS = "convolution/forward/stem/6;normalisation/forward/stem/2;optimiser/optimiser//1;idle///1"
SCRIPT = f"threads=1,step_ms=2,noise=0.001,part_noise=0.001,parts={PARTS}"


@pytest.fixture
def checked(request_of: Any, monkeypatch: pytest.MonkeyPatch) -> Any:  # noqa: F811
    """Give a function that races contenders and their suspects in few rounds; noise is the same every time.

    Where the time budget is spent, suspects are noted and not raced.
    """
    seeds, drawn = count(7), np.random.default_rng
    monkeypatch.setattr(np.random, "default_rng", lambda seed=None: drawn(next(seeds) if seed is None else seed))
    monkeypatch.setattr(stage, "ROUNDS", ROUNDS)
    monkeypatch.setattr(counterfactual, "ROUNDS", ROUNDS)

    def run(*contenders: str) -> Explanation:
        request = request_of(*contenders, max_rounds=ROUNDS)
        outcome = conductor.run(request, launch=InlineWorker, probe_s=0.001, also=[stage.wanted])
        folder = Path(outcome.path)
        check(explain(folder), msgspec.structs.replace(request, budget_s=1.0), launch=InlineWorker)
        assert all("not run to its end" in one.reason and one.saved_s is None for one in explain(folder).suspects)
        check(explain(folder), request, launch=InlineWorker, probe_s=0.001)
        return explain(folder)

    return run


@pytest.mark.by_turns
def test_a_planted_part_is_row_one_and_confirmed(checked: Any) -> None:
    """Turned back it saves what was planted, the row is gone in the second profile, and the control has not moved."""
    found = checked(f"fake:{SCRIPT}", f"fake:{SCRIPT},planted_ms=0.5")
    one, control = found.suspects
    assert (one.row.kind, one.row.phase, one.switch) == ("data movement", "backward", "planted_ms=0")
    assert one.status == "confirmed", one.reason
    assert one.at_most_s == pytest.approx(0.0005, rel=0.05)
    assert one.saved_s.low < 0.0005 < one.saved_s.high or one.saved_s.estimate == pytest.approx(0.0005, rel=0.02)
    assert one.ratio.estimate == pytest.approx(1.0, abs=0.01)
    assert one.row_after_s == 0.0
    assert (control.is_control, control.saved_s.estimate) == (True, pytest.approx(0.0, abs=1e-5))
    assert control.reason.startswith("it has not moved")


def test_a_switch_that_saves_nothing_refutes_its_suspect(checked: Any) -> None:
    """What two contenders differ in first is turned first, and here it is not what costs the time."""
    found = checked(f"fake:{SCRIPT}", f"fake:{SCRIPT},planted_ms=0.5,input_ms=3")
    one, control = found.suspects
    assert one.switch == "input_ms=0"
    assert one.status == "refuted", one.reason
    assert one.ratio.estimate == pytest.approx(1.25, rel=0.01)
    assert control.status == "hypothesis"
    folder = Path(found.outcome.path)
    (link,) = read_checks(folder).links
    again = explain(folder / "checks" / link.comparison)
    assert [one.label for one in again.outcome.contenders] == [
        link.first_again,
        link.second_again,
        *link.labels.values(),
    ]
    assert {profile.rounds for profile in again.profiles} == {ROUNDS}
    # Without that race its suspects are what they were before it.
    (folder / "checks" / link.comparison / "comparison.json").unlink()
    one, _ = explain(folder).suspects
    assert (one.status, one.saved_s) == ("hypothesis", None)
    assert "comparison.json" in one.reason


@pytest.mark.by_turns
def test_a_race_of_suspects_has_the_threads_that_several_devices_share(checked: Any) -> None:
    """Contenders on one device keep the threads that were shared out for another one, which is not in their race."""
    script = SCRIPT.removeprefix("threads=1,")
    found = checked(f"fake:{script}", f"fake:{script},planted_ms=0.5", f"fake:{script},devices=2")
    folder = Path(found.outcome.path)
    (link,) = read_checks(folder).links
    outcomes = found.outcome, explain(folder / "checks" / link.comparison).outcome
    before, again = ({one.plan.contender.options["threads"] for one in each.contenders} for each in outcomes)
    assert len(before) == 1
    assert again == before


def test_a_against_a_has_no_suspect_and_no_race(checked: Any) -> None:
    """Nothing is told apart, so that nothing is checked."""
    found = checked(f"fake:{SCRIPT}", f"fake:{SCRIPT}")
    assert found.suspects == []
    assert counterfactual.is_checked(Path(found.outcome.path))
    assert [path.name for path in (Path(found.outcome.path) / "checks").iterdir()] == ["checks.json"]


def test_the_gaps_that_are_checked_begin_with_the_fastest() -> None:
    """Of three contenders two gaps, and not the one between the slower two."""
    gaps = [gap(first=first, second=second) for first, second in (("a", "b"), ("a", "c"), ("b", "c"))]
    explained = Explanation(outcome=outcome([], []), profiles=[], gaps=gaps)
    assert [(one.first, one.second) for one in gaps_to_fastest(explained)] == [("a", "b"), ("a", "c")]


@pytest.mark.by_turns
def test_a_race_that_was_cut_short_goes_on(checked: Any, request_of: Any) -> None:  # noqa: F811
    """With more time the rounds that it lacks are run in its own folder."""
    contenders = f"fake:{SCRIPT}", f"fake:{SCRIPT},planted_ms=0.5"
    folder = Path(checked(*contenders).outcome.path)
    (link,) = read_checks(folder).links
    raced = folder / "checks" / link.comparison
    assert counterfactual.is_checked(folder)
    for last in raced.glob(f"r{ROUNDS:02d}-*"):
        shutil.rmtree(last)
    write_end(raced, "budget")
    assert not counterfactual.is_checked(folder)
    check(explain(folder), request_of(*contenders, max_rounds=ROUNDS), launch=InlineWorker, probe_s=0.001)
    assert [path.name for path in raced.parent.iterdir() if path.is_dir()] == [link.comparison]
    assert len(list(raced.glob(f"r{ROUNDS:02d}-*"))) == 2 + len(link.labels)
    assert counterfactual.is_checked(folder)
    assert explain(folder).suspects[0].status == "confirmed"


@pytest.mark.parametrize(("malloc", "count"), [("settled", 3), ("fresh", 3), ("keep", 2), (None, 2)])
def test_page_faults_are_turned_where_malloc_gives_memory_back(malloc: str | None, count: int) -> None:
    """Not with another system's malloc, nor where it keeps all already; the faster one's stay known."""
    contenders = [SimpleNamespace(label=label, settings={"malloc": malloc}) for label in ("slow", "quick")]
    named = [("slow", "page faults"), ("quick", "page faults"), ("slow", "denormals")]
    causes = [Cause(label=label, name=name, said="") for label, name in named]
    found = counterfactual.turned_causes(causes, SimpleNamespace(contenders=contenders), "slow")
    assert found == causes[-count:]


@pytest.mark.parametrize("at", ["certify-", "r02-"])
def test_a_race_that_was_interrupted_goes_on(checked: Any, request_of: Any, at: str) -> None:  # noqa: F811
    """Ctrl-C in the midst of it: what it has finished is not run again, and no second race begins beside it."""
    contenders = f"fake:{SCRIPT}", f"fake:{SCRIPT},planted_ms=0.5"
    request = request_of(*contenders, max_rounds=ROUNDS)
    outcome = conductor.run(request, launch=InlineWorker, probe_s=0.001, also=[stage.wanted])
    folder, ended = Path(outcome.path), []

    def interrupting(event: Event) -> None:
        ended.extend([event.name] if isinstance(event, TrialEnded) else [])
        if isinstance(event, TrialEnded) and event.name.startswith(at):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        check(explain(folder), request, interrupting, launch=InlineWorker, probe_s=0.001)
    (link,) = read_checks(folder).links
    assert (folder / "checks" / link.comparison / ended[0]).is_dir()
    assert not counterfactual.is_checked(folder)
    assert explain(folder).suspects[0].saved_s is None
    again: list[str] = []
    check(
        explain(folder),
        request,
        lambda event: again.extend([event.name] if isinstance(event, TrialEnded) else []),
        launch=InlineWorker,
        probe_s=0.001,
    )
    assert [path.name for path in (folder / "checks").iterdir() if path.is_dir()] == [link.comparison]
    assert not {*again} & {name for name in ended[:-1] if not name.startswith(at)}
    assert counterfactual.is_checked(folder)
    assert explain(folder).suspects[0].status == "confirmed"


@pytest.mark.by_turns
def test_what_a_longer_race_tells_apart_is_raced_after_all(checked: Any) -> None:
    """Suspects were noted when too few rounds told any: with more of them there is something to check."""
    folder = Path(checked(f"fake:{SCRIPT}", f"fake:{SCRIPT},planted_ms=0.5").outcome.path)
    (link,) = read_checks(folder).links
    nothing = Link(first=link.first, second=link.second, suspects=[])
    for links in ([], [nothing]):
        write_checks(folder, Checks(links=links))
        assert not counterfactual.is_checked(folder)
    noted = msgspec.structs.replace(nothing, suspects=link.suspects)
    write_checks(folder, Checks(links=[noted]))
    assert counterfactual.is_checked(folder), "what nothing turns is not asked about again and again"


@pytest.mark.by_turns
def test_a_dry_run_foresees_the_races_alone_that_are_not_done(checked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of two gaps one was raced to its end: the other's race is foreseen, and none where both are done."""
    monkeypatch.setattr(forecast_why, "ROUNDS", ROUNDS)
    planted = (f"fake:{SCRIPT},planted_ms={ms}" for ms in ("0.5", "1"))
    folder = Path(checked(f"fake:{SCRIPT}", *planted).outcome.path)
    assert forecast_why.forecast_why(folder).checks == []
    _, cut = read_checks(folder).links
    write_end(folder / "checks" / cut.comparison, "budget")
    told = forecast_why.forecast_why(folder)
    assert told.traces == 0
    assert [(one.first, one.second) for one in told.checks or []] == [(cut.first, cut.second)]


@pytest.mark.parametrize("place", ["..", ".", "../elsewhere", "/elsewhere", "race/within"])
def test_a_race_that_lies_elsewhere_is_never_read(tmp_path: Path, place: str) -> None:
    """What a stranger's file calls a race is a folder beside it, or the file is damaged."""
    write_checks(tmp_path, Checks(links=[Link(first="a", second="b", suspects=[], comparison=place)]))
    with pytest.raises(StoreError, match="is no folder beside it"):
        read_checks(tmp_path)
