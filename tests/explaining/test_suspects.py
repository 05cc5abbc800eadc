"""From rows of a gap to suspects with the switch that checks them, and to a control that should not matter."""

from __future__ import annotations

from itertools import product

import msgspec
import pytest
from tests.explaining.conftest import MS, declared, gap, planned, row

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import supported
from bakeoff.judge.explanation import Cause
from bakeoff.judge.suspects import MOST_ROWS, OF_ALL_LAYERS, predicted, suspects_of, switches_of, top_rows
from bakeoff.judge.switches import KINDS, SWITCHES, acts_on, can_be, control_for, turned_for
from bakeoff.spec.framework import Refusal
from bakeoff.spec.options import OPTIONS, WORKER_OPTIONS

KERNELS = ("default", "foreach", "fused")
QUICK = planned("quick")


def test_the_largest_rows_that_are_told_apart_are_looked_into() -> None:
    """What the faster one spends more on, and what could be chance, is no suspect of the slower one."""
    rows = [
        row("optimiser", 1.0, 3.0),
        row("convolution", 9.0, 2.0),
        row("element-wise", 1.0, 1.05),
        row("attention", 1.0, 2.0),
        row("recurrent", 1.0, 6.0),
        row("reduction", 1.0, 1.5),
    ]
    found = top_rows(gap(*rows))
    assert [one.kind for one in found] == ["recurrent", "optimiser", "attention"]
    assert len(found) == MOST_ROWS
    assert top_rows(gap(row("element-wise", 1.0, 1.05), row("convolution", 9.0, 2.0))) == []


def test_a_layer_comes_first_that_has_more_than_all_kinds_that_are_told_apart() -> None:
    """Its kinds trade time from process to process, so that each may be chance; else the kinds say more."""
    known = gap(row("element-wise", 1.0, 1.2), row("matrix product", 2.0, 4.0))
    unknown = msgspec.structs.replace(known.by_kind[1], told_apart=False)
    layer = msgspec.structs.replace(row("other", 2.0, 4.0), kind=None, layer="layers.0")
    outside = msgspec.structs.replace(row("other", 2.0, 5.0), kind=None)
    by_layer = [layer, outside, row("host dispatch", 1.0, 9.0)]
    hidden = msgspec.structs.replace(known, by_kind=[known.by_kind[0], unknown], by_layer=by_layer)
    assert [one.layer or one.kind for one in top_rows(hidden)] == ["layers.0", "element-wise"]
    told = msgspec.structs.replace(known, by_layer=by_layer)
    assert [one.kind for one in top_rows(told)] == ["matrix product", "element-wise"]


def test_a_layer_is_turned_by_what_two_contenders_of_a_framework_differ_in_alone() -> None:
    """Whatever that acts on; of two frameworks a layer says nothing of an option."""
    info = declared(optimizer_kernel=KERNELS, mode=("eager", "compiled"))
    slow = planned("slow:optimizer_kernel=default", optimizer_kernel="default", mode="eager")
    for label, switch in (("slow", "optimizer_kernel=fused"), ("quick", "")):
        quick = planned(label, optimizer_kernel="fused", mode="eager")
        assert turned_for(None, info, quick.contender, slow.contender) == switch
    layer = msgspec.structs.replace(row("other", 2.0, 4.0), kind=None, layer="layers.0")
    known = msgspec.structs.replace(gap(row("idle", 5.0, 5.0)), by_layer=[layer])
    (one,) = suspects_of(known, QUICK, slow, info)
    assert (one.row, one.switch, one.reason) == (layer, "", OF_ALL_LAYERS)


def test_a_row_has_the_first_better_value_that_its_framework_can_have() -> None:
    """A value that a refusal excludes is passed over, and one behind the value in force is none."""
    known = gap(row("optimiser", 1.0, 3.0))
    slow = planned("slow", optimizer_kernel="default")
    one, control = suspects_of(known, QUICK, slow, declared(optimizer_kernel=KERNELS))
    assert (one.switch, one.label, one.at_most_s) == ("optimizer_kernel=fused", "slow", pytest.approx(2 * MS))
    assert (control.is_control, control.switch) == (True, "")
    refusal = Refusal(when={"optimizer_kernel": ("fused",), "device": ("cpu",)}, reason="no such kernel")
    one, _ = suspects_of(known, QUICK, slow, declared(refusal, optimizer_kernel=KERNELS))
    assert one.switch == "optimizer_kernel=foreach"
    (one,) = suspects_of(known, QUICK, planned("slow", optimizer_kernel="fused"), declared(optimizer_kernel=KERNELS))
    assert (one.switch, one.status, one.reason) == ("", "hypothesis", "no option of this framework acts on it")


def test_what_two_contenders_of_a_framework_differ_in_is_turned_first() -> None:
    """An option that this framework alone has may act on anything; options of another meaning are no switches."""
    info = declared(optimizer_kernel=KERNELS, script=("plain", "slow"), device=("cpu", "cuda"))
    first = planned("slow", script="plain", device="cuda", optimizer_kernel="default")
    second = planned("slow:script=slow", script="slow", device="cpu", optimizer_kernel="default")
    assert turned_for("attention", info, first.contender, second.contender) == "script=plain"
    assert turned_for("optimiser", info, first.contender, second.contender) == "script=plain"
    other = planned("quick", script="plain").contender
    assert turned_for("attention", info, other, second.contender) == ""


def test_another_framework_is_followed_to_better_values_alone() -> None:
    """A compiled contender is not made eager because a faster one is; what has no better value is turned either way."""
    info = declared(mode=("compiled", "eager"), malloc=("settled", "fresh", "keep"), threads=("1", "2"))
    compiled = planned("slow", mode="compiled", threads="2").contender
    assert turned_for("element-wise", info, planned("quick", mode="eager").contender, compiled) == ""
    eager = planned("slow", mode="eager", threads="2").contender
    assert turned_for("element-wise", info, planned("quick", mode="compiled").contender, eager) == "mode=compiled"
    assert (
        turned_for("element-wise", info, planned("quick", mode="eager", threads="1").contender, compiled) == "threads=1"
    )


def test_the_most_specific_switch_goes_before_what_another_framework_has() -> None:
    """An optimiser is looked into by its kernel, though the faster contender is compiled; what users set goes first."""
    info = declared(mode=("eager", "compiled"), optimizer_kernel=KERNELS)
    eager = planned("slow", mode="eager", optimizer_kernel="default").contender
    compiled = {"mode": "compiled", "optimizer_kernel": "default"}
    assert turned_for("optimiser", info, planned("quick", **compiled).contender, eager) == "optimizer_kernel=fused"
    assert turned_for("optimiser", info, planned("slow", **compiled).contender, eager) == "mode=compiled"
    assert turned_for("idle", info, planned("quick", **compiled).contender, eager) == "mode=compiled"
    info = declared(optimizer_kernel=KERNELS, threads=("1", "2"))
    alone = planned("slow", optimizer_kernel="default", threads="1").contender
    assert turned_for("optimiser", info, planned("quick", threads="2").contender, alone) == "threads=2"


def test_attention_without_a_kernel_is_what_a_compiler_fuses() -> None:
    """A framework that has its formula alone can be compiled; one with a kernel is turned to that."""
    graph = planned("slow", mode="graph", attention="default").contender
    modes = {"mode": ("graph", "compiled")}
    assert turned_for("attention", declared(attention=("default",), **modes), QUICK.contender, graph) == "mode=compiled"
    kernels = declared(attention=("default", "flash"), **modes)
    assert turned_for("attention", kernels, QUICK.contender, graph) == "attention=flash"
    assert predicted(gap(row("attention", 1.0, 2.0)), "mode=compiled").estimate == pytest.approx(MS)


def test_what_nobody_ranks_is_turned_where_contenders_differ_alone() -> None:
    """Two ways of products with sparse matrices are tried by each other, and no other contender is asked to try one."""
    info = declared(aggregate=("segment", "sparse"))
    gathered, sparse = (planned(f"slow:aggregate={one}", aggregate=one).contender for one in ("segment", "sparse"))
    assert turned_for("data movement", info, gathered, sparse) == "aggregate=segment"
    assert turned_for("reduction", info, sparse, gathered) == "aggregate=sparse"
    assert turned_for("reduction", info, gathered, gathered) == ""
    assert turned_for("reduction", info, sparse, gathered, ("aggregate",)) == ""


def test_what_means_nothing_to_the_model_is_no_switch_and_is_the_control() -> None:
    """It changes nothing, so that a race in which it moves is no witness."""
    info = declared(lstm=("cell", "fused"), mode=("eager", "compiled"), denormals=("framework", "flush"))
    slow = planned("slow", lstm="cell", mode="eager", denormals="framework")
    known = gap(row("element-wise", 1.0, 3.0))
    one, control = suspects_of(known, planned("quick", denormals="framework"), slow, info, idle=("lstm",))
    assert (one.switch, control.switch) == ("mode=compiled", "lstm=fused")
    one, control = suspects_of(known, planned("quick", denormals="framework"), slow, info)
    assert (one.switch, control.switch) == ("lstm=fused", "denormals=flush")


def test_denormals_are_no_control_where_they_are_a_cause() -> None:
    """The cause has the switch, and the same contender once more is the control."""
    info = declared(denormals=("framework", "flush"))
    slow = planned("slow", denormals="framework")
    causes = [Cause(label="slow", name="denormals", said="")]
    one, control = suspects_of(gap(), planned("quick", denormals="framework"), slow, info, causes=causes)
    assert (one.cause, one.switch, one.row) == ("denormals", "denormals=flush", None)
    assert switches_of([one, control]) == ["denormals=flush", ""]


@pytest.mark.parametrize(("quick", "count"), [(600.0, 0), (500.0, 2), (None, 2)])
def test_a_cause_that_both_have_explains_no_gap(quick: float | None, count: int) -> None:
    """It is a suspect, with a control, where the slower one has at least twice of it."""
    causes = [Cause(label="slow", name="page faults", said="", numbers={"faults_per_step": 1000.0})]
    if quick is not None:
        causes.append(Cause(label="quick", name="page faults", said="", numbers={"faults_per_step": quick}))
    found = suspects_of(gap(), QUICK, planned("slow", malloc="fresh"), declared(), causes=causes)
    assert [one.switch for one in found] == ["malloc=keep", ""][:count]


def test_denormals_are_no_control_where_the_faster_one_has_them_otherwise() -> None:
    """What two contenders differ in may matter: the same contender once more is the control."""
    info = declared(denormals=("framework", "flush"))
    slow = planned("slow", malloc="fresh", denormals="framework")
    causes = [Cause(label="slow", name="page faults", said="")]
    _, control = suspects_of(gap(), planned("quick", denormals="flush"), slow, info, causes=causes)
    assert (control.is_control, control.switch) == (True, "")


def test_only_the_slower_ones_causes_are_suspects_whatever_else_the_faster_one_has() -> None:
    """A cause of the faster one, or of a third, is none; and another cause of the faster one sets nothing off."""
    mine = Cause(label="slow", name="page faults", said="", numbers={"faults_per_step": 1000.0})
    others = [msgspec.structs.replace(mine, label=label) for label in ("quick", "third")]
    slow = planned("slow", malloc="fresh")
    assert suspects_of(gap(), QUICK, slow, declared(), causes=others) == []
    assert suspects_of(gap(), QUICK, slow, declared(), causes=others[1:]) == []
    waiting = Cause(label="quick", name="waiting threads", said="", numbers={"cores": 5000.0})
    one, _ = suspects_of(gap(), QUICK, slow, declared(), causes=[mine, waiting])
    assert one.switch == "malloc=keep"


def test_a_cause_that_nothing_turns_stays_a_hypothesis_or_a_remark() -> None:
    """A framework without the option says so, and clocks are nobody's switch."""
    causes = [Cause(label="slow", name=name, said="") for name in ("page faults", "clocks")]
    (one,) = suspects_of(gap(), QUICK, planned("slow", malloc="keep"), declared(), causes=causes)
    assert (one.cause, one.switch) == ("page faults", "")
    assert "malloc=keep" in one.reason


def test_a_switch_is_predicted_to_save_at_most_the_rows_that_it_acts_on() -> None:
    """A convolution that becomes a product is both with the copies between; the faster one's rows count nothing."""
    known = gap(
        row("convolution", 5.0, 9.0),
        row("matrix product", 1.0, 0.5),
        row("data movement", 0.2, 4.6),
        row("optimiser", 1.0, 8.0),
    )
    found = predicted(known, "convolution=products")
    assert found.estimate == pytest.approx(8.4 * MS)
    assert (found.low, found.high) == (pytest.approx(8.2 * MS), pytest.approx(8.6 * MS))
    assert predicted(gap(row("attention", 1.0, 1.05)), "attention=flash").low == 0.0
    assert acts_on("an_option_of_somebody=1") == KINDS


def test_each_switch_is_raced_once() -> None:
    """Two rows with one switch are two suspects, and one contender."""
    info = declared(mode=("eager", "compiled"))
    known = gap(row("element-wise", 1.0, 3.0), row("host dispatch", 0.0, 1.0))
    found = suspects_of(known, QUICK, planned("slow", mode="eager"), info)
    assert [one.switch for one in found] == ["mode=compiled", "mode=compiled", ""]
    assert switches_of(found) == ["mode=compiled", ""]


def test_every_switch_is_an_option_of_its_values() -> None:
    """No name here is one that no framework could have; options of one framework are declared there."""
    declarations = [one.info.options for one in frameworks().values()]
    for switch in SWITCHES:
        everywhere = OPTIONS.get(switch.option) or WORKER_OPTIONS.get(switch.option)
        own = [options[switch.option].values for options in declarations if switch.option in options]
        valid = set(everywhere.values) if everywhere else {value for values in own for value in values}
        assert everywhere or own
        assert set(switch.better) <= valid


@pytest.mark.parametrize("name", sorted(name for name, one in frameworks().items() if one.info.listed))
def test_every_framework_has_a_control_on_a_processor(name: str) -> None:
    """Denormal numbers are one where there are none; it has nothing to do with what a model calls."""
    info = frameworks()[name].info
    options = {option: support.default for option, support in info.options.items()}
    found = control_for(info, options, ("denormals",))
    assert found.startswith("denormals=")
    assert not can_be(info, options, "denormals", options["denormals"])
    assert not control_for(info, options, ("denormals",), frozenset(("denormals",)))


NAMED = (
    *("mode", "layout", "convolution", "conv_algorithm", "lstm", "attention", "optimizer_kernel", "graph_optimization"),
    *("onednn", "precision", "input", "threads", "denormals", "malloc"),
)
"""Options that explanations are to turn, at least."""


@pytest.mark.parametrize("option", NAMED)
def test_every_switch_can_be_turned_in_some_framework(option: str) -> None:
    """Two contenders of one framework that differ in it alone have it as the switch of an operation that it acts on."""
    (switch,) = (one for one in SWITCHES if one.option == option)
    found = []
    for name, one in frameworks().items():
        support = supported(one.info).get(option)
        if not one.info.listed or support is None:
            continue
        defaults = {other: each.default for other, each in supported(one.info).items()}
        values = support.values or ("1", "2")
        for device, mine, theirs in product(one.info.options["device"].values, values, values):
            pair = (defaults | {"device": device, option: value} for value in (theirs, mine))
            first, second = (planned("slow", **options).contender for options in pair)
            if turned_for(min(switch.kinds), one.info, first, second) == f"{option}={theirs}" != f"{option}={mine}":
                found.append(name)
    assert found
