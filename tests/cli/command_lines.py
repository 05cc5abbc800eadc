"""Command lines as nobody would write them, drawn from a seed: right words, wrong words, and what breaks programs."""

from __future__ import annotations

import random
from collections.abc import Iterator

NAMES = ("mlp-mnist", "mlp-1024", "vgg16", "mine.py", "sized.py", "exit.py", "odd.py", "folder.py", "no-such")
CONTENDERS = (
    *("fake", "fake:step_ms=5", "fake:step_ms=5,mode=compiled", "fake@/bin/sh", "fake@nobody", "fake@1.2.3"),
    *("fake:threads=0", "fake:=", "fake:step_ms", "fake@", "@", ":", "fake:'", 'fake:"a,b"', "no-such", "torch"),
)
NUMBERS = ("1", "0", "-1", "2", "32", "1,2", "1,1", ",", "4096", str(10**22), "9" * 5000, "1e3", "0x10", "٣", "nan")
TEXTS = (
    *("", " ", "-", "--", "=", ",", "'", '"', "\\", "%", "{}", "%s", "../x", "./", "~", "*", "$HOME", "\x1b[31m"),
    *("\n", "\t", "\u202e", "\u0000"[:0], "é", "\U0001f600", "\udcff", "x" * 300, "x" * 5000, "a/b/c", "results"),
)
TIMES = ("90s", "5m", "0", "-1", "1h", "inf", "nan", "1e9", "9" * 400, "s")
SHARES = ("5%", "0.05", "0", "1", "-5%", "nan", "inf", "%", "1e-400")
SIZES = ("4GiB", "500MB", "0", "-1", "9" * 5000, "1e3", "4", "k", "1.5T")
FILES = ("out.html", "out.svg", "out.png", "out.bmp", "notes.html", "results", "x" * 300, "no/such/out.html", "", ".")
COMPARISONS = ("07d5", "mlp-mnist-07d5", "results/mlp-mnist-07d5", "07d", "", ".", "..", "x" * 300, "\x1b[2J", "*")

OPTIONS: dict[str, tuple[str, ...]] = {
    "--scenario": ("train", "infer", "learn", *TEXTS),
    "--batch-size": NUMBERS,
    "--size": ("full", "reduced", *TEXTS),
    "--device": ("cpu", "cuda", "cpu,cuda", *TEXTS),
    "--threads": NUMBERS,
    "--precision": ("float32", "bfloat16", "float32,bfloat16", *TEXTS),
    "--option": ("mode=eager", "mode=eager,compiled", "mode", "=", "step_ms=1,2", *TEXTS),
    "--tier": ("matched", "best", "native", "matched,best", *TEXTS),
    "--data": ("synthetic", "digits", "digits:x", "synthetic:x", *TEXTS),
    "--rounds": NUMBERS,
    "--budget": TIMES,
    "--epochs": NUMBERS,
    "--steps": NUMBERS,
    "--repeats": NUMBERS,
    "--fail-if-slower": SHARES,
    "--margin": SHARES,
    "--seed": NUMBERS,
    "--trial-limit": TIMES,
    "--results": ("results", "other", "taken", *FILES),
    "--memory": SIZES,
    "--html": FILES,
    "--chart": FILES,
    "--name": ("mine", *TEXTS),
    "--requirements": ("taken", *FILES),
    "--recorded": ("07d5", *COMPARISONS),
    "--benchmark": ("mnist", "gnn", *TEXTS),
    "--folder": ("other", "taken", *FILES),
    "--readme": FILES,
    "--csv": ("-", *FILES),
    "--jsonl": ("-", *FILES),
    "--parquet": FILES,
    "--output": ("site", "results", *FILES),
    "--title": ("Our GPUs", *TEXTS),
    "--records": ("copy", "link", "none", *TEXTS),
    "--of": ("blocks", "verdicts", *TEXTS),
    "--launcher": ("here", "slurm", *TEXTS),
    "--profile": FILES,
}
FLAGS = (
    "--direction",
    "--how-much",
    "--until-sure",
    "--max-batch",
    "--resume",
    "--json",
    "--markdown",
    "--force",
    "--full",
    "--dry-run",
    "--live",
    "--redact",
    "--estimate",
    "--help",
)
OF_A_RACE = tuple(OPTIONS)[:20]

COMMANDS: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {
    ("run",): ((*NAMES, *CONTENDERS), OF_A_RACE),
    ("verify",): ((*NAMES, *CONTENDERS), OF_A_RACE),
    ("use-case",): (("1", "4", "5", *CONTENDERS), ("--benchmark", *OF_A_RACE)),
    ("reproduce",): (
        ("apx-2024", "no-such", "study.toml", *TEXTS),
        ("--device", "--budget", "--seed", "--results", "--launcher", "--profile"),
    ),
    ("report",): (COMPARISONS, ("--results", "--html", "--chart", "--readme")),
    ("export",): (COMPARISONS, ("--results", "--csv", "--jsonl", "--parquet", "--of")),
    ("gallery",): ((*FILES, *COMPARISONS), ("--output", "--title", "--records", "--results")),
    ("explain",): ((*COMPARISONS, *NAMES, *CONTENDERS), ("--recorded", *OF_A_RACE)),
    ("list",): (("workloads", "frameworks", "options", "studies", *TEXTS), ()),
    ("history",): (NAMES, ("--results",)),
    ("diff",): (COMPARISONS, ("--results",)),
    ("track", "tensorboard"): (COMPARISONS, ("--results", "--folder")),
    ("env", "create"): (CONTENDERS, ("--name", "--requirements")),
    ("env", "remove"): (("fake", "link", "taken", *TEXTS), ()),
    ("env", "list"): ((), ()),
    ("slurm", "write", "run"): ((*NAMES, *CONTENDERS), OF_A_RACE),
    (): (TEXTS, ()),
}
_WEIGHTS = (18, 4, 2, 2, 3, 1, 1, 2, 1, 2, 1, 2, 3, 2, 1, 3, 1)


def command_lines(seed: int, count: int) -> Iterator[list[str]]:
    """Yield so many command lines."""
    draw = random.Random(seed)  # noqa: S311 - of lines, not of keys
    kinds = list(COMMANDS.items())
    for _ in range(count):
        (command, (words, options)) = draw.choices(kinds, _WEIGHTS)[0]
        line = [draw.choice(words) for _ in range(draw.choice((0, 1, 1, 2, 2, 3))) if words]
        if command in {("run",), ("verify",), ("explain",)} and draw.random() < 0.7:
            line = [draw.choice(NAMES), *draw.choices(CONTENDERS[:3], k=draw.choice((1, 2)))]
        if command == ("use-case",) and draw.random() < 0.7:
            line = [draw.choice("123"), "--benchmark", "mnist", "fake"]
        for _ in range(draw.choice((0, 1, 1, 2, 3))):
            # Now and then an option of another command.
            name = draw.choice(options if options and draw.random() < 0.95 else tuple(OPTIONS))
            values = OPTIONS[name]
            value = draw.choice(values[:2] if draw.random() < 0.5 else values)
            line += [f"{name}={value}"] if draw.random() < 0.3 else [name, value]
        line += draw.choices(FLAGS, k=draw.choice((0, 0, 1, 2)))
        yield [*command, *line]
