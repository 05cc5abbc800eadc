"""How long the list of a gallery takes to load and to answer, in Chromium, from files.

    python benchmarks/gallery.py [--repeats 5] [--output benchmarks/results/gallery]

Goal: 10,000 comparisons load within 2 s. Cards are made up, in the words and lengths that real ones have; their
pictures are files of their own, all like that of the records in docs/records. Each row is the median of fresh starts
of the browser. usable: from the start of the navigation until the list takes keys; drawn: until the pictures in the
window are there; search, filter, order and page: from an input to the next frame.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

from results import write

from bakeoff.judge.comparison import judge_comparison
from bakeoff.report.gallery.card import Card
from bakeoff.report.gallery.picture import small
from bakeoff.report.gallery.site import Site
from bakeoff.report.pages import page_of

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "report" / "browser"))
COUNTS = (100, 1_000, 10_000)

WORKLOADS = ("mlp-mnist", "mlp-1024", "cnn-cifar10", "resnet50-cifar10", "vgg16", "bert-base", "gcn-cora", "imdb-lstm")
DEVICES = ("cpu: AMD EPYC 7763 64-Core Processor", "cuda: NVIDIA L4", "cuda: NVIDIA A100-SXM4-40GB")
FRAMEWORKS = {"torch": ("2.12.1", "2.13.0"), "jax": ("0.9.2", "0.10.2"), "tensorflow": ("2.20.0", "2.21.0")}
VERDICTS: tuple[dict[str, int], ...] = ({"decided": 3}, {"decided": 2, "undecided": 1}, {"decided": 2, "equal": 1})
A_STUDY_OF = 8
"""Of a made-up study, how many comparisons."""


def cards(number: int) -> list[Card]:
    """Return made-up cards, the same for the same number; one in ten is a study with comparisons of its own."""
    draw = random.Random(number)  # noqa: S311 - of cards, not of keys
    found: list[Card] = []
    while len(found) < number:
        study = _study(draw, len(found)) if draw.random() < 0.1 and len(found) + A_STUDY_OF < number else None
        found += [study] if study else []
        found += [_comparison(draw, len(found) + place, study) for place in range(A_STUDY_OF if study else 1)]
    return found[:number]


def _comparison(draw: random.Random, place: int, study: Card | None) -> Card:
    """Return a made-up comparison of three contenders."""
    workload = study.workloads[0] if study else draw.choice(WORKLOADS)
    device = study.devices[0] if study else draw.choice(DEVICES)
    first, *others = draw.sample(sorted(FRAMEWORKS), len(FRAMEWORKS))
    ratios = sorted(round(1.1 + 2 * draw.random(), 2) for _ in others)
    told = ", ".join(
        f"{r}x {name} (95 % CI {r - 0.03:.2f} to {r + 0.04:.2f})" for r, name in zip(ratios, others, strict=True)
    )
    batch = draw.choice((8, 32, 64, 128))
    return Card(
        slug=f"{workload}-{place:04x}-{draw.randrange(16**6):06x}",
        kind="comparison",
        title=f"{workload}, train, batch {batch}, float32, synthetic",
        headline=f"{first} is fastest: {told}.",
        created_at=_date(place),
        workloads=[workload],
        scenarios=["train" if draw.random() < 0.7 else "infer"],
        devices=[device],
        frameworks=sorted(FRAMEWORKS),
        versions=[f"{name} {draw.choice(versions)}" for name, versions in sorted(FRAMEWORKS.items())],
        verdicts=draw.choice(VERDICTS),
        ratio=ratios[-1],
        study=study.slug if study else "",
        picture="Ratio by pair",
        width=356,
        height=228,
    )


def _study(draw: random.Random, place: int) -> Card:
    """Return a made-up study."""
    workload = draw.choice(WORKLOADS)
    return Card(
        slug=f"sweep-{workload}-{place:04x}-{draw.randrange(16**6):06x}",
        kind="study",
        title=f"{workload} over batch size",
        headline="jax is fastest at every batch size, 1.2 to 1.9 times torch.",
        created_at=_date(place),
        workloads=[workload],
        scenarios=["train"],
        devices=[draw.choice(DEVICES)],
        frameworks=sorted(FRAMEWORKS),
        verdicts={"decided": 20, "undecided": 4},
        ratio=1.9,
        comparisons=A_STUDY_OF,
        picture="samples/s",
        width=356,
        height=228,
    )


def _date(place: int) -> str:
    """Return a minute of 2026, later for later places."""
    day = place % 336
    return f"2026-{1 + day // 28:02}-{1 + day % 28:02}T{place % 24:02}:{place % 60:02}"


def made(folder: Path, number: int, svg: bytes) -> int:
    """Write a gallery's list with so many cards, and their pictures; return the bytes of its data."""
    found = cards(number)
    for card in found:
        page = folder / "pages" / card.slug
        page.mkdir(parents=True)
        (page / "card.svg").write_bytes(svg)
    Site(folder, "Gallery", "none", None).write_list(found)
    return (folder / "data.js").stat().st_size


def timed(folder: Path, repeats: int) -> dict[str, float]:
    """Return the median times of fresh starts of the browser, in milliseconds."""
    import tools  # of tests/report/browser

    found: list[dict[str, float]] = []
    for number in range(repeats):
        arguments = [
            tools.chromium(),
            str(tools.modules()),
            (folder / "index.html").as_uri(),
            str(folder / f"p{number}"),
        ]
        command = [tools.node(), str(Path(__file__).with_suffix(".mjs")), *arguments]
        found.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    return {name: statistics.median(one[name] for one in found) for name in found[0]}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--output", type=Path)
    arguments = parser.parse_args()
    outcome = judge_comparison(ROOT / "docs" / "records" / "mlp-mnist-07d5")
    picture = small(page_of(outcome), outcome)
    assert picture is not None
    rows: list[dict[str, Any]] = []
    for number in COUNTS:
        with tempfile.TemporaryDirectory() as temporary:
            size = made(Path(temporary), number, picture.svg)
            times = timed(Path(temporary), arguments.repeats)
        assert times.pop("cards") == number
        told = {f"{name} (ms)": round(value) for name, value in times.items()}
        rows.append({"cards": f"{number:,}", "data.js (kB)": round(size / 1000), **told})
    write(rows, __doc__ or "", arguments.output)


if __name__ == "__main__":
    main()
