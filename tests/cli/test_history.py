"""`bakeoff history` and `bakeoff diff`, on records that were made on real machines."""

from __future__ import annotations

import hashlib
import json
import math
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from bakeoff.cli.diff import _lines as diff_lines
from bakeoff.cli.history import _lines
from bakeoff.judge.comparison import judge_comparison
from bakeoff.judge.difference import difference
from bakeoff.judge.past import RatioStep, histories
from bakeoff.spec.verdict import mirrored
from bakeoff.stats.levels import Levels
from bakeoff.stats.steps import LEVEL
from bakeoff.store.files import read_comparison, write_comparison

if TYPE_CHECKING:
    from tests.cli.conftest import Cli

    from bakeoff.judge.outcome import Outcome

ROOT = Path(__file__).parents[2]
FIRST, SECOND = (ROOT / "docs" / "records" / name for name in ("mlp-mnist-07d5", "mlp-mnist-683b"))
ELSEWHERE = ROOT / "tests" / "records" / "mlp-mnist-fada"
FREE = {"rows[].options", "rows[].machine", "rows[].entries[].versions", "rows[].entries[].changed"}
FREE |= {"rows[].entries[].verdict", "pairs[].before", "pairs[].after"}
"""Objects whose keys are names of things, or are documented elsewhere."""


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """Judge the records once."""
    return {folder.name[-4:]: judge_comparison(folder) for folder in (FIRST, SECOND, ELSEWHERE)}


def changed(outcome: Outcome, **changes: Any) -> Outcome:
    """Give an outcome whose comparison differs."""
    return msgspec.structs.replace(outcome, comparison=msgspec.structs.replace(outcome.comparison, **changes))


def keys(value: Any, path: str = "") -> set[str]:
    """Give the path of every key."""
    if isinstance(value, dict) and path not in FREE:
        below = {key: f"{path}.{key}" if path else key for key in value}
        return set(below.values()).union(*(keys(value[key], below[key]) for key in value))
    return set().union(*(keys(item, f"{path}[]") for item in value)) if isinstance(value, list) else set()


def documented(name: str) -> set[str]:
    """Give the keys of a page."""
    return set(re.findall(r"^\| `([\w.\[\]]+)` \|", (ROOT / "docs" / name).read_text(), re.MULTILINE))


def test_a_history_has_a_row_for_each_pair_and_machine(outcomes: dict[str, Outcome]) -> None:
    """The same pair of two comparisons on one machine shares a row by date; another machine has a row of its own."""
    found = {(row.first, row.second, row.machine["processor"]): row for row in histories(outcomes.values())}
    here, there = (outcomes[name].comparison.machine["processor"] for name in ("07d5", "fada"))
    assert [one.comparison for one in found["torch", "jax", here].entries] == ["mlp-mnist-07d5", "mlp-mnist-683b"]
    assert [one.comparison for one in found["torch", "jax", there].entries] == ["mlp-mnist-fada"]
    assert ("torch:denormals=flush", "jax", here) in found
    for row in found.values():
        assert all({one.verdict.first, one.verdict.second} == {row.first, row.second} for one in row.entries)
        assert row.entries[-1].verdict.ratio >= 1


def test_what_changed_between_two_lines_is_told(outcomes: dict[str, Outcome]) -> None:
    """A version, a setting of the machine and bakeoff's version are named with both values."""
    later = outcomes["683b"]
    contenders = [
        msgspec.structs.replace(one, versions=one.versions | {"torch": "9.9"}) if one.label == "torch" else one
        for one in later.contenders
    ]
    later = changed(later, bakeoff="0.2.0", machine=later.comparison.machine | {"governor": "performance"})
    later = msgspec.structs.replace(later, contenders=contenders)
    row = next(row for row in histories([later, outcomes["07d5"]]) if (row.first, row.second) == ("torch", "jax"))
    first, second = row.entries
    assert first.changed == {}
    assert second.changed["torch"][1] == "9.9"
    assert second.changed["governor"] == ("unknown", "performance")
    assert second.changed["bakeoff"] == ("0.1.0", "0.2.0")
    assert second.ratio_change.factor.low < 1 < second.ratio_change.factor.high


@pytest.mark.parametrize("other", [{"batch_size": 64}, {"scenario": "infer"}, {"size": "reduced"}])
def test_another_work_is_never_in_the_same_row(outcomes: dict[str, Outcome], other: dict[str, Any]) -> None:
    """Another batch size, scenario or size has rows of its own."""
    assert all(len(row.entries) == 1 for row in histories([changed(outcomes["683b"], **other), outcomes["07d5"]]))


def test_versions_of_one_framework_are_told_apart(outcomes: dict[str, Outcome]) -> None:
    """A pair of two environments of one framework keeps both versions and is turned the same way in every entry."""
    before = outcomes["683b"]
    row = next(row for row in histories([before]) if {row.first, row.second} == {"torch", "torch:denormals=flush"})
    assert {"torch: torch", "torch:denormals=flush: torch"} <= set(row.entries[0].versions)


def test_history_prints_lines_and_an_object(cli: Cli) -> None:
    """Lines fit 80 columns, another machine is said to be one, and every key of the object is documented."""
    places = ["--results", str(FIRST.parent), "--results", str(ELSEWHERE.parent)]
    said = cli("history", "mlp-mnist", *places)
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    assert "torch / jax on Intel(R) Xeon(R) Processor, 2 cores" in said.out
    assert said.out.count("Another machine, in a row of its own") == 3
    assert said.out.index("2026-11-22 11:12") < said.out.index("2026-11-22 11:13")
    told = json.loads(cli("history", "mlp-mnist", *places, "--json").out)
    stepped = {"rows": [{"steps": [dict.fromkeys(RatioStep.__struct_fields__)]}]}
    assert keys(told) | keys(stepped) == documented("json-history.md")


def test_history_takes_a_file_as_run_does(cli: Cli, root: Path, tmp_path: Path) -> None:
    """A workload of a user's own is asked for by its file, or by the name that is in it."""
    text = (root / "examples" / "my_model.py").read_text()
    (tmp_path / "mine.py").write_text(text.replace('name="my-model"', 'name="mlp-mnist"'))
    places = ["--results", str(FIRST.parent)]
    by_file = cli("history", "mine.py", *places)
    assert by_file.code == 0, by_file.err
    assert by_file == cli("history", "mlp-mnist", *places)
    assert cli("history", str(root / "examples" / "my_model.py"), *places).err.startswith(
        "bakeoff: no race of 'my-model'"
    )


def test_a_history_that_leaves_the_machine_names_no_folder(
    cli: Cli, outcomes: dict[str, Outcome], monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --redact the folder of an environment is in no line and in no text of the object; ratios stay."""
    path = "/home/ada/envs/new/bin/python"
    named = json.loads(msgspec.json.encode(outcomes["07d5"]).decode().replace('"torch"', f'"torch@{path}"'))
    outcome = msgspec.convert(named, type=type(outcomes["07d5"]))
    monkeypatch.setattr("bakeoff.cli.history._judged", lambda *_: [outcome])
    assert "/home/ada" in "".join(cli("history", "mlp-mnist").out.split())
    for form in ([], ["--json"]):
        said = cli("history", "mlp-mnist", "--redact", *form).out
        assert "ada" not in said
        assert "torch@<path>/python" in said
        assert ('"ratio"' if form else "1.6") in said


def test_history_names_levels_and_explains_a_star_only_where_there_is_one(cli: Cli) -> None:
    """The head of a row says what the brackets are, and nothing is explained that is not there."""
    said = " ".join(cli("history", "mlp-mnist", "--results", str(FIRST.parent)).out.split())
    assert "2 cores; ratio (95 % CI) " in said
    assert re.search(r"x[\d.]+ \(99 % CI [\d.]+ to [\d.]+\), p ", said)
    one = cli("history", "mlp-mnist", "--results", str(ELSEWHERE.parent)).out
    assert "* marks" not in one
    assert "Welch" not in one


def test_rows_that_differ_in_an_option_stand_together_and_name_it(outcomes: dict[str, Outcome]) -> None:
    """Two rows of the same pair, work and machine tell the option in which they differ, and are no other machine."""
    other = outcomes["683b"]
    contenders = []
    for one in other.contenders:
        options = one.plan.contender.options | {"threads": "1"}
        contender = msgspec.structs.replace(one.plan.contender, options=options)
        contenders.append(msgspec.structs.replace(one, plan=msgspec.structs.replace(one.plan, contender=contender)))
    found = histories([outcomes["07d5"], msgspec.structs.replace(other, contenders=contenders)])
    pairs = [frozenset((row.first, row.second)) for row in found]
    assert all(pairs.index(pair) + pairs.count(pair) > index for index, pair in enumerate(pairs))
    text = " ".join(" ".join(_lines("mlp-mnist", found)).split())
    assert "torch / jax, threads=1 on " in text
    assert "Another machine" not in text


def nights(outcome: Outcome, factors: list[float]) -> list[Outcome]:
    """Give a comparison as it might have been night after night, its ratios by these factors higher."""
    made = []
    for night, factor in enumerate(factors, 1):
        verdicts = [msgspec.structs.replace(one, ratio=one.ratio * factor) for one in outcome.verdicts]
        one = changed(outcome, id=f"mlp-mnist-{night:04}", created_at=f"2026-01-{night:02}T03:17:00+00:00")
        made.append(msgspec.structs.replace(one, verdicts=verdicts))
    return made


def test_a_step_is_marked_at_the_entry_that_it_begins_with(outcomes: dict[str, Outcome]) -> None:
    """From one night on every ratio is a quarter higher: the lines say so there, and by which test it was found."""
    factors = [1.0 + 0.01 * math.sin(7 * night) for night in range(16)]
    found = histories(nights(outcomes["07d5"], [*factors[:9], *(1.25 * factor for factor in factors[9:])]))
    for row in found:
        (step,) = row.steps
        assert step.comparison == "mlp-mnist-0010"
        factor = step.after / step.before
        # A row is turned so that its last ratio is at least 1.
        assert max(factor, 1 / factor) == pytest.approx(1.25, rel=0.02)
        assert step.p <= LEVEL
    lines = _lines("mlp-mnist", found)
    assert max(map(len, lines)) <= 80
    at = next(place for place, line in enumerate(lines) if "mlp-mnist-0010" in line)
    assert "step: x" in " ".join(lines[at : at + 6])
    assert sum("step: x" in line for line in lines) == len(found)
    assert "some step is found with a probability of at most 1 %" in " ".join(" ".join(lines).split())
    few = histories(nights(outcomes["07d5"], [1.0] * 5 + [1.25] * 6))
    assert not any(row.steps for row in few)
    assert "E-divisive" not in " ".join(_lines("mlp-mnist", few))


def test_history_refuses_what_has_none(cli: Cli, tmp_path: Path) -> None:
    """No records, and records of other workloads, are errors that say what there is; damaged ones are left out."""
    assert cli("history", "mlp-mnist").code == 2
    said = cli("history", "vgg16", "--results", str(FIRST.parent))
    assert (said.code, f"no race of 'vgg16' in {FIRST.parent}; raced there: mlp-mnist" in said.err) == (2, True)
    for folder in (FIRST, SECOND):
        shutil.copytree(folder, tmp_path / "results" / folder.name)
    (tmp_path / "results" / FIRST.name / "comparison.json").write_text("{")
    said = cli("history", "mlp-mnist")
    assert said.code == 0
    assert "left out: " in said.err
    assert "07d5" not in said.out


def test_a_difference_tells_what_changed_and_how_surely(outcomes: dict[str, Outcome]) -> None:
    """On the same machine times and ratios are compared; the same comparison twice differs in nothing."""
    found = difference(outcomes["07d5"], outcomes["683b"])
    assert (found.comparable, found.only_before, found.only_after) == ("times", [], ["torch:denormals=flush"])
    assert [one.before_label for one in found.steps] == ["torch", "jax", "tensorflow"]
    assert all(one.change and one.change.factor.low < 1 < one.change.factor.high for one in found.steps)
    assert len(found.pairs) == 3
    itself = difference(outcomes["07d5"], outcomes["07d5"])
    assert itself.changed == []
    assert all((pair.change.factor.estimate, pair.change.p) == (1, 1) for pair in itself.pairs)


def test_another_machine_compares_ratios_alone(outcomes: dict[str, Outcome]) -> None:
    """Step times of two machines stand side by side without a change; what changed names processor and rules."""
    found = difference(outcomes["fada"], outcomes["07d5"])
    assert found.comparable == "ratios"
    assert all(one.before_s and one.after_s and one.change is None for one in found.steps)
    assert found.pairs
    assert all(pair.change is not None for pair in found.pairs)
    assert {"processor", "rules", "workload's file"} <= {one.name for one in found.changed}
    assert any("Another machine" in reason for reason in found.reasons)


@pytest.mark.parametrize("other", [{"batch_size": 64}, {"scenario": "infer"}, {"size": "reduced"}])
def test_another_work_compares_nothing(outcomes: dict[str, Outcome], other: dict[str, Any]) -> None:
    """No change of a number is computed, and the reason names what differs."""
    found = difference(outcomes["07d5"], changed(outcomes["07d5"], **other))
    assert found.comparable == "nothing"
    assert next(iter(other)).replace("_", " ") in found.reasons[0]
    assert all(one.change is None for one in [*found.steps, *found.pairs])


def test_a_change_that_is_one_is_told(outcomes: dict[str, Outcome]) -> None:
    """A ratio that is half as large again has changed beyond both intervals; the others have not."""
    before = outcomes["07d5"]
    first, *others = before.verdicts
    grown = msgspec.structs.replace(first, ratio=first.ratio * 1.5, low=first.low * 1.5, high=first.high * 1.5)
    found = difference(before, msgspec.structs.replace(before, verdicts=[grown, *others]))
    moved, *still = [pair.change for pair in found.pairs]
    assert moved.is_sure
    assert moved.is_apart
    assert moved.p < 0.001
    assert not any(one.is_sure for one in still)


def test_a_contender_that_never_ran_on_one_side_has_lost_no_settings(outcomes: dict[str, Outcome]) -> None:
    """Its status and certificate differ, and no version or setting that was only never read there."""
    before = outcomes["07d5"]
    first, *others = before.contenders
    unread = {"settings": {}, "versions": {}, "python": "", "inherited": {}}
    never = msgspec.structs.replace(first, status="uncertified", certificate=None, **unread)
    found = difference(before, msgspec.structs.replace(before, contenders=[never, *others]))
    changes = {one.name: (one.before, one.after) for one in found.changed if one.contender == first.label}
    assert changes == {"status": ("ranked", "uncertified"), "certificate": ("passed", None)}


def test_a_row_names_its_machine_without_how_it_was_set(cli: Cli, tmp_path: Path) -> None:
    """One core is one, and a GPU's driver, which changes on the same machine, stands in no row's head."""
    folder = tmp_path / FIRST.name
    shutil.copytree(FIRST, folder)
    comparison = json.loads((folder / "comparison.json").read_bytes())
    comparison["machine"] |= {"usable_cores": 1, "gpu": "NVIDIA H200", "gpu_driver": "570.1"}
    (folder / "comparison.json").write_text(json.dumps(comparison))
    said = " ".join(cli("history", comparison["workload"]["name"], "--results", str(tmp_path)).out.split())
    assert f"on NVIDIA H200, {comparison['machine']['processor']}, 1 core;" in said
    assert "570.1" not in said


def test_a_machine_that_changed_its_speed_on_one_side_is_told(outcomes: dict[str, Outcome]) -> None:
    """Of the side that it was; where no contender is in both, nothing is said of what the machine did meanwhile."""
    before = outcomes["07d5"]
    levels = Levels(turns=80, changed=[(2, 1), (2, 2), (3, 1), (4, 4)], low=1.3, high=1.4, is_found=True)
    found = difference(before, msgspec.structs.replace(before, levels=levels))
    (told,) = [one for one in found.reasons if "changed its speed" in one]
    assert told.startswith("In B the machine itself changed its speed, in 4 of 80 turns")
    assert any("meanwhile" in one for one in found.reasons)
    unfound = msgspec.structs.replace(levels, is_found=False)
    assert not any(
        "speed" in one for one in difference(before, msgspec.structs.replace(before, levels=unfound)).reasons
    )
    nobody = msgspec.structs.replace(before, contenders=[], levels=levels)
    assert not any("meanwhile" in one or "speed" in one for one in difference(before, nobody).reasons)


def test_diff_prints_both_sides_and_an_object(cli: Cli) -> None:
    """Ids and folders name comparisons; lines fit 80 columns; every key of the object is documented."""
    said = cli("diff", str(ELSEWHERE), "07d5", "--results", str(FIRST.parent))
    assert said.code == 0
    assert max(map(len, said.out.splitlines())) <= 80
    for words in ("ratios are comparable with care", "processor AMD EPYC -> ", "told only in B", "Step times", "Welch"):
        assert words in said.out
    told = json.loads(cli("diff", str(FIRST), str(SECOND), "--json").out)
    assert keys(told) == documented("json-diff.md")


def test_diff_shows_a_strangers_names_and_obeys_nothing(cli: Cli, tmp_path: Path) -> None:
    """What a terminal would obey in a label is written out."""
    for source in (FIRST, SECOND):
        folder = tmp_path / source.name
        shutil.copytree(source, folder)
        for path in (folder / "comparison.json", *folder.glob("*/record.json")):
            whole = json.loads(path.read_bytes())
            part = whole.get("record", whole)
            for plan in part["contenders"] if part is whole else [part["trial"]]:
                plan["contender"]["label"] += "\x1b[31m\x07\u202e"
            content = json.dumps(part)
            sealed = f'{{"sha256":"{hashlib.sha256(content.encode()).hexdigest()}","record":{content}}}'
            path.write_text(content if part is whole else sealed)
    said = cli("diff", FIRST.name, SECOND.name, "--results", str(tmp_path)).out
    assert "\\x1b[31m\\x07\\u202e" in said
    assert not re.search("[\x1b\x07\u202e]", said)


def test_diff_refuses_what_is_no_comparison(cli: Cli) -> None:
    """An unknown id lists those that there are."""
    said = cli("diff", "07d5", "none", "--results", str(FIRST.parent))
    assert said.code == 2
    assert "mlp-mnist-683b" in said.err


def test_diff_of_another_work_says_so(cli: Cli, tmp_path: Path) -> None:
    """Nothing is comparable, and no times or ratios stand there to be compared."""
    shutil.copytree(FIRST, tmp_path / "other")
    write_comparison(tmp_path / "other", msgspec.structs.replace(read_comparison(FIRST), batch_size=64))
    said = cli("diff", str(FIRST), str(tmp_path / "other")).out
    assert "Nothing is comparable." in said
    assert "Another batch size" in said
    assert "Step times" not in said


def test_diff_names_the_option_that_makes_two_of_one_name(outcomes: dict[str, Outcome]) -> None:
    """With --threads, which is in no label, torch is another contender: its option is told, and nothing is compared."""
    before = outcomes["07d5"]
    later = []
    for one in before.contenders:
        contender = one.plan.contender
        contender = msgspec.structs.replace(contender, options={**contender.options, "threads": "7"})
        later.append(msgspec.structs.replace(one, plan=msgspec.structs.replace(one.plan, contender=contender)))
    after = msgspec.structs.replace(before, contenders=later)
    said = " ".join(" ".join(diff_lines(before, after, difference(before, after))).split())
    assert "Nothing is comparable: no contender is in both with the same options." in said
    assert "torch: option threads 2 -> 7" in said
    assert "Other options, so not held against each other: torch, jax, tensorflow." in said
    assert "Only in" not in said
    assert "Step times (95 % CI)" not in said


def test_history_obeys_nothing_in_a_damaged_folder_s_name(cli: Cli, tmp_path: Path) -> None:
    """What a terminal would obey is written out where a comparison is left out, too."""
    shutil.copytree(FIRST, tmp_path / "results" / "whole")
    odd = shutil.copytree(FIRST, tmp_path / "results" / "odd\x1b[31m")
    (odd / "comparison.json").write_text("{")
    said = cli("history", "mlp-mnist").err
    assert "left out: " in said
    assert "odd\\x1b[31m" in said
    assert "\x1b" not in said


def test_a_difference_goes_from_the_first_comparison_to_the_second(outcomes: dict[str, Outcome]) -> None:
    """Every pair is turned so that its ratio was at least 1, and has changed by the later ratio over the earlier."""
    found = difference(outcomes["07d5"], outcomes["683b"])
    assert found.pairs
    for pair in found.pairs:
        assert pair.before.ratio >= 1
        assert (pair.before.first, pair.before.second) == (pair.after.first, pair.after.second)
        assert pair.change.factor.estimate == pytest.approx(pair.after.ratio / pair.before.ratio)


def test_a_difference_names_who_is_in_one_of_both_alone(outcomes: dict[str, Outcome]) -> None:
    """A contender that the other comparison lacks, on the side that has it."""
    whole = outcomes["07d5"]
    gone, *others = whole.contenders
    pairs = [one for one in whole.verdicts if gone.label not in (one.first, one.second)]
    fewer = msgspec.structs.replace(whole, contenders=others, verdicts=pairs)
    for before, after, alone in ((whole, fewer, ([gone.label], [])), (fewer, whole, ([], [gone.label]))):
        found = difference(before, after)
        assert (found.only_before, found.only_after) == alone


def test_other_numbers_of_the_same_source_are_a_reason_for_care(outcomes: dict[str, Outcome]) -> None:
    """The source's name may stay as it was."""
    before = outcomes["07d5"]
    data = msgspec.structs.replace(before.comparison.data, sha256="0" * 64)
    assert any(one.startswith("Other data") for one in difference(before, changed(before, data=data)).reasons)
    assert not any(one.startswith("Other data") for one in difference(before, before).reasons)


def test_a_history_is_the_same_whoever_was_named_first(outcomes: dict[str, Outcome]) -> None:
    """A later comparison with its contenders in another order goes on with the row of the pair."""
    before, later = outcomes["07d5"], outcomes["683b"]
    turned = msgspec.structs.replace(later, verdicts=[mirrored(one) for one in later.verdicts])
    rows, other = histories([before, later]), histories([before, turned])
    assert [len(row.entries) for row in rows] == [len(row.entries) for row in other]
    for one, two in zip(rows, other, strict=True):
        assert (one.first, one.second) == (two.first, two.second)
        ratios = [[entry.verdict.ratio for entry in row.entries] for row in (one, two)]
        assert ratios[0] == pytest.approx(ratios[1])


def test_an_entry_has_changed_by_its_ratio_over_the_one_before(outcomes: dict[str, Outcome]) -> None:
    """A pair that has become further apart has a factor above 1."""
    rows = [row for row in histories(outcomes.values()) if len(row.entries) > 1]
    assert rows
    for row in rows:
        first, second = row.entries
        assert first.ratio_change is None
        assert second.ratio_change.factor.estimate == pytest.approx(second.verdict.ratio / first.verdict.ratio)


def test_other_data_has_a_history_of_its_own(outcomes: dict[str, Outcome]) -> None:
    """Other numbers are another work, although their source has the same name."""
    data = msgspec.structs.replace(outcomes["683b"].comparison.data, sha256="0" * 64)
    found = histories([outcomes["07d5"], changed(outcomes["683b"], data=data)])
    assert all(len(row.entries) == 1 for row in found)


def test_each_entry_has_changed_from_the_one_before_it(outcomes: dict[str, Outcome]) -> None:
    """A third comparison that is as the second was has changed in nothing, however far both are from the first."""
    second = changed(outcomes["683b"], bakeoff="9.9.0")
    third = changed(second, created_at="2099-01-01T00:00:00Z")
    rows = [row for row in histories([outcomes["07d5"], second, third]) if len(row.entries) == 3]
    assert rows
    for row in rows:
        assert "bakeoff" in row.entries[1].changed
        assert row.entries[2].changed == {}
        assert row.entries[2].ratio_change.factor.estimate == 1.0
