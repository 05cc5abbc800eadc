from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
import pytest
from rich.console import Console
from tests.report.shown import printed

from bakeoff.report.forms.terminal import show
from bakeoff.report.pages import page_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from bakeoff.judge.outcome import Outcome


def test_no_line_is_wider_than_the_screen(each: Callable[[], list[Outcome]]) -> None:
    """On 80 columns every line fits."""
    for outcome in each():
        assert max(len(line) for line in printed(outcome).splitlines()) <= 80


def test_narrow_screens_lose_no_figure(undecided: Outcome) -> None:
    """On 40 columns the figures are all there, however the screen breaks the lines."""
    text = printed(undecided, width=40)
    for figure in ("0.98 ", "0.96 to 1.01", "32,500", " 315", "2.2x (2.1 to 2.3)"):
        assert figure in text


def test_wide_screens_have_one_table(undecided: Outcome) -> None:
    """Where there is room the ratios stand in the same line as the step times."""
    line = next(line for line in printed(undecided, width=120).splitlines() if line.startswith("jax "))
    assert "1.02 " in line
    assert "undecided, 1.04x (0.99 to 1.09)" in line


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_any_encoding(undecided: Outcome, encoding: str) -> None:
    """Without UTF-8 all is printed, in characters that the encoding has."""
    odd = "torch:mode=\N{GREEK SMALL LETTER ALPHA}\N{BULLET}"
    fast = msgspec.structs.replace(undecided.contenders[0], label=odd, median_step_s=4.1e-6)
    data = io.BytesIO()
    stream = io.TextIOWrapper(data, encoding=encoding, errors="strict")
    page = page_of(msgspec.structs.replace(undecided, contenders=[fast], verdicts=[]))
    show(page, Console(file=stream, width=80))
    stream.flush()
    assert "torch:mode=\\u03b1\\u2022" in data.getvalue().decode(encoding)
    assert " us " in data.getvalue().decode(encoding)


def test_labels_cannot_steer_the_terminal(undecided: Outcome) -> None:
    """A label with control characters and markup is shown, not obeyed."""
    one = msgspec.structs.replace(undecided.contenders[0], label="torch@\x1b[31m[bold]:smile:")
    text = printed(msgspec.structs.replace(undecided, contenders=[one], verdicts=[]), width=120)
    assert "torch@\\x1b[31m[bold]:smile:" in text
    assert "\x1b" not in text


def test_paths_and_command_are_whole(undecided: Outcome, tmp_path: Path) -> None:
    """Paths of reports that exist, and the command, stand on one line each, to be copied."""
    folder = tmp_path / ("long" * 30)
    folder.mkdir()
    (folder / "report.html").touch()
    command = "bakeoff run mlp-mnist " + " ".join(f"torch:threads={count}" for count in range(20))
    asked = msgspec.structs.replace(undecided.comparison, command=command)
    text = printed(msgspec.structs.replace(undecided, comparison=asked, path=str(folder)))
    assert f"report    {folder / 'report.html'}\n" in text
    assert f"reproduce {command}\n" in text
    assert "chart.png" not in text


def test_light_import() -> None:
    """Pages and the list of forms import no drawing library: a terminal needs none."""
    code = (
        "import sys, bakeoff.report.pages, bakeoff.report.forms; bakeoff.report.forms.forms(); "
        "print({'altair', 'jinja2', 'pandas', 'vl_convert'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
