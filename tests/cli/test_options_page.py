from __future__ import annotations

from pathlib import Path

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import possible
from bakeoff.spec.options import OPTIONS

PAGE = Path(__file__).parents[2] / "docs" / "options.md"


def rows() -> list[str]:
    """Give the table's lines, as the frameworks declare their options."""
    listed = [declared.info for declared in frameworks().values() if declared.info.listed]
    return [
        f"| `{option}` | {info.title} | {possible(info.options[option])} | {info.options[option].default} |"
        for option in OPTIONS
        for info in listed
        if option in info.options
    ]


def test_the_page_says_what_the_frameworks_declare() -> None:
    """docs/options.md has one line for each option of each framework, with its values and its default, and no other."""
    told = [line for line in PAGE.read_text("utf-8").splitlines() if line.startswith("| `") and line.count("|") == 5]
    table = [line for line in told if line.split("`")[1] in OPTIONS]
    expected = rows()
    assert table == expected, "the lines should be:\n" + "\n".join(expected)


def test_the_page_says_what_is_cast_in_every_precision() -> None:
    """Each value of the option precision has its line, and each common option but those of the worker its words."""
    text = PAGE.read_text("utf-8")
    (precision,) = [option for option in OPTIONS.values() if option.name == "precision"]
    assert all(f"\n| `{value}` | " in text for value in precision.values)
    sections = (
        "precision",
        "layout",
        "optimizer_kernel",
        "conv_algorithm",
        "attention",
        "graph_optimization",
        "onednn",
        "denormals",
        "device",
    )
    assert all(f"\n## {name}\n" in text for name in sections)
