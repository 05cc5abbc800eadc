"""What documents claim in words: one sentence each, by what the measured ratios and their intervals allow."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import msgspec
import pytest
from tests.report.reproduced.conftest import study
from tests.report.reproduced.test_epochs_apart import table4
from tests.report.reproduced.test_reproduced import section_of
from tests.report.reproduced.test_several_devices import table7
from tests.report.shown import data_of, html, markdown, printed

from bakeoff.judge.claim_quantity import percent_of, quantity, standing_of
from bakeoff.judge.claims import Judged, judged
from bakeoff.report.pages.published_claims import TITLE, sentence
from bakeoff.spec.published import Claim
from bakeoff.spec.verdict import Interval
from bakeoff.stats.together import Estimate
from bakeoff.study.published import load, names

if TYPE_CHECKING:
    from bakeoff.judge.study import StudyOutcome

SURE = 1e-4
"""A standard error that leaves no doubt."""


def table2() -> StudyOutcome:
    """Make the outcome of table 2, in which TensorFlow is 12.5 % faster in every network."""
    return study("dai2022-table2", {"TensorFlow": "tensorflow", "PyTorch": "torch"}, {}, scaled=True, device="cpu")


def standing(claim: Claim, *effects: float) -> str:
    """Judge a claim whose comparisons have these log-ratios for certain."""
    batches = [8 << place for place in range(len(effects))]
    value = quantity(claim, [Estimate(effect, SURE, 4) for effect in effects], len(effects), batches)
    return standing_of(claim, value, 0.05)


def test_every_claim_of_a_document_is_one_sentence() -> None:
    """Each says where it stands, what became of it here, by how much with an interval, and what the document has."""
    made = table2()
    found = judged(made, load("dai2022-table2"))
    assert len(found) == 10
    said = {one.claim.text: sentence(one) for one in found}
    assert said["TensorFlow over PyTorch in VGG16"].startswith(
        "TensorFlow over PyTorch in VGG16 (table 2): holds here: 12 % ("
    )
    assert said["TensorFlow over PyTorch in VGG16"].endswith(" %), there 14.28 %.")
    assert "does not hold here" in said["PyTorch over TensorFlow in Tacotron 2"]
    assert {one.together for one in found} == {7}  # pairs of networks: ten claims read them, and no other
    (listed,) = section_of(made, TITLE).tables
    assert [line.cells[0] for line in listed.lines] == [
        f"{one.claim.text} ({one.claim.where})" if one.claim.where else one.claim.text for one in found
    ]
    for shown in (printed(made, 400), markdown(made), html(made)):
        assert "PyTorch is faster in BERT and in RNNs but for GNMT (section 4.2)" in shown
    assert {one["sentence"] for one in data_of(made)["claims"]} == {sentence(one) for one in found}


@pytest.mark.parametrize(
    ("kind", "percent", "effects", "expected"),
    [
        ("more", 0.0, (0.3, 0.2), "holds"),
        ("more", 0.0, (0.3, 0.01), "does not hold"),  # equal, where the document says that it is faster
        ("more", 2.0, (0.3, 0.01), "holds"),  # as small as the document's own difference
        ("mean", 20.0, (0.3, -0.1), "holds"),
        ("mean", 20.0, (0.3, -0.6), "does not hold"),
        ("most", 10.0, (0.05, -0.5), "holds"),
        ("most", 10.0, (0.05, 0.2), "does not hold"),
        ("at-least", 100.0, (0.1, 0.8), "holds"),
        ("at-least", 100.0, (0.1, 0.2), "does not hold"),
        ("within", 6.0, (0.05, -0.05), "holds"),
        ("within", 6.0, (0.05, -0.08), "does not hold"),
        ("mostly-within", 6.0, (0.05, -0.05, 0.5), "holds"),
        ("mostly-within", 6.0, (0.05, -0.08, 0.5), "does not hold"),
        ("mostly-within", 6.0, (0.05, -0.08), "does not hold"),  # half of them is not most
        ("mean-difference", 6.0, (0.1, 0.0), "holds"),
        ("grows", 0.0, (0.1, 0.05, 0.3), "holds"),
        ("grows", 0.0, (0.3, 0.2, 0.1), "does not hold"),
    ],
)
def test_a_claim_is_held_to_what_it_says(kind: str, percent: float, effects: tuple[float, ...], expected: str) -> None:
    """Each kind of claim holds where all of its quantity lies where the document says, and not where nothing does."""
    claim = msgspec.convert({"text": "", "kind": kind, "percent": percent}, Claim)
    assert standing(claim, *effects) == expected


@pytest.mark.parametrize("kind", ["more", "mean", "most", "at-least", "within", "mostly-within", "grows"])
def test_what_is_not_sure_is_inconclusive(kind: str) -> None:
    """Where an interval reaches to both sides of what is claimed, neither side is told."""
    claim = msgspec.convert({"text": "", "kind": kind, "percent": 10.0}, Claim)
    value = quantity(claim, [Estimate(0.09, 0.05, 4), Estimate(0.1, 0.05, 4)], 2, [8, 16])
    assert standing_of(claim, value, 0.05) == "inconclusive"


def test_what_grows_does_so_with_the_batch() -> None:
    """A lead's growth is the slope over the batches as they are, told for a doubling, and not over their places."""
    claim = Claim(text="", kind="grows")
    leads = [Estimate(lead, SURE, 4) for lead in (0.1, 0.0, 0.11)]
    by_places, by_batches = (quantity(claim, leads, 1, batches) for batches in ([8, 16, 32], [8, 32, 64]))
    assert by_places.estimate == pytest.approx(0.005)
    assert standing_of(claim, by_places, 0.05) == "holds"
    assert by_batches.estimate == pytest.approx(-3.0 / 700.0)
    assert standing_of(claim, by_batches, 0.05) == "does not hold"
    assert quantity(claim, [leads[1], leads[0]], 1, [8, 32]).estimate == pytest.approx(0.05)


def test_batches_that_the_scaled_variant_leaves_out_leave_a_gap(figure: StudyOutcome) -> None:
    """A lead at batches 8, 32 and 64 is told over these, and not as if they stood equally far apart."""
    leads = {"resnet50, batch 8": 0.2, "resnet50, batch 32": 0.1, "resnet50, batch 64": 0.21}
    points = []
    for one in figure.points:
        if one.point.title in leads and one.outcome:
            ratio = math.exp(-leads[one.point.title])
            (verdict,) = one.outcome.verdicts
            told = msgspec.structs.replace(verdict, ratio=ratio, low=ratio / 1.04, high=ratio * 1.04)
            points.append(msgspec.structs.replace(one, outcome=msgspec.structs.replace(one.outcome, verdicts=[told])))
    assert [one.point.title for one in points] == list(leads)
    made = msgspec.structs.replace(figure, points=points)
    (grown,) = (one for one in judged(made, load("dai2022-figure1")) if one.claim.kind == "grows" and one.percent)
    assert grown.percent
    assert grown.percent.estimate == pytest.approx(100.0 * math.expm1(-3.0 / 700.0))


def test_one_batch_alone_shows_no_growth(figure: StudyOutcome) -> None:
    """A claim of which a single batch was run is not measured: nothing could refute it."""
    one_batch = msgspec.structs.replace(figure, points=figure.points[:1])
    found = [one for one in judged(one_batch, load("dai2022-figure1")) if one.claim.kind == "grows" and one.compared]
    assert {one.claim.where for one in found} == {"section 4.4.1", "insight 2"}
    assert {(one.standing, one.reason) for one in found} == {("not measured", "one batch size alone shows no growth")}


def test_percent_are_meant_as_the_document_means_them() -> None:
    """Speeds are told beyond the other's, saved time and overheads as a share."""
    double = math.log(2.0)
    assert percent_of(Claim(text=""), double) == pytest.approx(100.0)
    assert percent_of(Claim(text="", kind="less-time"), double) == pytest.approx(50.0)
    assert percent_of(Claim(text="", of="overhead", kind="most"), double) == pytest.approx(50.0)
    assert [percent_of(Claim(text=""), wild) for wild in (-1e4, 1e4)] == pytest.approx(
        [-100.0, 100.0 * math.exp(100.0)]
    )


@pytest.mark.parametrize(("there", "word"), [(2.0, ", by more"), (12.0, ""), (15.0, ", by less")])
def test_a_claim_that_holds_by_another_size_says_so(there: float, word: str) -> None:
    """A lead that is there, and narrower or wider than the document has it, is not told as its 15 percent."""
    here = Interval(estimate=6.0, low=4.0, high=12.0)
    claim = Claim(text="TensorFlow, about", kind="mean", percent=there, comparisons=("resnet50",))
    one = Judged(
        claim=claim, standing="holds", percent=here, compared=1, intervals=1, verdicts=[], reason="", together=1
    )
    assert f": holds here{word}: 6 % (4 to 12 %), there {there:g} %." in sentence(one)
    refuted = msgspec.structs.replace(one, standing="does not hold")
    assert ": does not hold here: 6 %" in sentence(refuted)


def test_what_cannot_be_measured_here_says_why() -> None:
    """Rows that are left out, and what is no matter of time, give the reason in place of a figure."""
    made = study("dai2022-figure2", {"TensorFlow cuDNNLSTM": "tensorflow"}, {}, scaled=True, device="cpu")
    said = [sentence(one) for one in judged(made, load("dai2022-figure2"))]
    assert said[0].endswith("(section 4.4.2): not measured here: not asked for.")
    assert said[-1].endswith("not measured here: it is about an interface, which no time decides.")


@pytest.mark.parametrize(
    ("scaled", "reason"), [(True, "not in the scaled variant"), (False, "none of the rows can race here")]
)
def test_a_comparison_that_is_not_there_has_its_own_reason(scaled: bool, reason: str) -> None:  # noqa: FBT001
    """At the document's own sizes it is not the scaled variant that left it out."""
    made = study("dai2022-figure1", {"TF-profiling": "tensorflow"}, {}, scaled=scaled, device="cpu")
    found = judged(msgspec.structs.replace(made, points=[]), load("dai2022-figure1"))
    (one,) = (one for one in found if "TF-profiling over TF-fixed in VGG16 at batch 128" in one.claim.text)
    assert one.reason == reason


def test_a_claim_over_some_comparisons_says_how_many(figure: StudyOutcome) -> None:
    """Where the scaled variant leaves comparisons out, a claim is judged by the others, and says so."""
    said = [sentence(one) for one in judged(figure, load("dai2022-figure1"))]
    (similar,) = (one for one in said if "(insight 2)" in one and "similarly fast" in one)
    assert "inconclusive here: what more than half keep within, of 9: 12 %" in similar
    assert similar.endswith("taken as 8 %, in 9 of its 15 comparisons.")
    assert sum("grows with the batch" in one and "inconclusive here" in one for one in said) == 3
    assert sum("for each doubling of the batch, over 3 comparisons: " in one for one in said) == 3
    assert sum("not measured here: it needs CUDA" in one for one in said) == 11


def test_claims_on_epochs_rest_on_whole_runs() -> None:
    """The time that one setting saves in an epoch is judged by whole runs, of which one is too few for an interval."""
    one = judged(table4(device="cuda"), load("dai2022-table4"))[0]
    assert (one.standing, one.reason) == ("not measured", "too few whole runs came to their end")


def test_overheads_are_judged_as_shares() -> None:
    """What a document says of overheads is held against ours on as many devices."""
    found = {one.claim.text: one for one in judged(table7(), load("dai2022-table7"))}
    ours = found["The overhead of PyTorch's GNMT and BERT on 2 GPUs is less than 8 %"]
    assert ours.percent is not None
    assert ours.percent.estimate == pytest.approx(8.0, abs=3.0)
    assert ours.standing == "inconclusive"
    gone = found["The overhead of PyTorch's GNMT and BERT on 4 GPUs is less than 8 %"]
    assert gone.reason == "4 want a core each"
    below = Claim(text="", of="overhead", kind="most", percent=8.0)
    assert [standing(below, -math.log1p(-share)) for share in (0.078, 0.082)] == ["holds", "does not hold"]


@pytest.mark.parametrize(
    ("gigabytes", "expected"), [((9, 6, 4), "holds"), ((6, 6, 6), "does not hold"), ((4, 6, 9), "does not hold")]
)
def test_memory_is_judged_by_the_peaks_of_processes(
    article: StudyOutcome, gigabytes: tuple[int, ...], expected: str
) -> None:
    """Each row's three processes tell how much it needs; equal peaks are no order, and the other order is another."""
    (point,) = article.points
    assert point.outcome is not None
    contenders = [
        msgspec.structs.replace(one, memory_peaks_bytes=[share * size * 1_000_000 for share in (999, 1000, 1001)])
        for one, size in zip(point.outcome.contenders, gigabytes, strict=True)
    ]
    weighed = msgspec.structs.replace(point.outcome, contenders=contenders)
    made = msgspec.structs.replace(article, points=[msgspec.structs.replace(point, outcome=weighed)])
    (one,) = (one for one in judged(made, load("apx-cnn")) if one.claim.of == "memory")
    assert one.standing == expected
    assert one.verdicts == [], "verdicts are on speed, and stand beside no claim on memory"
    (bare,) = (one for one in judged(article, load("apx-cnn")) if one.claim.of == "memory")
    assert (bare.standing, bare.reason) == ("not measured", "too few peaks of memory were read")


def test_every_shipped_document_that_claims_something_has_its_claims() -> None:
    """All studies of documents with remarks have claims, each of Dai et al.'s insights among them."""
    claimed = {name for name in names() if load(name).claims}
    assert claimed >= {"apx-cnn", "pytorch-per-sample-grads", *(f"shootout-table{number}" for number in range(1, 5))}
    places = {claim.where for name in names() for claim in load(name).claims if name.startswith("dai2022")}
    assert {f"insight {number}" for number in range(1, 6)} <= places
    assert all(claim.where for name in claimed for claim in load(name).claims)


def test_one_pair_refutes_what_is_said_of_all(scaled: StudyOutcome) -> None:
    """Where a row is missing, a claim about all of them may be refuted by the others, and never holds by them."""
    published = load("shootout-table3")
    refuted = judged(scaled, published)[0]
    assert sentence(refuted).endswith(
        "(its result): does not hold here: 12 % (8 to 17 %), taken as 5 %, "
        "the rest is not measured: bakeoff has no framework 'jittor'."
    )
    wide = [msgspec.structs.replace(claim, taken_percent=50.0) for claim in published.claims]
    assert judged(scaled, msgspec.structs.replace(published, claims=tuple(wide)))[0].standing == "not measured"


@pytest.mark.parametrize(
    ("kind", "percent", "taken", "shares", "expected"),
    [
        ("most", 3.0, 0.0, (0.01, 0.02), "holds"),
        ("most", 3.0, 0.0, (0.01, 0.04), "does not hold"),
        ("most", 0.0, 0.0, (-0.01, -0.02), "holds"),  # a pass that adds nodes takes less than none away
        ("each", 90.0, 0.0, (0.95, 0.91), "holds"),
        ("each", 90.0, 0.0, (0.95, 0.89), "does not hold"),
        ("each", 0.0, 50.0, (0.95, 0.51), "holds"),
        ("about", 55.0, 5.0, (0.62, 0.52), "holds"),
        ("about", 55.0, 5.0, (0.62, 0.62), "does not hold"),
        ("about", 55.0, 5.0, (0.45, 0.49), "does not hold"),
        ("least", 0.0, 0.0, (0.5, 0.6, 0.9), "holds"),
        ("least", 0.0, 0.0, (0.7, 0.6, 0.9), "does not hold"),
    ],
)
def test_a_claim_on_shares_is_held_to_them_as_they_are(
    kind: str, percent: float, taken: float, shares: tuple[float, ...], expected: str
) -> None:
    """Shares are compared as shares, and not as ratios; a row's share in one comparison with that in others."""
    of = "compute" if min(shares) >= 0.0 else "constant folding"
    told = {"text": "", "of": of, "kind": kind, "percent": percent, "taken_percent": taken}
    assert standing(msgspec.convert(told, Claim), *shares) == expected


def test_a_pass_that_changes_nothing_adds_no_nodes() -> None:
    """That nodes are added holds where each graph has more of them, and not where one has as many as before."""
    adds = Claim(text="", of="constant folding", kind="most")
    counted = {share: Estimate(share, 0.0, 1.0) for share in (-0.02, -0.01, 0.0, 0.01)}
    for shares, expected in (((-0.02, -0.01), "holds"), ((-0.02, 0.0), "does not hold"), ((0.01,), "does not hold")):
        value = quantity(adds, [counted[share] for share in shares], 1)
        assert standing_of(adds, value, 0.05) == expected


def test_what_is_slight_in_the_document_is_not_refuted_by_equality() -> None:
    """Faster by little, without a number, holds where a pair is surely faster, though within the margin of equality."""
    slight = Claim(text="", taken_percent=5.0)
    assert [standing(slight, effect) for effect in (0.01, -0.01)] == ["holds", "does not hold"]
    assert standing(Claim(text=""), 0.01) == "does not hold"


def test_where_nothing_is_lost_less_than_some_percent_is() -> None:
    """Dai et al. say how much is lost at most without graph optimizations: a step that gains refutes none of it."""
    told = [claim for claim in load("dai2022-figure3").claims if claim.percent in (0.6, 2.0)]
    assert len(told) == 2
    assert {standing(claim, *[-0.03] * len(claim.comparisons)) for claim in told} == {"holds"}
    assert {standing(claim, *[0.03] * len(claim.comparisons)) for claim in told} == {"does not hold"}
