from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.conftest import certificate, outcome, verdict
from tests.report.shown import data_of

from bakeoff.frameworks.fake import engine
from bakeoff.judge.ledger import Entry, ledger, marked, mismatches
from bakeoff.judge.outcome import ContenderOutcome
from bakeoff.judge.scaling import Scaling
from bakeoff.report.pages.comparison import cautions
from bakeoff.report.sections.figures import summary
from bakeoff.report.sections.settings import SETTINGS
from bakeoff.spec.comparison import ContenderPlan
from bakeoff.spec.contender import parse_contender
from bakeoff.spec.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Mapping

OPTIONS = {"mode": "eager", "precision": "float32", "device": "cpu", "threads": "2"}


def contender(text: str, inherited: Mapping[str, str] | None = None, **settings: Any) -> ContenderOutcome:
    """Make a contender whose options are in force as they were resolved, but for `settings`."""
    spoken = parse_contender(text)
    options = OPTIONS | spoken.options
    plan = ContenderPlan(
        contender=msgspec.structs.replace(spoken, label=text, options=options),
        interpreter="python",
        framework_path=spoken.framework,
        asked=spoken.options,
    )
    read = {**options, "threads": int(options["threads"]), "tf32_matmul": False} | settings
    return ContenderOutcome(plan=plan, label=text, status="ranked", settings=read, inherited=dict(inherited or {}))


def entry(key: str, *contenders: ContenderOutcome) -> Entry:
    """Give one line of the ledger."""
    (found,) = [one for one in ledger(contenders) if one.key == key]
    return found


def test_what_agrees_is_the_same() -> None:
    """Contenders with the same settings have nothing that differs, and no mismatch."""
    both = (contender("torch"), contender("jax"))
    assert {one.kind for one in ledger(both)} == {"same"}
    assert mismatches(both) == []


def test_what_the_user_asked_for_is_asked() -> None:
    """An option of a contender's text explains a difference, and what hangs on it."""
    both = (contender("torch"), contender("torch:threads=1"))
    assert entry("threads", *both).kind == "asked"
    tf32 = (contender("torch"), contender("torch:device=cuda", tf32_matmul=True))
    assert entry("tf32_matmul", *tf32).kind == "asked"


def test_defaults_and_own_switches_are_nature() -> None:
    """Frameworks' defaults, layouts and optimisers differ by their nature."""
    torch, jax = contender("torch", layout="NCHW"), contender("jax", layout="NHWC")
    assert entry("layout", torch, jax).kind == "nature"
    assert entry("layout", torch, jax).values == {"torch": "NCHW", "jax": "NHWC"}


def test_an_option_that_is_left_to_the_framework_is_held_against_nothing() -> None:
    """A value that says "default" is what the framework does; two of the same framework must still do the same."""
    torch, jax = contender("torch:onednn=default", onednn="on"), contender("jax:onednn=default", onednn="off")
    assert entry("onednn", torch, jax).kind == "asked"
    assert entry("onednn", contender("torch:onednn=off", onednn="on"), jax).strays == ("torch:onednn=off",)
    again = contender("torch:onednn=default", onednn="off")
    assert entry("onednn", torch, again).kind == "mismatch"


def test_an_option_that_is_not_in_force_is_a_mismatch() -> None:
    """Threads read back are held against those that were set, also where all contenders agree."""
    torch, jax = contender("torch", threads=1), contender("jax", threads=1)
    found = entry("threads", torch, jax)
    assert (found.kind, found.strays) == ("mismatch", ("torch", "jax"))
    assert entry("threads", torch, contender("jax")).strays == ("torch",)


@pytest.mark.parametrize("key", ["tf32_matmul", "tf32_convolution", "accumulation"])
def test_arithmetic_of_one_only_is_a_mismatch(key: str) -> None:
    """With the same precision and device, TF32 or another accumulation in one is named; of two, both are."""
    three = [contender(name, **{key: name == "jax"}) for name in ("torch", "jax", "tensorflow")]
    assert entry(key, *three).strays == ("jax",)
    assert entry(key, *three[:2]).strays == ("torch", "jax")


def test_the_same_contender_twice_must_agree() -> None:
    """A switch that differs between two contenders of one framework with the same options is nobody's wish."""
    first, second = contender("torch", onednn=True), contender("torch", onednn=False)
    assert entry("onednn", first, second).kind == "mismatch"


@pytest.mark.parametrize("text", ["torch@old", "torch:threads=1"])
def test_contenders_that_differ_on_purpose_may_have_other_switches(text: str) -> None:
    """Another environment of the same framework, or another option of it, explains what it does otherwise."""
    found = entry("onednn", contender("torch", onednn=True), contender(text, onednn=False))
    assert (found.kind, found.strays) == ("asked", ())


@pytest.mark.parametrize("text", ["torch:precision=bfloat16", "torch:device=cuda"])
@pytest.mark.parametrize(("is_asked", "kind"), [(True, "asked"), (False, "nature")])
def test_another_arithmetic_explains_what_follows_from_it(text: str, kind: str, *, is_asked: bool) -> None:
    """TF32 follows from precision and device: the user's own wish, or what a framework does by itself."""
    other = contender(text, tf32_matmul=True)
    if not is_asked:
        other = msgspec.structs.replace(other, plan=msgspec.structs.replace(other.plan, asked={}))
    found = entry("tf32_matmul", contender("torch"), other)
    assert (found.kind, found.strays) == (kind, ())


def test_an_option_that_nobody_named_differs_by_nature() -> None:
    """Each framework's own mode is its nature, and asked for only where somebody has said so."""
    graph = contender("jax:mode=graph")
    assert entry("mode", contender("torch"), graph).kind == "asked"
    by_itself = msgspec.structs.replace(graph, plan=msgspec.structs.replace(graph.plan, asked={}))
    assert entry("mode", contender("torch"), by_itself).kind == "nature"


def test_every_contender_that_strays_is_named_whatever_the_others_do() -> None:
    """One that refuses its option hides no two whose own values differ; and one that has it is no stray beside it."""
    refusing = contender("torch:onednn=on", onednn="off")
    first, second = (contender("torch:onednn=default", onednn=value) for value in ("on", "off"))
    second = msgspec.structs.replace(second, label="torch (2)")
    assert entry("onednn", refusing, first, second).strays == (refusing.label, first.label, "torch (2)")
    assert entry("threads", contender("torch", threads=1), renamed(contender("torch"))).strays == ("torch",)


def renamed(one: ContenderOutcome) -> ContenderOutcome:
    """Return the same contender for the second time."""
    return msgspec.structs.replace(one, label=f"{one.label} (2)")


def test_a_mark_follows_its_contender_everywhere() -> None:
    """In verdicts on either side, in scalings on either side, and in its certificate; an unmarked one stays itself."""
    strange, plain = (msgspec.structs.replace(one, certificate=certificate(one.label)) for one in ONE_REFUSES)
    pairs = [verdict(strange.label, plain.label, "equal", 1.0, 0.99, 1.01)]
    both = [
        Scaling(label=one, single=other, verdict=pairs[0], **UNKNOWN)
        for one, other in ((strange.label, plain.label), (plain.label, strange.label))
    ]
    told = marked(outcome([strange, plain], pairs, scalings=both))
    name = "torch [threads=1]"
    assert [(one.label, one.certificate and one.certificate.contender) for one in told.contenders] == [
        (name, name),
        ("jax", "jax"),
    ]
    assert [(one.first, one.second) for one in told.pairs] == [(name, "jax")] * 3
    assert [(one.label, one.single) for one in told.scalings] == [(name, "jax"), ("jax", name)]


UNKNOWN: dict[str, Any] = {"devices": 2, "threads": "1"} | dict.fromkeys(
    ("samples_per_s", "efficiency", "efficiency_estimate", "overhead", "straggling")
)
"""What does not matter of a scaling whose labels are asked about."""

ONE_REFUSES = (contender("torch", threads=1), contender("jax"))
"""Contenders of which the first has another value in force than was asked for."""


@pytest.mark.parametrize(("length", "shown"), [(40, "x" * 40), (41, "x" * 37 + "...")])
def test_a_long_value_is_cut_within_a_label(length: int, shown: str) -> None:
    """At 40 characters it is whole; beyond, it ends with dots and has as many."""
    given = {"LD_PRELOAD": "x" * length}
    told = marked(outcome([contender("torch", given), contender("torch:threads=1")], []))
    assert told.contenders[0].label == f"torch [LD_PRELOAD={shown}]"


def test_unknown_is_no_difference() -> None:
    """None is "not told": it is no mismatch and no difference, and stays visible."""
    found = entry("threads", contender("torch"), contender("jax", threads=None))
    assert (found.kind, found.values["jax"]) == ("same", None)


def test_a_variable_is_judged_among_those_that_it_means_something_to(race: Any) -> None:
    """One framework's own is no mismatch beside others, and is still told; one contender's own is a mismatch."""
    own, other = contender("torch", {"OMP_NUM_THREADS": "4"}), contender("jax")
    found = entry("OMP_NUM_THREADS", own, other)
    assert (found.origin, found.kind, found.strays) == ("variable", "nature", ())
    assert entry("OMP_NUM_THREADS", own, contender("jax", {"OMP_NUM_THREADS": "4"})).kind == "same"
    assert entry("OMP_NUM_THREADS", own, contender("torch:threads=1"), other).strays == ("torch",)
    watching = [watched(one, "OMP_*") for one in (own, other)]
    assert entry("OMP_NUM_THREADS", *watching).strays == ("torch",)
    assert entry("OMP_NUM_THREADS", own, contender("jax", {"OMP_NUM_THREADS": "2"})).strays == ("torch", "jax")
    never_ran = msgspec.structs.replace(contender("torch:threads=1"), settings={})
    assert entry("OMP_NUM_THREADS", own, never_ran).kind == "same"
    raced = msgspec.structs.replace(race("fake", max_rounds=1), contenders=[own, other])
    (said,) = [one for one in SETTINGS.cautions(raced) if "OMP" in one]
    assert said == "OMP_NUM_THREADS is set in the environment and counts for torch alone: 4."


def watched(one: ContenderOutcome, *names: str) -> ContenderOutcome:
    """Return a contender to which these variables mean something."""
    return msgspec.structs.replace(one, plan=msgspec.structs.replace(one.plan, watched=names))


def test_a_variable_stands_once() -> None:
    """A framework that also reads the variable back does not give it a second line."""
    found = ledger([contender("jax", {"XLA_FLAGS": "--x"}, XLA_FLAGS="--x"), contender("torch")])
    assert [one.key for one in found].count("XLA_FLAGS") == 1


def test_a_mismatch_is_in_every_label_and_in_a_warning(race: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A whole comparison in which one contender runs with other threads than were set says so wherever it stands."""
    told = engine.Step.settings

    def settings(step: engine.Step) -> dict[str, Any]:
        read = told(step)
        return read | {"threads": 7} if step._options["step_ms"] == "2" else read

    monkeypatch.setattr(engine.Step, "settings", settings)
    raced = race("fake", "fake:step_ms=2", threads=1)
    assert [one.label for one in raced.contenders] == ["fake", "fake:step_ms=2 [threads=7]"]
    (verdict,) = raced.verdicts
    assert {verdict.first, verdict.second} == {one.label for one in raced.contenders}
    assert [line.cells[0] for line in summary(raced).lines] == ["fake", "fake:step_ms=2 [threads=7]"]
    (warning,) = [sentence for sentence in cautions(raced) if sentence.startswith("threads is not")]
    assert "fake 1 and fake:step_ms=2 [threads=7] 7 in force" in warning
    (line,) = [line for line in data_of(raced)["ledger"] if line["key"] == "threads"]
    assert (line["kind"], line["strays"]) == ("mismatch", ["fake:step_ms=2 [threads=7]"])


def test_going_on_needs_the_same_environment(race: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A watched variable is in the records, and --resume does not mix rounds with and without it."""
    monkeypatch.delenv("MALLOC_ARENA_MAX", raising=False)
    race("fake", "fake:step_ms=2", max_rounds=1)
    monkeypatch.setenv("MALLOC_ARENA_MAX", "1")
    with pytest.raises(StoreError, match=r"and has .*MALLOC_ARENA_MAX 1 here"):
        race("fake", "fake:step_ms=2", max_rounds=2, resume=True)
    (entry_,) = [one for one in ledger(race("fake", "fake:step_ms=2").contenders) if one.key == "MALLOC_ARENA_MAX"]
    assert (entry_.kind, set(entry_.values.values())) == ("same", {"1"})


def test_denormals_differ_by_nature() -> None:
    """What each framework does with denormal numbers by itself is no mismatch; another than was asked for is one."""
    torch = contender("torch:denormals=framework", denormals="kept")
    jax = contender("jax:denormals=framework", denormals="flushed")
    assert mismatches([torch, jax]) == []
    flushed = contender("torch:denormals=flush", denormals="flushed")
    assert entry("denormals", torch, flushed).kind == "asked"
    assert [one.key for one in mismatches([contender("torch:denormals=flush", denormals="mixed")])] == ["denormals"]
