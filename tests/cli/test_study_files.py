"""No file of a study ends in a traceback: drawn ones, run in this process up to the first that they would start."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import pytest
from tests.cli.study_files import study_files
from tests.cli.test_fuzz import UNSAFE, here, said
from tests.drawn import is_all

from bakeoff.cli import FAILED, MISUSED

__all__ = ["here"]

HOW = (("--estimate",), ("--dry-run",), (), ("--full", "--dry-run"))
"""What a study is asked for, in turn."""


@pytest.mark.parametrize(
    ("seed", "count"),
    [
        (1, 60),
        pytest.param(2, 1000 if is_all() else 200, marks=[pytest.mark.slow, pytest.mark.timeout(900)]),
    ],
)
def test_no_file_of_a_study_ends_in_a_traceback(
    here: Path, monkeypatch: pytest.MonkeyPatch, seed: int, count: int
) -> None:
    """Whatever is in it, the answer is an exit code that is documented and a message that can be read."""
    ended: Counter[int | None] = Counter()
    whole = 0
    for number, text in enumerate(study_files(seed, count)):
        (here / "study.toml").write_text(text, encoding="utf-8")
        line = ["reproduce", "study.toml", *HOW[number % len(HOW)]]
        monkeypatch.setattr(sys, "argv", ["bakeoff", *line])
        try:
            code, err, _ = said(line)
        except Exception as error:
            raise AssertionError(text) from error
        ended[code] += 1
        assert code in {None, 0, FAILED, MISUSED}, text
        assert bool(err) or code in {None, 0}, text
        assert "Traceback" not in err, text
        assert not {*err} & UNSAFE, text
        whole += "cannot be used as a study" not in err
    # The files are worth their time: some are studies still, and end for want of frameworks, and many are refused.
    assert whole > count / 20
    assert ended[MISUSED] > count / 2
