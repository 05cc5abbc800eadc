"""The parameters that commands share, and how their texts are read."""

import re
from typing import TYPE_CHECKING, Annotated, get_args

import typer

from bakeoff.cli import completing
from bakeoff.spec.errors import UnknownNameError, UsageError
from bakeoff.spec.scenario import SCENARIOS

if TYPE_CHECKING:
    from bakeoff.spec.group import Scaling

Workload = Annotated[
    str,
    typer.Argument(
        metavar="WORKLOAD",
        help="A name from `bakeoff list workloads`, or your own file: my_model.py.",
        autocompletion=completing.workloads,
    ),
]
MaxNorm = Annotated[
    float | None,
    typer.Option(
        metavar="NORM",
        help="Of the scenario per-sample-gradients: what each sample's gradient is clipped to; 1 if not said.",
        show_default=False,
    ),
]
NoiseMultiplier = Annotated[
    float | None,
    typer.Option(
        metavar="FACTOR",
        help="Of the scenario per-sample-gradients: the standard deviation of the noise on the sum of the clipped "
        "gradients, in units of --max-norm; none if not said.",
        show_default=False,
    ),
]
Contenders = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="CONTENDER",
        help="framework[@environment][:option=value,...], with quotes around an environment or a value that holds a "
        "colon or a comma; none: every framework that is available here.",
        show_default=False,
        autocompletion=completing.contenders,
    ),
]
Scenario = Annotated[
    str | None,
    typer.Option(
        metavar="|".join(SCENARIOS),
        help="What is timed; the workload's first if not said.",
        show_default=False,
        autocompletion=completing.one_of(tuple(SCENARIOS)),
    ),
]
BatchSize = Annotated[
    int | None, typer.Option(metavar="N", help="Samples in a batch; the size's own if not said.", show_default=False)
]
BatchSizes = Annotated[
    str | None,
    typer.Option(
        metavar="N[,N...]",
        help="Samples in a batch; the size's own if not said. Several values: one comparison for each combination.",
        show_default=False,
    ),
]
Size = Annotated[
    str,
    typer.Option(metavar="SIZE", help="full, reduced, or another size that `bakeoff list workloads WORKLOAD` shows."),
]
Device = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE",
        help="Where steps run: cpu, cuda or mps; a contender's own option wins.",
        show_default=False,
        autocompletion=completing.option("device"),
    ),
]
Gpu = Annotated[
    str | None,
    typer.Option(
        metavar="INDEX|UUID",
        help="The GPU of contenders on cuda, as nvidia-smi -L names it, of a MIG device its UUID or 0:1; if not said, "
        "the first that CUDA_VISIBLE_DEVICES shows, else the one with the most free memory.",
        show_default=False,
    ),
]
ReferenceDevice = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE",
        help="Where the certificates' reference computes in float64: cpu, if not said, or cuda, the contenders' GPU, "
        "which takes a fraction of the time of a large model and the memory of two in float64.",
        show_default=False,
        autocompletion=completing.option("device"),
    ),
]
DeviceCounts = Annotated[
    str | None,
    typer.Option(
        metavar="N[,N...]",
        help="Train on so many devices at once, by each framework's own data parallelism: every contender races on one "
        "device and on each of these numbers; a contender's own option wins.",
        show_default=False,
    ),
]
HowScaled = Annotated[
    str,
    typer.Option(
        metavar="weak|strong",
        help="Of several devices: the batch size is a device's (weak), or that of all together (strong).",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Processor threads; all that are usable if not said; a contender's own option wins.",
        show_default=False,
    ),
]
Tier = Annotated[
    str | None,
    typer.Option(
        metavar="TIER[,TIER...]",
        help="matched: the workload's model with equal settings, if not said; native: what the framework's users take "
        "ready-made; best: its documented fastest settings. Several stand side by side.",
        show_default=False,
    ),
]
Devices = Annotated[
    str | None,
    typer.Option(
        metavar="DEVICE[,...]",
        help="Where steps run: cpu, cuda or mps; a contender's own option wins.",
        show_default=False,
        autocompletion=completing.option("device"),
    ),
]
ThreadCounts = Annotated[
    str | None,
    typer.Option(
        metavar="N[,N...]",
        help="Processor threads; all that are usable if not said; a contender's own option wins.",
        show_default=False,
    ),
]
Precisions = Annotated[
    str | None,
    typer.Option(
        metavar="PRECISION[,...]",
        help="Arithmetic of a step; a contender's own option wins.",
        show_default=False,
        autocompletion=completing.option("precision"),
    ),
]
Options = Annotated[
    list[str] | None,
    typer.Option(
        "--option",
        metavar="NAME=VALUE[,...]",
        help="Any option of `bakeoff list options`, for all contenders alike; may be given several times.",
        show_default=False,
    ),
]
Data = Annotated[
    str | None,
    typer.Option(
        metavar="SOURCE",
        help="own (a function in the workload's file), synthetic, digits, graphs, huggingface, imdb, wikitext, wmt16, "
        "librispeech, ljspeech, cora or ogb; the last eight may have a folder, as in imdb:FOLDER; the workload's first "
        "if not said, which is its own where it has such.",
        show_default=False,
    ),
]
Padding = Annotated[
    str,
    typer.Option(
        metavar="fixed|longest|buckets[:N]",
        help="How sequences of different lengths become batches, the same for all contenders: padded to the workload's "
        "own length; to each batch's longest; or sorted into N buckets, 8 if not said, and padded to theirs.",
    ),
]
Rounds = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="At most so many rounds, 20 if not said; fewer when every pair is decided before.",
        show_default=False,
    ),
]
Budget = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="After the first round, no new one starts after this time: 90s, 5m, 1h; shared by all combinations.",
        show_default=False,
    ),
]
WaitForCalm = Annotated[
    str | None,
    typer.Option(
        metavar="TIME",
        help="Before each round, wait until other processes rest, at most so long in all: 90s, 5m, 1h.",
        show_default=False,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Beside the race, run so many epochs as a whole and show the total: of the data set, or of --steps each.",
        show_default=False,
    ),
]
Steps = Annotated[
    int | None,
    typer.Option(
        metavar="N",
        help="Beside the race, run so many steps as a whole and show the total; with --epochs, so many in each.",
        show_default=False,
    ),
]
Repeats = Annotated[
    int, typer.Option(metavar="N", help="Fresh processes that run the --epochs or --steps of each contender.")
]
Direction = Annotated[
    bool,
    typer.Option("--direction", help="End as soon as it is decided who is faster, however roughly by how much."),
]
HowMuch = Annotated[
    bool,
    typer.Option("--how-much", help="The default: go on until ratios are known to 5% or a quarter of the difference."),
]
UntilSure = Annotated[
    bool,
    typer.Option("--until-sure", help="No last round: go on until every pair is decided, or --budget or Ctrl-C."),
]
FailIfSlower = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help=(
            "For scripts: exit code 1 if a contender takes longer than the first by more than this share, 0 if none "
            "does, 125 if that is not decided (git bisect run skips it); excludes --direction."
        ),
        show_default=False,
    ),
]
Layer = Annotated[
    str | None,
    typer.Option(
        metavar="PATH",
        help="Race one layer or part of the model alone, named by its path as in an explanation, on inputs of its own: "
        "blocks.2.middle. Times of parts do not add up to the whole's.",
        show_default=False,
    ),
]
Why = Annotated[
    bool,
    typer.Option(
        "--why",
        help="Behind the race, explain its gaps as `bakeoff explain` does: traces of what steps spend their time on, "
        "and races with switches turned. A --budget is shared: half of it is the race's.",
    ),
]
Margin = Annotated[
    str, typer.Option(metavar="SHARE", help="Step times within this share are practically equal: 0.05 or 5%.")
]
Seed = Annotated[int, typer.Option(metavar="N", help="Of weights, batches and the order of rounds.")]
Results = Annotated[str, typer.Option(metavar="DIR", help="Where records and reports are kept.")]
TrialLimit = Annotated[
    str,
    typer.Option(
        metavar="TIME",
        help="A worker that does not answer within this time is ended; a large model's certificate has more.",
    ),
]
Inject = Annotated[
    str | None,
    typer.Option(
        metavar="OPTION=VALUE",
        help="Plant a fault: frameworks get this value in place of the one that they are judged by; a certificate that "
        "is worth anything is then refused. Such as precision=tf32, on a processor precision=bfloat16.",
        show_default=False,
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Go on with the last run in --results that asked for the same.")]
DryRun = Annotated[
    bool,
    typer.Option(
        "--dry-run",
        help="Start and write nothing: print what would run, and how long it takes by what was measured here before.",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout, and nothing else there.")]

MaxBatch = Annotated[
    bool,
    typer.Option(
        "--max-batch",
        help="Instead of a race, search each contender's largest batch from --batch-size on: by the memory that two "
        "attempts take, then by bisection; each attempt in a process of its own.",
    ),
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="Of --max-batch: resident memory that an attempt may take beyond its import: 4GiB, 500MB; 70% of what is "
        "available if not said. On CUDA it is memory of the GPU, for each framework's allocator alike, and 90% of what "
        "is free if not said; on Apple's GPUs there is no limit to set.",
        show_default=False,
    ),
]

MOST_DEVICES = 1024
"""Far more than a machine has: a larger number is a slip."""

_DURATION = re.compile(r"(?P<number>\d+(\.\d+)?)(?P<unit>s|m|min|h)?", re.ASCII)
LONGEST_S = 1e9
"""Thirty years: no system waits longer."""
_SECONDS = {None: 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


def seconds(text: str, option: str) -> float:
    """Return the seconds of a duration such as "90s", "5m", "1h" or "150"; raise UsageError for anything else."""
    match = _DURATION.fullmatch(text.strip())
    value = float(match["number"]) * _SECONDS[match["unit"]] if match else 0.0
    if not 0 < value < LONGEST_S:
        msg = f"{option} {text!r} is not a duration: write 90s, 5m or 1h"
        raise UsageError(msg)
    return value


def counts(text: str | None, option: str) -> tuple[int, ...]:
    """Return the whole numbers between commas, such as those of "1,2,4"; none for None; raise UsageError for others."""
    from bakeoff.spec.options import MOST_DIGITS

    words = [word.strip() for word in text.split(",")] if text is not None else []
    # By its length first: Python refuses to read numbers of thousands of digits.
    is_read = all(word.isascii() and word.isdigit() and len(word) <= MOST_DIGITS for word in words)
    if not (is_read and all(0 < int(word) < MOST_DEVICES for word in words)):
        msg = f"{option} {text!r} is not a list of numbers of devices: write 2, or 1,2,4"
        raise UsageError(msg)
    return tuple(dict.fromkeys(map(int, words)))


def scaling(text: str) -> "Scaling":
    """Return how the batch size is meant; raise UnknownNameError for anything else than weak and strong."""
    from bakeoff.spec.group import Scaling

    known: tuple[Scaling, ...] = get_args(Scaling)
    for one in known:
        if text == one:
            return one
    raise UnknownNameError("scaling", text, known)


def injected(text: str | None) -> dict[str, str]:
    """Return the option that is planted as a fault, by its name; empty for None; raise UsageError for anything else."""
    if text is None:
        return {}
    name, equals, value = text.partition("=")
    if not (name and equals and value):
        msg = f"--inject {text!r} is not of the form OPTION=VALUE: write precision=tf32"
        raise UsageError(msg)
    return {name: value}


def share(text: str, option: str) -> float:
    """Return a share between 0 and 1, such as "0.05" or "5%"; raise UsageError for anything else."""
    number, percent = text.strip().removesuffix("%").strip(), text.strip().endswith("%")
    try:
        value = float(number) / (100 if percent else 1)
    except ValueError:
        value = 0.0
    if not 0 < value < 1:
        msg = f"{option} {text!r} is not a share between 0 and 1: write 0.05 or 5%"
        raise UsageError(msg)
    return value
