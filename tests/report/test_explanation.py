"""What an explanation promises a reader: sums that hold, no cause without a race, and no name for chance."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.report.conftest import verdict
from tests.report.explained.conftest import SUSPECTS, explained, gap, kinds_alone, nobody, unexplained
from tests.report.shown import data_of, json_text, markdown, printed
from tests.report.test_jsonform import paths

from bakeoff.judge.checked import NOT_RUN, TOO_FEW
from bakeoff.judge.explanation import Cause, Explanation, MeanOverRounds, Suspect
from bakeoff.report.forms import Form, save
from bakeoff.report.forms.drawings import drawing
from bakeoff.report.gaps import NO_LAYER, scale_of
from bakeoff.report.pages import page_of
from bakeoff.report.pictures import NARROW, WIDE
from bakeoff.report.pictures.layers import MOST_BRANCHES, branches
from bakeoff.report.pictures.waterfall import MOST_BARS, bars, domain
from bakeoff.report.sections import parts, profiles
from bakeoff.report.sections.parts import MOST_LINES
from bakeoff.report.sections.profiles import MOST_COST
from bakeoff.spec.explained import OperationKind
from bakeoff.spec.verdict import Interval

__all__ = ["explained", "kinds_alone", "nobody", "unexplained"]

DOCUMENT = Path(__file__).parents[2] / "docs" / "json-explain.md"
FREE = re.compile(r"(machine|profiles\[\]\.facts|profiles\[\]\.stages\[\]\.(nodes|removed)|causes\[\]\.numbers)\..*")
"""Objects whose keys are names of things."""

PAIR = gap("torch", "jax")


def with_suspects(explanation: Explanation, *suspects: Suspect) -> Explanation:
    """Return the explanation with other suspects."""
    return msgspec.structs.replace(explanation, suspects=list(suspects))


def headline(explanation: Explanation) -> str:
    """Return the answer."""
    return page_of(explanation).headline


RACED = "in a race with convolution=products"


# --- The answer ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({}, f"{RACED} the gap falls from 1.31x to 1.14x: confirmed."),
        ({"label": "torch"}, f"{RACED} in torch the gap falls from 1.31x to 1.14x: confirmed."),
        (
            {"status": "refuted", "ratio": Interval(estimate=1.312, low=1.3, high=1.32)},
            f"{RACED} the gap stays at 1.31x: refuted.",
        ),
        (
            {"status": "refuted", "ratio": Interval(estimate=1.4, low=1.3, high=1.5)},
            f"{RACED} the gap grows from 1.31x to 1.40x: refuted.",
        ),
        (
            {"status": "refuted"},
            f"{RACED} the gap falls from 1.31x to 1.14x, but not by this part: refuted.",
        ),
        (
            {"status": "refuted", "saved_s": Interval(estimate=1e-4, low=-1e-4, high=3e-4)},
            f"{RACED} the gap falls from 1.31x to 1.14x, less than half as far as predicted: refuted.",
        ),
        (
            {"status": "hypothesis"},
            f"{RACED} the gap falls from 1.31x to 1.14x, which does not settle it: a hypothesis.",
        ),
        (
            {"status": "hypothesis", "ratio": None},
            "convolution=products was raced without an answer: a hypothesis.",
        ),
        (
            {"status": "hypothesis", "ratio": None, "comparison": ""},
            "convolution=products has not been raced: a hypothesis.",
        ),
        ({"status": "hypothesis", "switch": ""}, "no switch turns it: a hypothesis."),
    ],
)
def test_the_answer_says_what_a_race_said(explained: Explanation, changes: dict[str, Any], said: str) -> None:
    """The largest part that is more than chance is named with its times and with the status that a race gave it."""
    named = "jax spends 4.6 of its 32.7 ms on data movement in the backward pass, torch 0.2 of its 25.0; "
    suspect = msgspec.structs.replace(SUSPECTS[0], **changes)
    assert headline(with_suspects(explained, suspect)) == named + said


def test_without_a_race_it_is_a_hypothesis(explained: Explanation) -> None:
    """A part that no race has checked is called a hypothesis; one of another pair, or a control, is no check."""
    others = [msgspec.structs.replace(SUSPECTS[0], first="tensorflow"), msgspec.structs.replace(SUSPECTS[2])]
    assert headline(with_suspects(explained, *others)).endswith("; no race has checked it: a hypothesis.")


def test_a_confirmed_cause_stands_in_the_answer(explained: Explanation, unexplained: Explanation) -> None:
    """What a race has confirmed is in the answer where it is not the largest part, and where no part is known."""
    other = msgspec.structs.replace(SUSPECTS[0], row=PAIR.by_kind[1])
    own = msgspec.structs.replace(SUSPECTS[0], status="refuted")
    for status, suspects in (("a hypothesis", [other]), ("refuted", [own, other])):
        said = f"{status}; in a race with convolution=products (backward convolution) the gap falls from 1.31x to 1.14x"
        assert said in headline(with_suspects(explained, *suspects)), "the status of the largest part stands there, too"
    quiet = [msgspec.structs.replace(row, told_apart=False) for row in PAIR.by_kind]
    made = msgspec.structs.replace(explained, gaps=[msgspec.structs.replace(PAIR, by_kind=quiet, by_layer=[])])
    cause = msgspec.structs.replace(SUSPECTS[0], row=None, cause="denormals", switch="denormals=flush")
    answer = headline(with_suspects(made, cause))
    assert answer.startswith("jax's step takes 1.31x torch's (95 % CI 1.28 to 1.34); in a race with denormals=flush ")
    assert answer.endswith("to 1.14x: confirmed.")


def test_an_answer_begins_with_the_layer_that_has_more_than_all_known_kinds(explained: Explanation) -> None:
    """Where kinds trade time and are chance each, the layer that has them is what the slower one spends more on."""
    quiet = [msgspec.structs.replace(row, told_apart=False) for row in PAIR.by_kind]
    made = msgspec.structs.replace(explained, gaps=[msgspec.structs.replace(PAIR, by_kind=quiet)], suspects=[])
    largest = max((row for row in PAIR.by_layer if row.told_apart and row.kind is None), key=lambda row: row.gap_s)
    said = headline(made)
    assert f" in {largest.layer}" in said
    assert said.endswith("no race has checked it: a hypothesis.")


def test_chance_is_not_named(unexplained: Explanation, kinds_alone: Explanation) -> None:
    """Where no part is told apart no sentence names one, and it is said that none is known."""
    kinds = {str(row.kind) for row in unexplained.gaps[0].by_kind}
    for made in (unexplained, kinds_alone):
        page = page_of(made)
        said = [page.headline, *data_of(made)["sentences"]]
        assert not [sentence for sentence in said for kind in kinds if kind in sentence]
    assert (
        headline(unexplained)
        == "torch and torch (2) are practically equal, and of 12 parts of their steps none is told apart."
    )
    assert "it is not known why: too few rounds were traced" in headline(kinds_alone)
    few = [msgspec.structs.replace(one, step_s=None) for one in kinds_alone.outcome.contenders]
    made = msgspec.structs.replace(kinds_alone, outcome=msgspec.structs.replace(kinds_alone.outcome, contenders=few))
    assert "it is not known why: too few rounds were raced" in headline(made)


def test_what_is_shorter_is_no_cause(explained: Explanation) -> None:
    """A part that the slower one spends less on is never given as the cause of its being slower."""
    shorter = [row for row in PAIR.by_kind if row.gap_s < 0]
    gap = msgspec.structs.replace(PAIR, by_kind=shorter, by_layer=[])
    made = msgspec.structs.replace(explained, gaps=[gap], suspects=[])
    assert headline(made).endswith("and it is not known why: what is told apart of their steps is shorter in jax.")


def test_equals_with_other_parts_are_called_equal_first(explained: Explanation) -> None:
    """Of two that are equal, or undecided, the answer begins with that, and then has the parts that differ."""
    for state, said in (
        ("equal", "torch and jax are practically equal; jax"),
        ("undecided", "The race of torch and jax is undecided; jax"),
    ):
        verdicts = [msgspec.structs.replace(one, verdict=state) for one in explained.outcome.verdicts]
        outcome = msgspec.structs.replace(explained.outcome, verdicts=verdicts)
        assert headline(msgspec.structs.replace(explained, outcome=outcome)).startswith(
            f"{said} spends 4.6 of its 32.7 ms"
        )


def test_a_layer_may_be_called_as_a_kind_is(explained: Explanation) -> None:
    """Two lines of one name, a layer's and a kind's outside of any layer, stay two, and the step is still their sum."""
    one = PAIR.by_layer[0]
    layer = msgspec.structs.replace(one, layer="attention", phase="forward", first_s=20e-3, second_s=25e-3)
    kind = msgspec.structs.replace(one, kind="attention", layer="", phase="forward", first_s=5e-3, second_s=7.7e-3)
    made = msgspec.structs.replace(explained, gaps=[msgspec.structs.replace(PAIR, by_layer=[layer, kind])])
    (section,) = [one for one in page_of(made).sections if one.title == "By layer of the model"]
    cells = [line.cells[:3] for line in section.tables[0].lines]
    assert cells == [
        ["attention, forward", "20.0", "25.0"],
        ["attention, forward", "5.0", "7.7"],
        ["the step", "25.0", "32.7"],
    ]


def test_a_pair_needs_two_profiles(nobody: Explanation) -> None:
    """Without a profile nothing is explained, and it is said why."""
    assert headline(nobody) == "Nothing is explained: no contender has a profile."
    assert "torch has no profile (no profiler on this device)." in printed(nobody)


def test_profiles_of_no_common_round_make_no_pair(explained: Explanation) -> None:
    """Whoever was traced in other rounds is held against nobody, and that is what is said."""
    apart = msgspec.structs.replace(explained, gaps=[], suspects=[])
    said = "Nothing is explained: of torch, jax and tensorflow no two were traced in the same round."
    assert headline(apart) == said
    assert page_of(apart).unpictured == ("No two contenders were traced in the same round.",)
    first, *others = apart.outcome.contenders
    single = first.plan.contender
    both = msgspec.structs.replace(single, options=single.options | {"devices": "2"})
    unlike = [msgspec.structs.replace(first, plan=msgspec.structs.replace(first.plan, contender=both)), *others]
    there = msgspec.structs.replace(apart, outcome=msgspec.structs.replace(apart.outcome, contenders=unlike))
    assert headline(there).endswith("no two were traced in the same round on as many devices.")


def test_a_race_that_the_longer_step_has_won_has_a_verdict(explained: Explanation) -> None:
    """Medians and pairs of rounds may disagree: then both are said, and not that the race says nothing."""
    won = msgspec.structs.replace(explained.outcome, verdicts=[verdict("jax", "torch", "faster", 0.9, 0.88, 0.92)])
    said = headline(msgspec.structs.replace(explained, outcome=won))
    assert said.startswith("jax has won the race against torch, although its median step is longer; jax spends ")


def test_every_kind_of_operation_has_words(explained: Explanation) -> None:
    """Whatever the largest part is, the answer is a sentence about it."""
    for kind in OperationKind.__args__:  # type: ignore[attr-defined]
        row = msgspec.structs.replace(PAIR.by_kind[8], kind=kind, phase="")
        made = msgspec.structs.replace(explained, gaps=[msgspec.structs.replace(PAIR, by_kind=[row])])
        said = r"jax spends 4\.6 of its 32\.7 ms [a-z' -]+, torch 0\.2 of its 25\.0(: a hypothesis)?; "
        assert re.match(said, headline(made))


def test_before_a_race_nothing_is_left_empty(explained: Explanation) -> None:
    """Without a race the table of suspects has no column for its results, and one reason is said once."""
    unraced = [
        msgspec.structs.replace(one, saved_s=None, ratio=None, row_after_s=None, switch="a=b", reason="not run")
        for one in SUSPECTS[:2]
    ]
    page = page_of(with_suspects(explained, *unraced))
    place, (section,) = next((n, [one]) for n, one in enumerate(page.sections) if one.title == "Checked by a race")
    assert section.tables[0].heads == ["suspect", "switch", "status", "predicted, ms"]
    said = ["jax, backward data movement and backward convolution (a=b): not run."]
    assert page.sections[place + 1].words[:1] == said


def test_a_control_that_moves_is_warned_of(explained: Explanation) -> None:
    """A switch that should not matter and does puts what was confirmed in doubt; one that does not says nothing."""
    control = SUSPECTS[2]
    moved = msgspec.structs.replace(control, saved_s=Interval(estimate=1e-3, low=5e-4, high=2e-3))
    assert not [said for said in data_of(with_suspects(explained, control))["warnings"] if "control" in said]
    (said,) = [one for one in data_of(with_suspects(explained, moved))["warnings"] if "control" in one]
    assert said.startswith("jax: the control (malloc=settled) has changed the step time")
    assert "control: moved" in printed(with_suspects(explained, moved))


def test_what_a_profile_costs_is_warned_of(explained: Explanation) -> None:
    """A profiler that makes steps much longer is warned of, and one that does not is only said."""
    warned = {one.label for one in explained.profiles if (one.profiled_ratio or 0) >= MOST_COST}
    assert {said.partition(":")[0] for said in data_of(explained)["warnings"]} == warned == {"torch"}


# --- Sums ---------------------------------------------------------------------------------------------------------


def test_the_waterfall_leads_from_one_step_to_the_other() -> None:
    """Each bar begins where the one before it ends, the first at one step time, the last ends at the other."""
    way = bars(PAIR)
    assert len(way) == MOST_BARS + 1 < len(PAIR.by_kind)
    assert way[0].start_s == PAIR.first_s
    assert way[-1].end_s == PAIR.second_s
    assert all(one.end_s == pytest.approx(other.start_s) for one, other in pairwise(way))
    low, high = domain(PAIR)
    assert all(low <= place <= high for bar in way for place in (bar.start_s, bar.end_s))


def test_the_waterfall_begins_at_zero_where_there_is_room() -> None:
    """A gap of many times is drawn from zero, a small one is not squeezed by it."""
    assert domain(PAIR)[0] > 0
    assert domain(msgspec.structs.replace(PAIR, second_s=100e-3))[0] == 0


def test_a_row_of_the_tree_holds_all_that_is_within_it() -> None:
    """The difference of a part of the model is the sum of its layers, and no more rows are drawn than there is room."""
    found = branches(PAIR)
    assert len(found) <= 2 * MOST_BRANCHES
    for branch in found:
        path = branch.path.partition(",")[0]
        within = [row for row in PAIR.by_layer if row.layer == path or row.layer.startswith(f"{path}.")]
        if within and "other" not in branch.path:
            assert branch.difference_s == pytest.approx(sum(row.gap_s for row in within))
    assert found[0].path == "stages"
    assert {branch.depth for branch in found} >= {0, 1, 2}


def test_what_belongs_to_no_layer_is_drawn_by_its_kind() -> None:
    """Below what is outside of any layer stand its kinds of operations; a single one stands alone."""
    one = next(row for row in PAIR.by_layer if not row.layer)
    kinds = [
        msgspec.structs.replace(one, kind=kind, first_s=2e-3, second_s=2e-3 + more)
        for kind, more in (("optimiser", 3e-3), ("idle", -2e-3))
    ]
    found = branches(msgspec.structs.replace(PAIR, by_layer=kinds))
    names = [(branch.depth, branch.name, branch.path) for branch in found]
    assert names == [(0, NO_LAYER, NO_LAYER), (1, "optimiser", "optimiser"), (1, "idle", "idle")]
    assert [branch.name for branch in branches(msgspec.structs.replace(PAIR, by_layer=kinds[:1]))] == ["optimiser"]


def test_a_model_of_hundreds_of_layers_is_drawn_in_a_few_rows() -> None:
    """A deep tree is cut where little differs, and what is left out stands together in its row."""
    one = PAIR.by_layer[0]
    rows = [
        msgspec.structs.replace(one, layer=f"blocks.{block}.{name}", second_s=one.first_s * (1 + block % 7 / 10))
        for block in range(120)
        for name in ("attention", "norm", "mlp")
    ]
    found = branches(msgspec.structs.replace(PAIR, by_layer=rows))
    assert 1 < len(found) <= 2 * MOST_BRANCHES
    assert found[0].difference_s == pytest.approx(sum(row.gap_s for row in rows))
    top = [branch for branch in found if branch.depth == 1]
    assert "other" in top[-1].name
    assert sum(branch.difference_s for branch in top) == pytest.approx(found[0].difference_s)


def test_the_lines_of_a_table_have_the_step_as_their_sum(explained: Explanation) -> None:
    """Each contender's column adds up to its raced step, with all small lines in one, whatever the rounding."""
    for section in page_of(explained).sections:
        if section.title not in ("By kind of operation", "By layer of the model"):
            continue
        (table,) = section.tables
        assert len(table.lines) == MOST_LINES + 2
        for column in (1, 2, 3):
            *parts, whole = [float(line.cells[column]) for line in table.lines]
            assert sum(parts) == pytest.approx(whole, abs=0.05 * len(parts))


@pytest.mark.parametrize(
    ("first_s", "second_s", "text"),
    [
        (25.0e-3, 32.7e-3, "32.7"),
        (0.9842e-3, 1.0201e-3, "1.020"),
        (2.0, 9.0, "9.0"),
        (1.0, 1.0, "1.000"),
        (0.53e-3, 2.17e-3, "2.17"),
        (0.25, 0.72, "720"),
    ],
)
def test_a_gap_has_two_digits(first_s: float, second_s: float, text: str) -> None:
    """Times have as many decimals as give the gap and each step two digits, at most four; below 1 s in ms."""
    scale = scale_of([msgspec.structs.replace(PAIR, first_s=first_s, second_s=second_s)])
    assert scale.text(second_s) == text
    assert scale.signed(-1e-9) == scale.text(0.0)


# --- Forms --------------------------------------------------------------------------------------------------------


def test_documentation_and_object_agree(request: pytest.FixtureRequest) -> None:
    """Every key is documented in docs/json-explain.md, and every documented key is there."""
    documented = set(re.findall(r"^\| `([\w.\[\]]+)` \|", DOCUMENT.read_text(), re.MULTILINE))
    made = [data_of(request.getfixturevalue(name)) for name in ("explained", "unexplained", "kinds_alone", "nobody")]
    found = {path for data in made for path in paths(data) if not FREE.fullmatch(path)}
    assert found == documented


def test_the_race_s_own_report_stays(explained: Explanation, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An explanation's files stand beside the report of its comparison, under names of their own."""
    (tmp_path / "report.md").write_text("the race's own")
    monkeypatch.setattr(
        "bakeoff.report.forms.forms",
        lambda: [Form("markdown", "report.md", lambda pages, _: pages[0].headline.encode())],
    )
    paths_of = save(
        page_of(
            msgspec.structs.replace(explained, outcome=msgspec.structs.replace(explained.outcome, path=str(tmp_path)))
        )
    )
    assert paths_of == {"markdown": tmp_path / "why-report.md"}
    assert (tmp_path / "report.md").read_text() == "the race's own"
    assert paths_of["markdown"].read_text().startswith("jax spends")


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_every_picture_has_its_width_and_its_text(explained: Explanation, width: int) -> None:
    """Pictures are held against Vega-Lite's schema, are as wide as their layout, and say in words what they show."""
    pictures = [section.picture for section in page_of(explained).sections if section.picture]
    charts = [picture.draw(width) for picture in pictures]
    assert all(chart.to_dict() for chart in charts)
    found = [drawing(chart, name="one", is_on_page=True) for chart in charts]
    assert [one.title for one in found] == [
        "From torch to jax",
        "Where in the model: jax against torch",
        "From torch to tensorflow",
        "Where in the model: tensorflow against torch",
    ]
    assert all(abs(one.width - width) <= 12 for one in found)
    assert "data movement, backward +4.4 ms" in pictures[0].finding
    assert "stages +" in pictures[1].finding


def test_causes_stand_in_every_form(explained: Explanation) -> None:
    """What counters say of a cause that is no operation is read in every form."""
    cause = Cause(label="torch", name="denormals", said="24 % of the first moment is denormal", numbers={"share": 0.24})
    made = msgspec.structs.replace(explained, causes=[cause])
    assert all(cause.said in text for text in (printed(made, 200), markdown(made), json_text(made)))


@pytest.mark.parametrize(
    ("label", "why"),
    [
        ("torch", "no contender with a profile is faster"),
        ("jax", "every faster contender has it, too, and at least half as much"),
        ("jittor", "there is no profile of it"),
    ],
)
def test_why_a_cause_explains_no_gap_is_true_of_its_contender(explained: Explanation, label: str, why: str) -> None:
    """Of the fastest nobody else is said to have it, and of one without a profile no gap is known."""
    cause = Cause(label=label, name="page faults", said=f"{label}: 9 page faults a step.", numbers={"faults": 9.0})
    text = markdown(msgspec.structs.replace(explained, causes=[cause]))
    assert f"Seen too, and no cause of a gap, since {why}: {label}: 9 page faults a step." in text
    assert text.count("Seen too") == 1


def test_a_cause_of_who_is_held_against_nobody_says_so(explained: Explanation) -> None:
    """A contender that has a profile and no gap, as one on other devices, is not said to have no profile."""
    cause = Cause(label="tensorflow", name="page faults", said="tensorflow: 9 page faults a step.", numbers={})
    alone = msgspec.structs.replace(explained, gaps=explained.gaps[:1], causes=[cause])
    assert "since it is held against no other contender: tensorflow: 9 page faults a step." in markdown(alone)


def test_records_that_were_never_raced_name_no_command_that_does_not_exist(nobody: Explanation) -> None:
    """What `bakeoff verify` left has no command to go on with: none is made up for it."""
    asked = msgspec.structs.replace(nobody.outcome.comparison, command="")
    left = msgspec.structs.replace(nobody.outcome, ended="unfinished", comparison=asked, rounds=0)
    text = markdown(msgspec.structs.replace(nobody, outcome=left))
    assert "Nothing is timed in these records, so there is no gap to explain" in text
    assert "--resume" not in text


@pytest.mark.parametrize(("most", "said"), [(11, None), (10, "2 others")])
def test_a_single_part_is_not_called_others(
    explained: Explanation, monkeypatch: pytest.MonkeyPatch, most: int, said: str | None
) -> None:
    """Where one line of twelve would be left it stands there by its name; two are told together."""
    monkeypatch.setattr(parts, "MOST_LINES", most)
    table = next(section.tables[0] for section in parts.kinds(explained) if section.title == "By kind of operation")
    named = [line.cells[0] for line in table.lines]
    assert [name for name in named if name.endswith("others")] == ([said] if said else [])


@pytest.mark.parametrize("reason", [NOT_RUN, TOO_FEW])
def test_suspects_that_lack_rounds_are_told_with_what_races_them(explained: Explanation, reason: str) -> None:
    """Both that were not raced and those of too few rounds."""
    one = msgspec.structs.replace(explained.suspects[0], status="hypothesis", reason=reason)
    assert "Suspects lack rounds;" in printed(with_suspects(explained, one)).replace("\n", " ")


def test_a_share_is_within_the_whole() -> None:
    """An interval of a share reads neither below 0 nor beyond all of it."""
    for mean, ends, text in (
        (0.99, (0.97, 1.02), "99 % (97 % to 100 %)"),
        (0.2, (-0.1, 0.5), "20 % (0 % to 50 %)"),
    ):
        part = MeanOverRounds(mean=mean, interval=Interval(estimate=mean, low=ends[0], high=ends[1]))
        assert profiles._share(part) == text


def test_what_follows_from_a_rule_is_not_what_is_mixed(explained: Explanation) -> None:
    """Each share of a profile stands before its own words."""
    shares = {"inferred_share": 0.11, "mixed_share": 0.22, "unattributed_share": 0.33}
    said = profiles._sentence(msgspec.structs.replace(explained.profiles[0], **shares))
    assert "11 % of its step was placed by a rule, 22 % is of operations fused from several, 33 % is not" in said


def test_a_difference_is_what_the_slower_one_spends_more(explained: Explanation) -> None:
    """In the table of all contenders: its sign, and the interval whose low end comes first."""
    table = next(section.tables[0] for section in parts.kinds(explained) if section.title == "By kind of operation")
    (whole,) = (line for line in table.lines if line.cells[0] == "the step")
    assert float(whole.cells[-2]) > 0
    known = [line.cells[-1].split(" to ") for line in table.lines if " to " in line.cells[-1]]
    apart = [float(line.cells[-2]) for line in table.lines if " to " in line.cells[-1]]
    assert known
    assert all(float(low) < middle < float(high) for (low, high), middle in zip(known, apart, strict=True))
