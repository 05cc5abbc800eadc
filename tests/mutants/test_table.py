from __future__ import annotations

import re
from pathlib import Path

from catalogue import MUTANTS
from drawing import DRAWN, drawn
from planting import planted
from table import PAGE, kind_of, rows, summary


def test_the_page_has_every_mutant() -> None:
    """docs/mutants.md has each fault of the catalogue in the catalogue's order and nothing else; `make mutants`."""
    expected = [(mutant.framework or mutant.where, mutant.name) for mutant in MUTANTS.values()]
    assert [(group, fault) for group, fault, _ in rows(PAGE.read_text())] == expected


def test_the_page_says_where_each_is_planted() -> None:
    """The kind of part and the file of each row are the catalogue's: what has moved to another file is there."""
    page = PAGE.read_text().splitlines()
    wanted = [f"| {one.name} | {one.where}, {one.file} | " for one in MUTANTS.values()]
    assert not [row for row in wanted if not any(line.startswith(row) for line in page)]


def test_the_page_says_what_caught_each() -> None:
    """Each fault that is not equivalent is caught by the checks that the catalogue names."""
    for group, fault, caught in rows(PAGE.read_text()):
        mutant = MUTANTS[f"{group}-{fault}"]
        if mutant.equivalent:
            assert caught == f"equivalent: {mutant.equivalent}"
            continue
        by_question = dict(cell.strip("*").replace("**:", ":", 1).split(": ", 1) for cell in caught.split("<br>"))
        assert by_question.keys() == mutant.asked.keys(), mutant.id
        for question, expected in mutant.asked.items():
            assert any(check in by_question[question] for check in expected.split(" or ")), mutant.id


def test_the_page_counts_what_it_has() -> None:
    """How many faults there are, and how many each kind of check has caught, and caught alone, is that of its rows."""
    page = PAGE.read_text()
    caught = [cell for _, _, cell in rows(page)]
    equivalent = sum(cell.startswith("equivalent: ") for cell in caught)
    counts = f"{len(caught)} faults: {len(caught) - equivalent} are caught, {equivalent} are equivalent, none passes."
    assert counts in page
    questions = [re.findall(r"\*\*(.+?)\*\*: ", cell) for cell in caught if not cell.startswith("equivalent: ")]
    assert summary([{kind_of(one) for one in each} for each in questions]) in page


def test_every_mutant_can_be_planted(tmp_path: Path) -> None:
    """Each fault's text stands once in the file that it is planted in, also of those that this run does not draw."""
    for number, mutant in enumerate(MUTANTS.values()):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert planted(mutant, folder).exists()


def test_a_part_is_drawn_by_the_sources() -> None:
    """The part is the same for the same sources, another one for others, and in the end every mutant has its turn."""
    assert drawn(seed="a") == drawn(seed="a") != drawn(seed="b")
    assert len(drawn()) <= sum(DRAWN.values())
    assert set().union(*(drawn(seed=str(number)) for number in range(500))) == MUTANTS.keys()


def test_every_mutant_is_to_be_caught_or_equivalent() -> None:
    """A mutant names a check that has to fail, or why none can."""
    assert not [one.id for one in MUTANTS.values() if bool(one.equivalent) == any(one.asked.values())]
