from __future__ import annotations

from pathlib import Path

from bakeoff.environments.declared import frameworks
from bakeoff.environments.options import possible
from bakeoff.spec.options import OPTIONS
from bakeoff.workloads.calls import calls_of
from bakeoff.workloads.load import load, names

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


def parts(section: str) -> dict[str, list[str]]:
    """Give the lines of a section that are of a workload's parts, by the workload."""
    lines = PAGE.read_text("utf-8").split(f"\n## {section}\n")[1].split("\n## ")[0].splitlines()
    found: dict[str, list[str]] = {}
    for line in lines:
        if line.startswith("| `") and line.split("`")[1] in names():
            found.setdefault(line.split("`")[1], []).append(line)
    return found


def called(name: str) -> frozenset[str]:
    """Give what a workload's model calls in training."""
    loaded = load(name)
    size = "reduced" if "reduced" in loaded.workload.sizes else "full"
    return calls_of(loaded.build, loaded.size(size), trains=True).kinds


def test_the_page_says_which_part_of_which_workload_can_use_which_lstm() -> None:
    """Each workload with an LSTM has its lines and no other; single steps and lengths are told where there are any."""
    told = parts("lstm")
    models = {name: called(name) for name in names()}
    assert told.keys() == {name for name, kinds in models.items() if kinds & {"LSTM", "LSTMCell"}}
    for name, lines in told.items():
        steps = [line for line in lines if "`nn.LSTMCell`" in line]
        assert bool(steps) == ("LSTMCell" in models[name])
        assert all("| as `block` |" in line for line in steps)
        assert any("within lengths" in line for line in lines) == ("lengths" in models[name])


def test_the_page_says_which_workloads_attention_can_use_which_kernel() -> None:
    """Each workload that calls nn.attention has its line, and no other."""
    assert parts("attention").keys() == {name for name in names() if "attention" in called(name)}
