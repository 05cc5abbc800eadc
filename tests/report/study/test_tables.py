from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec
import pytest
from tests.report.conftest import three_ways
from tests.report.shown import markdown, printed

from bakeoff.report.overall import PointAnswer, headline
from bakeoff.report.pages import page_of
from bakeoff.report.pages.study import _evidence, comparisons, error_rate
from bakeoff.report.points import points_of

if TYPE_CHECKING:
    from bakeoff.judge.outcome import Outcome
    from bakeoff.judge.study import StudyOutcome


def test_columns_that_do_not_fit_stand_below(batches: StudyOutcome) -> None:
    """However narrow the screen, every figure is there, and on 80 columns no line is longer."""
    narrow = printed(batches, width=40)
    for figure in ("17,400 (17,000 to 17,700)", "torch and jax undecided", "0.86 (0.82 to 0.90)  faster"):
        assert figure in narrow
    assert max(len(line) for line in printed(batches).splitlines()) <= 80


def test_a_pair_keeps_its_side_over_all_points(batches: StudyOutcome) -> None:
    """A pair is turned once for all points, above 1 at most of them, so that a change of lead is seen as one."""
    report = points_of(batches)
    assert report.pairs == [("jax", "torch"), ("tensorflow", "torch"), ("tensorflow", "jax")]
    ratios = [line.ratios[("jax", "torch")] for line in report.rows if ("jax", "torch") in line.ratios]
    assert [ratio.verdict for ratio in ratios] == ["slower", "slower", "undecided", "faster"]
    assert all(ratio.ratio is not None and ratio.ratio > 1 for ratio in ratios[:3])


def test_who_has_lost_its_rank_has_no_figure_at_a_point(batches: StudyOutcome) -> None:
    """A contender that is refused after it was timed is a hole, with the reason; intervals hold their estimates."""
    first = batches.points[0].outcome
    assert first is not None
    torch, *others = first.contenders
    refused = msgspec.structs.replace(torch, status="refused", reason="its timer failed the self-test")
    found = msgspec.structs.replace(first, contenders=[refused, *others])
    points = [msgspec.structs.replace(batches.points[0], outcome=found), *batches.points[1:]]
    first_row, *rows = points_of(msgspec.structs.replace(batches, points=points)).rows
    cell = first_row.cells["torch"]
    assert (cell.rate, cell.value, cell.hole, cell.reason) == ("", None, "refused", refused.reason)
    cells = [one for row in rows for one in row.cells.values() if one.value is not None]
    assert all(one.low is not None and one.high is not None for one in cells)
    assert all((one.low or 0.0) < (one.value or 0.0) < (one.high or 0.0) for one in cells)


def test_who_is_undecided_is_never_named_the_fastest(batches: StudyOutcome) -> None:
    """The answer names a winner only where it is decided against every other contender."""
    assert page_of(batches).headline == (
        "torch is fastest at batch size 8 and 16; jax is fastest at batch size 64 and 128; "
        "none is fastest at batch size 32."
    )
    assert points_of(batches).rows[2].verdict == "torch and jax undecided"


def at(place: str, winner: str | None, **ratios: float) -> PointAnswer:
    """Make a point at which a contender leads by these ratios."""
    texts = {label: (ratio, f"{ratio:g}") for label, ratio in ratios.items()}
    return PointAnswer(place=place.split(), winner=winner, leader=winner or "", ratios=texts)


def before(place: str, leader: str, rounds: int, **ratios: float) -> PointAnswer:
    """Make a point that has too few rounds."""
    return msgspec.structs.replace(at(place, "", **ratios), leader=leader, early=(rounds, 5))


@pytest.mark.parametrize(
    ("axes", "places", "answer"),
    [
        (["threads"], [at("1", "a", b=1.5), at("2", "a", b=1.7)], "a is faster at threads 1 and 2: 1.5x to 1.7x b."),
        (
            ["mode", "threads"],
            [at("x 1", "a", b=1.2), at("x 2", "b", a=1.3)],
            "a is faster at 1 of 2 points; b is faster at 1 of 2 points.",
        ),
        ([], [at("one", "a", b=1.5), at("two", "a", b=1.5)], "a is faster in all 2 comparisons: 1.5x b."),
        (["threads"], [at("1", ""), at("2", "")], "No contender is faster at any point."),
        (
            ["threads"],
            [at("1", "a", b=1.5), at("2", None)],
            "a is faster at threads 1; 1 point without a pair to compare.",
        ),
        (["threads"], [at("1", None)], "No point has a pair to compare."),
    ],
)
def test_headlines(axes: list[str], places: list[PointAnswer], answer: str) -> None:
    """The answer counts and names points as they are, and says by how much where one wins everywhere."""
    assert headline(axes, places, 2) == answer


@pytest.mark.parametrize(
    ("axes", "places", "answer"),
    [
        (
            ["threads"],
            [before("1", "a", 2, b=1.5), before("2", "a", 2, b=1.7)],
            "No verdict yet at threads 1 and 2 (2 of the 5 rounds that one needs; so far a leads: 1.5x to 1.7x b).",
        ),
        (
            ["mode", "threads"],
            [before("x 1", "a", 1, b=1.5), before("x 2", "b", 3, a=1.1)],
            (
                "No verdict yet at any of 2 points (1 to 3 of the 5 rounds that one needs; so far a leads at 1 of 2 "
                "points and b leads at 1 of 2 points)."
            ),
        ),
        (
            ["threads"],
            [at("1", "a", b=1.5), at("2", ""), before("4", "", 0)],
            (
                "a is faster at threads 1; none is faster at threads 2; no verdict yet at threads 4 (0 of the 5 rounds "
                "that one needs)."
            ),
        ),
    ],
)
def test_too_few_rounds_are_not_undecided(axes: list[str], places: list[PointAnswer], answer: str) -> None:
    """What has too few rounds for a verdict is counted apart from what is undecided, with the ratio so far."""
    assert headline(axes, places, 2) == answer


def test_many_others_are_told_by_the_nearest() -> None:
    """With more than two others, the range is that over the nearest of each point."""
    places = [at("1", "a", b=1.5, c=1.2, d=3.0), at("2", "a", b=1.4, c=1.6, d=3.0)]
    assert headline(["n"], places, 4) == "a is fastest at n 1 and 2: 1.2x to 1.4x the nearest other."


def early(study: StudyOutcome, **changes: Any) -> StudyOutcome:
    """Return a study with all its pairs' verdicts still three rounds away."""
    known: dict[str, Any] = {"verdict": "undecided", "rounds": 2, "fewest": 5}

    def cut(outcome: Outcome) -> Outcome:
        verdicts = [msgspec.structs.replace(one, **known, **changes) for one in outcome.verdicts]
        return msgspec.structs.replace(outcome, verdicts=verdicts)

    points = [msgspec.structs.replace(one, outcome=cut(one.outcome)) for one in study.points if one.outcome]
    return msgspec.structs.replace(study, points=points)


def test_a_sweep_cut_off_early_says_what_goes_on(threads: StudyOutcome) -> None:
    """Below the first look a sweep has no verdict yet, tells the ratios so far, and names the command."""
    text = " ".join(printed(early(threads)).split())
    assert (
        "No verdict yet at any of 6 points (2 of the 5 rounds that one needs; so far jax leads: 1.60x torch)." in text
    )
    assert "6 points without a verdict yet (" in text
    assert "with a longer --budget this goes on: bakeoff run mlp-mnist --batch-size 8,16 --resume" in text


def test_a_sweep_has_no_ratio_of_turns_that_were_all_disturbed(threads: StudyOutcome) -> None:
    """As a single comparison has none: what other processes leave of a step says nothing."""
    text = " ".join(printed(early(threads, flagged_blocks=24, ratio_unflagged=None)).split())
    assert "No verdict yet at any of 6 points (2 of the 5 rounds that one needs)." in text


def test_a_sweep_says_whether_the_work_is_the_same(threads: StudyOutcome, batches: StudyOutcome) -> None:
    """The line under the answer begins with the certificates of all points, and where they differ."""
    assert page_of(threads).trust.startswith("Same work: verified. 6 comparisons, ")
    assert page_of(batches).trust.startswith(
        "Same work: verified at 4 of 5 points; at batch size 128 verified for jax and tensorflow, not for torch. "
        "5 comparisons, "
    )


def test_what_all_points_together_are_worth() -> None:
    """One point's error rate adds up over points, and beyond certainty it is told as a frequency."""
    assert error_rate(1) == ""
    assert "at most 25 %" in error_rate(5)
    assert "of all 40, expect one in 20 to have one" in error_rate(40)


def test_a_warning_of_all_points_is_said_once(threads: StudyOutcome) -> None:
    """The same sentence about every point stands once, one about some names them."""
    points = [
        msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, damaged=said))
        for point, said in zip(
            threads.points, [["Both.", "First."], *[["Both."] for _ in threads.points[1:]]], strict=True
        )
        if point.outcome is not None
    ]
    page = page_of(msgspec.structs.replace(threads, points=points))
    said = [word for section in page.sections if section.kind == "warnings" for word in section.words]
    aside = [text for text in said if "Not used" in text]
    again = "The same command with --resume runs it again, or of a round another one in its stead."
    assert aside == [f"Not used: Both.. {again}", f"malloc settled, threads 1: Not used: First.. {again}"]


def test_labels_cannot_steer_the_terminal_nor_the_page(batches: StudyOutcome) -> None:
    """A title with control characters and markup is shown, not obeyed."""
    wild = msgspec.structs.replace(batches.study, title="over \x1b[31m<b>")
    text = printed(msgspec.structs.replace(batches, study=wild))
    assert "over \\x1b[31m<b>" in text
    assert "\\<b\\>" in markdown(msgspec.structs.replace(batches, study=wild))


def test_rounds_and_processes_of_all_comparisons_are_told() -> None:
    """Each by its own word, and one of a kind in the singular."""
    made = three_ways()
    assert _evidence([made, made]) == "2 comparisons, 14 rounds, 42 fresh processes"
    once = msgspec.structs.replace(made, rounds=1, processes=1)
    assert _evidence([once]) == "1 comparison, 1 round, 1 fresh process"


def test_one_round_is_told_as_one(batches: StudyOutcome) -> None:
    """Of a comparison that ended after its first round."""
    point, *_ = (one for one in batches.points if one.outcome)
    assert point.outcome is not None
    once = msgspec.structs.replace(point, outcome=msgspec.structs.replace(point.outcome, rounds=1, ended="budget"))
    (line,) = comparisons(msgspec.structs.replace(batches, points=[once])).tables[0].lines
    assert line.cells[1] == "budget, 1 round"
