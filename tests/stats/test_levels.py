"""A machine that changes its speed under all contenders at once is found; what contenders do of their own is not."""

from __future__ import annotations

import tracemalloc
from typing import Any

import numpy as np
import pytest

from bakeoff.stats import levels as of_levels
from bakeoff.stats.levels import Levels, machine_levels

TURNS = 8


def levels(logs: Any, disturbed: set[tuple[int, int]] | None = None) -> Levels:
    """Return what is found of log times (contenders, rounds, turns)."""
    times = {
        chr(ord("a") + place): {
            (n, t): float(np.exp(log)) for n, row in enumerate(mine, 1) for t, log in enumerate(row)
        }
        for place, mine in enumerate(logs)
    }
    found = machine_levels(times, disturbed or set())
    assert found is not None
    return found


def noise(contenders: int, rounds: int, *, block: float = 0.05, process: float = 0.02, seed: int = 0) -> Any:
    """Return the logarithms of calm blocks: noise of each block and of each process."""
    draw = np.random.default_rng(seed)
    return draw.normal(0.0, block, (contenders, rounds, TURNS)) + draw.normal(0.0, process, (contenders, rounds, 1))


def test_a_machine_with_two_speeds_is_found_with_its_turns_and_ratios() -> None:
    """Round 4 and the end of round 6 are slower for all; b gains less from that than a."""
    logs = noise(3, 8, block=0.01, process=0.005)
    logs[1] += np.log(2.0)
    for place, factor in enumerate((1.7, 1.3, 1.4)):
        logs[place, 3] += np.log(factor)
        logs[place, 5, 3:] += np.log(factor)
    found = levels(logs)
    assert found.is_found
    assert found.turns == 64
    assert found.changed == [*((4, turn) for turn in range(8)), *((6, turn) for turn in range(3, 8))]
    assert found.rounds == [4, 6]
    geometric_mean = (1.7 * 1.3 * 1.4) ** (1 / 3)
    assert found.low == pytest.approx(geometric_mean, rel=0.03)
    assert found.high == pytest.approx(geometric_mean, rel=0.03)
    pair = next(one for one in found.ratios if (one.first, one.second) == ("a", "b"))
    assert pair.otherwise == pytest.approx(0.5, rel=0.02)
    assert pair.then == pytest.approx(0.5 * 1.7 / 1.3, rel=0.02)
    assert len(found.ratios) == 3


def test_a_machine_that_was_faster_at_times_is_found() -> None:
    """Where it is slow for the most part, the others are the fast turns."""
    logs = noise(2, 10, block=0.01)
    logs[:, 6:9] -= np.log(1.4)
    found = levels(logs)
    assert (found.is_found, found.rounds) == (True, [7, 8, 9])
    assert found.high < 1 / 1.3


def test_turns_count_from_a_fifth_on() -> None:
    """What is longer, or shorter, by less is within what calm blocks vary by."""
    logs = noise(2, 20, block=0.001, process=0.001)
    for number, factor in ((4, 1.18), (6, 1.22), (9, 1 / 1.18), (13, 1 / 1.22)):
        logs[:, number - 1] += np.log(factor)
    assert levels(logs).rounds == [6, 13]


def test_one_contender_alone_is_no_machine() -> None:
    """However often one is slow, and by how much, while another is not."""
    logs = noise(3, 10)
    logs[0, 3:6] += 1.0
    logs[1, 6:8] += 1.0
    found = levels(logs)
    assert (found.is_found, found.changed, found.ratios) == (False, [], [])


def test_turns_that_others_disturbed_have_their_explanation() -> None:
    """They are no change of the machine's speed."""
    logs = noise(2, 10, block=0.01)
    slow = {(number, turn) for number in (3, 7) for turn in range(TURNS)}
    logs[:, [2, 6]] += 0.5
    assert levels(logs).is_found
    assert not levels(logs, slow).changed


def test_a_few_turns_are_not_told() -> None:
    """Three turns at once, and four of a hundred, move no interval."""
    logs = noise(3, 10, block=0.01)
    logs[:, 4, :3] += 0.5
    assert (len(levels(logs).changed), levels(logs).is_found) == (3, False)
    logs = noise(3, 20, block=0.01)
    logs[:, 4, :4] += 0.5
    assert (len(levels(logs).changed), levels(logs).is_found) == (4, False)


def test_slow_processes_that_coincide_are_a_machine_in_five_percent_at_most() -> None:
    """Each contender draws slow rounds of its own, one in four; two of them coincide by chance."""
    draw = np.random.default_rng(3)
    found = 0
    for seed in range(300):
        logs = noise(2, 20, seed=seed) + 0.4 * (draw.random((2, 20, 1)) < 0.25)
        found += levels(logs).is_found
    assert found / 300 <= 0.07


def test_wild_blocks_of_one_speed_are_no_machine() -> None:
    """Blocks that vary by 30 % are often longer together; only half as many turns again as by chance are a finding."""
    found = sum(levels(noise(2, 20, block=0.3, process=0.1, seed=seed)).is_found for seed in range(200))
    assert found / 200 <= 0.02


@pytest.mark.parametrize(("contenders", "rounds", "least"), [(2, 10, 0.5), (3, 8, 0.5), (5, 20, 0.8)])
def test_speeds_that_last_for_a_round_are_found(contenders: int, rounds: int, least: float) -> None:
    """A fifth of the time is 1.4 times as slow, for a round's length on average."""
    draw = np.random.default_rng(4)
    found = 0
    for seed in range(60):
        is_slow, slow = False, []
        for chance in draw.random(rounds * TURNS):
            is_slow = chance >= 1 / TURNS if is_slow else chance < 0.25 / TURNS
            slow.append(is_slow)
        logs = noise(contenders, rounds, seed=seed) + np.log(1.4) * np.reshape(slow, (1, rounds, TURNS))
        found += levels(logs).is_found
    assert found / 60 >= least


def test_contenders_that_rest_are_not_asked() -> None:
    """Who ran in fewer rounds says nothing of the others; who ran alone has nobody beside it."""
    logs = noise(3, 12, block=0.01)
    logs[:, 8:10] += 0.5
    times = {
        name: {(n, t): float(np.exp(logs[place, n, t])) for n in range(rounds) for t in range(TURNS)}
        for place, (name, rounds) in enumerate([("a", 12), ("b", 12), ("c", 5)])
    }
    times["c"] |= {(8, t): float(np.exp(logs[2, 8, t])) for t in range(3)}  # too few of these turns for a ratio
    found = machine_levels(times)
    assert found is not None
    assert (found.is_found, found.rounds) == (True, [8, 9])
    assert [(one.first, one.second) for one in found.ratios] == [("a", "b")]
    assert machine_levels({"a": times["a"]}) is None
    assert machine_levels({}) is None


@pytest.mark.parametrize("rested", [5, 6, 8, 12])
def test_who_rests_after_slow_rounds_hides_nothing(rested: int) -> None:
    """Most of a contender's few rounds were slow for all: its usual time is that of the machine's usual speed."""
    logs = noise(3, 12, block=0.03, process=0.01)
    logs[:, :3] += np.log(1.5)
    rounds = {"a": 12, "b": 12, "c": rested}
    found = machine_levels(
        {
            name: {(n, t): float(np.exp(logs[place, n, t])) for n in range(many) for t in range(TURNS)}
            for place, (name, many) in enumerate(rounds.items())
        }
    )
    assert found is not None
    assert (found.is_found, found.rounds) == (True, [0, 1, 2])
    assert found.low > 1.3


def test_the_same_times_give_the_same_finding() -> None:
    """The random orders have a fixed seed."""
    logs = noise(2, 10)
    logs[:, 3] += 0.4
    assert levels(logs) == levels(logs)


def test_many_turns_are_judged_in_little_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Random orders are drawn in parts, and all of them count: nine contenders in 200 rounds would take gigabytes."""
    monkeypatch.setattr(of_levels, "_AT_ONCE", 100_000)
    logs = noise(3, 20)
    logs[:, 5:8] += 0.4
    own = np.random.default_rng(7).permuted(np.repeat([[0.4] * 6 + [0.0] * 14], 3, axis=0), axis=1)[:, :, None]
    tracemalloc.start()
    found = [levels(logs).is_found, levels(noise(3, 20) + own).is_found]
    peak_bytes = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == [True, False]
    assert peak_bytes < 10e6
