"""XLA's flags: what is in force, by a program's options, the user's XLA_FLAGS, or XLA's own defaults."""

from __future__ import annotations

import os

import pytest

from bakeoff.frameworks import xla


@pytest.mark.parametrize(
    ("flags", "algorithm"),
    [
        ("", "profiling"),
        ("--xla_gpu_autotune_level=0", "heuristic"),
        ("--xla_gpu_autotune_level=0 --xla_gpu_autotune_level=2", "profiling"),
        ("--xla_gpu_deterministic_ops", "fixed"),
        ("--xla_gpu_deterministic_ops=true --other=1", "fixed"),
        ("--xla_gpu_deterministic_ops=true --xla_gpu_deterministic_ops=false", "profiling"),
        ("--not_xla_gpu_autotune_level=0", "profiling"),
    ],
)
def test_how_algorithms_are_chosen_follows_from_the_users_flags(
    monkeypatch: pytest.MonkeyPatch, flags: str, algorithm: str
) -> None:
    """The last flag counts, as XLA reads them; without any XLA tries algorithms."""
    monkeypatch.setenv(xla.FLAGS, flags)
    assert xla.algorithms() == algorithm


@pytest.mark.parametrize("wanted", ["heuristic", "profiling", "fixed"])
def test_a_programs_own_options_win(monkeypatch: pytest.MonkeyPatch, wanted: str) -> None:
    """What a program was compiled with is in force, whatever the environment says; so is what is put behind that."""
    monkeypatch.setenv(
        xla.FLAGS, "--xla_gpu_autotune_level=1" if wanted == "heuristic" else "--xla_gpu_autotune_level=0"
    )
    assert xla.algorithms(xla.CONVOLUTIONS[wanted]) == wanted
    xla.add(xla.CONVOLUTIONS[wanted])
    assert xla.algorithms() == wanted


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("", "default"),
        (f"--{xla.COMMAND_BUFFERS}=", "none"),
        (f"--{xla.COMMAND_BUFFERS}=FUSION,CUBLAS", "FUSION,CUBLAS"),
    ],
)
def test_command_buffers_are_told(monkeypatch: pytest.MonkeyPatch, flags: str, told: str) -> None:
    """Which commands are recorded as CUDA graphs: by XLA's choice, none, or those that the user names."""
    monkeypatch.setenv(xla.FLAGS, flags)
    assert xla.command_buffers() == told


def test_no_flag_leaves_the_environment_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where an option leaves the choice to XLA nothing is set."""
    monkeypatch.delenv(xla.FLAGS, raising=False)
    xla.add(xla.CONVOLUTIONS["default"])
    assert xla.FLAGS not in os.environ


@pytest.mark.parametrize(
    ("flags", "told"),
    [
        ("", "one by one while it is profiled"),
        (f"--{xla.WHILE_PROFILED}=false", "one by one while it is profiled"),
        (f"--{xla.WHILE_PROFILED}", "their kernels are not told apart"),
        (f"--{xla.WHILE_PROFILED}=true", "their kernels are not told apart"),
    ],
)
def test_a_profiles_reader_knows_where_commands_are_recorded(
    monkeypatch: pytest.MonkeyPatch, flags: str, told: str
) -> None:
    """By itself XLA starts them one by one under its profiler; where none is recorded there is nothing to say."""
    monkeypatch.setenv(xla.FLAGS, flags)
    (said,) = xla.notes({xla.FACT: "default", "fusions": 3})
    assert "command buffers" in said
    assert told in said
    assert xla.notes({xla.FACT: xla.NONE}) == xla.notes({"fusions": 3}) == []
